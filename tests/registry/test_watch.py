"""Watching deployed agents: what counts, roll back by the rule, canaries, repairs; also when the process is killed."""

import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.registry.temperature import CODE, temperature

from repertory.errors import UsageError
from repertory.home import Home
from repertory.registry.http_routes import HttpRequest
from repertory.registry.registry import Registry
from repertory.registry.result import CallError, CallResult
from repertory.registry.runtime import AgentRuntime
from repertory.registry.watch import AgentWatch, WatchRule, watch_document
from repertory.storage.agent_records import AgentVersion
from repertory.storage.agent_watch import KEPT_CALLS
from repertory.storage.store import Store

RULE = WatchRule(window=6, least=4, most_errors=0.5)
BROKEN = CODE.replace("return round(celsius * 9 / 5 + 32, 2)", "return 1 / 0")
OTHER = CODE.replace("celsius * 9 / 5 + 32", "celsius * 9 / 5 + 33")
RESULTS = {
    "ok": CallResult(1.0),
    "error": CallResult(error=CallError("ZeroDivisionError", "x", ("ZeroDivisionError", "ArithmeticError"))),
    "refused": CallResult(error=CallError("ValueError", "x", ("ValueError",))),
    "invalid": CallResult(error=CallError("InvalidArguments", "x")),
}


def deploy(registry: Registry, *codes: str) -> list[AgentVersion]:
    """Each code as a version that became live."""
    versions = [registry.deploy(temperature(code=code, routes=True)).version for code in codes]
    return [registry.promote("temperature", version.version) for version in versions]


def states(registry: Registry) -> dict[int, str]:
    return {one.version: one.state for one in registry.versions("temperature")}


def see(store: Store, version: AgentVersion, ends: Sequence[str]) -> None:
    with AgentWatch(store, RULE) as watch:
        for end in ends:
            watch.saw(version, "tool c_to_f", RESULTS[end], 0.01)


def test_a_version_that_fails_is_rolled_back_and_its_repair_asked_for(registry: Registry, store: Store) -> None:
    deploy(registry, CODE, BROKEN)
    with AgentRuntime(registry, watch=AgentWatch(store, RULE)) as runtime:
        results = [runtime.call("temperature", "c_to_f", {"celsius": 0}) for _ in range(6)]
    assert [result.version for result in results] == ["temperature@2"] * 4 + ["temperature@1"] * 2
    assert results[-1].result == 32.0
    assert states(registry) == {1: "live", 2: "retired"}
    [repair] = store.agent_watch.repairs("temperature")
    assert (repair.version, repair.state) == (2, "open")
    assert repair.detail["kinds"] == {"tool c_to_f: ZeroDivisionError": 4}
    assert registry.history("temperature")[-1].what == "rolled_back"
    shown = watch_document(store.agent_watch, "temperature")
    assert (shown["versions"]["2"]["errors"], shown["versions"]["1"]["calls"]) == (4, 2)
    registry.deploy(temperature(code=OTHER, routes=True))
    registry.promote("temperature", 3)
    assert registry.roll_back("temperature").version == 1  # the version that failed is none to go back to


def test_what_the_agent_refuses_and_wrong_arguments_do_not_count(registry: Registry, store: Store) -> None:
    deploy(registry, CODE, OTHER)
    with AgentRuntime(registry, watch=AgentWatch(store, RULE)) as runtime:
        for _ in range(6):
            runtime.call("temperature", "c_to_f", {"celsius": -300})
            runtime.call("temperature", "c_to_f", {"celsius": "hot"})
            runtime.call("temperature", "c_to_f", {"celsius": 0}, version=1)  # named: it does not count either
    shown = watch_document(store.agent_watch, "temperature")
    assert (shown["versions"]["2"]["refused"], shown["versions"]["2"]["invalid"]) == (6, 6)
    assert "1" not in shown["versions"]
    assert states(registry)[2] == "live"


def test_without_an_earlier_version_it_stays_and_the_repair_is_asked_for_once(registry: Registry, store: Store) -> None:
    [version] = deploy(registry, BROKEN)
    see(store, version, ["error"] * 20)
    assert states(registry) == {1: "live"}
    assert len(store.agent_watch.repairs()) == 1
    assert [one.what for one in registry.history("temperature")][-1] == "failing"


def test_routes_are_watched_too(registry: Registry, store: Store) -> None:
    deploy(registry, CODE, OTHER)
    with AgentRuntime(registry, watch=AgentWatch(store, RULE)) as runtime:
        for _ in range(4):
            assert runtime.http("temperature", HttpRequest("POST", "/fails")).status == 500
    assert states(registry) == {1: "live", 2: "retired"}


def test_a_canary_answers_its_share_and_goes_when_it_fails(registry: Registry, store: Store) -> None:
    deploy(registry, CODE)
    broken = registry.deploy(temperature(code=BROKEN, routes=True)).version
    registry.promote("temperature", broken.version, "canary", share=30)
    chance = random.Random(1)
    with AgentRuntime(registry, watch=AgentWatch(store, RULE), chance=chance.random) as runtime:
        answered = [runtime.call("temperature", "c_to_f", {"celsius": 0}).version for _ in range(40)]
    assert answered.count("temperature@2") == 4
    assert states(registry) == {1: "live", 2: "retired"}
    assert store.agent_watch.repairs()[0].version == 2


def test_a_shadow_is_compared_and_heard_by_nobody(registry: Registry, store: Store) -> None:
    deploy(registry, CODE)
    other = registry.deploy(temperature(code=OTHER, routes=True)).version
    registry.promote("temperature", other.version, "canary", share=0)
    with AgentRuntime(registry, watch=AgentWatch(store, RULE)) as runtime:
        for number in range(4):
            assert runtime.call("temperature", "c_to_f", {"celsius": number}).version == "temperature@1"
            assert runtime.call("temperature", "f_to_c", {"fahrenheit": number}).version == "temperature@1"
            deadline = time.monotonic() + 10
            while runtime._shadows._room._value < 8 and time.monotonic() < deadline:
                time.sleep(0.01)
    numbers = watch_document(store.agent_watch, "temperature")["versions"]["2"]
    assert (numbers["calls"], numbers["compared"], numbers["agreeing"]) == (8, 8, 4)


def test_shares_that_are_none_are_refused(registry: Registry) -> None:
    deploy(registry, CODE)
    for to, share in (("canary", 100), ("canary", -1), ("live", 10)):
        with pytest.raises(UsageError):
            registry.promote("temperature", 1, to, share=share)  # pyright: ignore[reportArgumentType] - of two names


def test_a_database_that_fails_costs_no_answer(
    registry: Registry, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    deploy(registry, BROKEN)

    with AgentRuntime(registry, watch=AgentWatch(store, RULE)) as runtime:
        runtime.call("temperature", "c_to_f", {"celsius": 0})
        monkeypatch.setattr(store.agent_watch, "add", _raises)
        result = runtime.call("temperature", "c_to_f", {"celsius": 0})
    assert result.error is not None
    assert result.error.type == "ZeroDivisionError"


def _raises(_: object) -> None:
    from repertory.errors import StorageError

    raise StorageError("the disk is full")


def test_only_the_latest_calls_are_kept_and_none_of_a_removed_agent(registry: Registry, store: Store) -> None:
    [version] = deploy(registry, CODE)
    see(store, version, ["ok"] * (KEPT_CALLS + 40))
    assert len(store.agent_watch.recent("temperature", 1, 5000)) == KEPT_CALLS
    see(store, version, ["error"] * 6)
    registry.remove("temperature")
    assert watch_document(store.agent_watch, "temperature") == {"versions": {}, "repairs": []}


def test_a_repair_is_taken_by_one(store: Store, registry: Registry) -> None:
    [version] = deploy(registry, BROKEN)
    see(store, version, ["error"] * 4)
    log = store.agent_watch
    taken = log.take_repair()
    assert taken is not None
    assert log.take_repair() is None
    assert log.take_repair("other") is None
    ended = log.end_repair(taken.id, "not_built", {"why": "no time"})
    assert (ended.state, ended.detail["outcome"], ended.ended_at is not None) == ("not_built", {"why": "no time"}, True)
    see(store, version, ["error"] * 3)
    assert len(log.repairs()) == 1  # what led to the first request does not count again
    see(store, version, ["error"])
    assert [repair.state for repair in log.repairs()] == ["not_built", "open"]
    with pytest.raises(UsageError):
        log.end_repair(99, "built", {})


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ends=st.lists(st.sampled_from(sorted(RESULTS)), max_size=25))
def test_the_rule_fires_exactly_when_a_window_ends_in_an_error_and_half_of_it_are(
    ends: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("watch")
    home = Home(root=folder, models=folder)
    with Store.open(home.database) as store:
        registry = Registry(store, home)
        _, version = deploy(registry, CODE, OTHER)
        see(store, version, ends)
        windows = [ends[max(0, end - RULE.window) : end] for end in range(1, len(ends) + 1)]
        fires = any(
            window[-1] == "error" and len(window) >= RULE.least and window.count("error") >= len(window) / 2
            for window in windows
        )
        assert states(registry) == ({1: "live", 2: "retired"} if fires else {1: "retired", 2: "live"})
        assert len(store.agent_watch.repairs()) == int(fires)


_FAILING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.registry.test_watch import BROKEN, CODE, RULE, RESULTS, deploy
from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.registry.watch import AgentWatch
from repertory.storage.store import Store
home = Home(root=Path(sys.argv[1]), models=Path(sys.argv[1]))
store = Store.open(home.database)
registry = Registry(store, home)
number = int(sys.argv[3])
print("ready", flush=True)
while True:
    number += 1
    [version] = deploy(registry, BROKEN + f"\\n# {number}\\n")
    watch = AgentWatch(store, RULE)
    for _ in range(5):
        watch.saw(version, "tool c_to_f", RESULTS["error"], 0.01)
    print("failed", flush=True)
"""


@pytest.mark.timeout(300)
def test_killed_at_any_moment_a_failing_version_and_its_repair_go_together(tmp_path: Path) -> None:
    home = Home(root=tmp_path / "home", models=tmp_path)
    root = str(Path(__file__).parents[2])
    with Store.open(home.database) as store:
        deploy(Registry(store, home), CODE)
    chance, failed = random.Random(7), set[int]()
    for round_number in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", _FAILING, str(home.root), root, str(round_number * 1000)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for _ in range(1 + round_number % 2):  # in every other round, not before one has failed
            process.stdout.readline()
        time.sleep(chance.uniform(0.1, 0.6))
        process.kill()
        process.wait()
        process.stdout.close()
        with Store.open(home.database) as store:
            registry = Registry(store, home)
            versions = registry.versions("temperature")
            assert [one.state for one in versions].count("live") == 1
            failed = {repair.version for repair in store.agent_watch.repairs()}
            events = registry.history("temperature")
            rolled = {entry.detail["from_version"] for entry in events if entry.what == "rolled_back"}
            assert failed == rolled
            # The version that never failed answers again whenever the one after it was taken out.
            live = next(one.version for one in versions if one.state == "live")
            assert live == 1 or live not in failed
    assert failed
