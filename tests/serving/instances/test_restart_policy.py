from dataclasses import replace

import pytest

from repertory.serving.instances.restart_policy import LoadProgress, LoadWatch, RestartHistory, RestartPolicy

POLICY = RestartPolicy(first_s=1, longest_s=5, limit=5, stable_s=100, stalled_s=30, start_limit_s=1000)


def test_pauses_double_up_to_the_longest_and_then_it_is_given_up() -> None:
    history = RestartHistory(POLICY)
    assert [history.failed(now) for now in range(5)] == [1, 2, 4, 5, None]


def test_an_instance_that_was_stable_starts_from_the_first_pause_again() -> None:
    history = RestartHistory(POLICY)
    for now in range(3):
        history.failed(now)
    history.ready(10)
    assert history.failed(10 + POLICY.stable_s) == 1


def test_being_ready_for_a_moment_is_no_proof_so_a_crash_loop_is_noticed() -> None:
    history = RestartHistory(POLICY)
    pauses: list[float | None] = []
    for now in range(5):
        history.ready(now)
        pauses.append(history.failed(now + 0.5))
    assert pauses[-1] is None


def test_what_can_not_help_is_not_tried_again_unless_it_worked_before() -> None:
    fresh = RestartHistory(POLICY)
    assert fresh.failed(0, permanent=True) is None
    proven = RestartHistory(POLICY)
    proven.ready(0)
    assert proven.failed(1, permanent=True) == 1


def test_a_new_try_forgets_the_failures() -> None:
    history = RestartHistory(POLICY)
    while history.failed(0) is not None:
        pass
    history.forget()
    assert history.failed(0) == 1


@pytest.mark.parametrize("sign", ["log_bytes", "cpu_s", "read_bytes"])
def test_a_slow_load_is_believed_as_long_as_it_shows_signs_of_work(sign: str) -> None:
    watch = LoadWatch(POLICY, started=0)
    judged: list[str | None] = []
    for now in range(0, 1000, 20):
        grown = {"log_bytes": now, "cpu_s": float(now), "read_bytes": now * 2_000_000}
        judged.append(watch.judge(now, replace(LoadProgress(), **{sign: grown[sign]})))
    assert judged == [None] * 50


def test_a_start_that_hangs_is_told_from_a_slow_one() -> None:
    watch = LoadWatch(POLICY, started=0)
    still = LoadProgress(log_bytes=10, cpu_s=5)
    assert [watch.judge(now, still) for now in (0, 10, 30)] == [None, None, None]
    assert watch.judge(31, still) == "it did nothing for 30 s while it started"


def test_no_start_takes_for_ever() -> None:
    watch = LoadWatch(POLICY, started=0)
    assert watch.judge(1001, LoadProgress(log_bytes=10**9)) == "it was not ready after 1000 s"
