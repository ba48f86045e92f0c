"""The load: what events and the supervisor's records say, and nothing else."""

from collections.abc import Callable

import pytest
from tests.server.panel.conftest import MakePanel, serving

from repertory.clock import system_clock
from repertory.home import locate_home
from repertory.runtime.events import AgentFinished, AgentFirstToken, AgentQueued, AgentStarted, TurnEvent, TurnFinished
from repertory.server.panel.load_meter import InstanceSpeed, LoadMeter
from repertory.server.running_turns import RunningTurn
from repertory.serving.instances.records import (
    InstanceSpec,
    InstanceState,
    InstanceStatus,
    MemoryUse,
    ServingState,
)
from repertory.serving.instances.state_file import ServingFolder


def at(elapsed_s: float, kind: Callable[..., TurnEvent], **fields: object) -> TurnEvent:
    return kind(turn="t1", seq=1, at=system_clock(), elapsed_s=elapsed_s, **fields)


def call(meter: LoadMeter, *, first_s: float = 1.5, attempts: int = 1, user: str = "ada") -> None:
    """A call of 1,000 prompt tokens (600 cached) that starts at 1 s and writes 101 tokens until 3.5 s."""
    see = meter.watch_turn("duo", user)
    see(at(0.5, AgentQueued, agent="coach", waits_for=("shadow",)))
    see(at(1.0, AgentStarted, agent="coach", instance="i1", attempt=1, prompt_tokens=1000))
    see(at(first_s, AgentFirstToken, agent="coach", attempt=1))
    done = {"attempts": attempts, "prompt_tokens": 1000, "cached_tokens": 600, "output_tokens": 101}
    see(at(3.5, AgentFinished, agent="coach", status="done", **done))
    see(at(3.6, TurnFinished, status="complete"))


def test_speeds_are_those_of_the_last_calls() -> None:
    now = [0.0]
    meter = LoadMeter(now=lambda: now[0])
    assert meter.speed("i1") == InstanceSpeed()
    call(meter)
    assert meter.speed("i1") == InstanceSpeed(
        prefill_tok_s=800.0, decode_tok_s=50.0, first_token_s=0.5, cache_hit_share=0.6
    )
    call(meter, first_s=2.5, attempts=2)  # its counts are of two attempts: nobody knows whose
    assert meter.speed("i1").first_token_s == 0.5
    now[0] = 301.0
    assert meter.speed("i1") == InstanceSpeed()
    assert meter.speed("i2") == InstanceSpeed()


def test_who_is_at_work_and_the_sums() -> None:
    meter = LoadMeter()
    see = meter.watch_turn("duo", "ada")
    states: list[tuple[str, str | None]] = []
    for event in (
        at(0, AgentQueued, agent="coach", waits_for=("shadow",)),
        at(1, AgentStarted, agent="coach", instance="i1", attempt=1, prompt_tokens=10),
        at(2, AgentFirstToken, agent="coach", attempt=1),
    ):
        see(event)
        states += [(agent.state, agent.instance) for agent in meter.at_work()]
    assert states == [("waiting", None), ("reading", "i1"), ("writing", "i1")]
    assert (meter.running(), meter.running("ada"), meter.running("bob")) == (1, 1, 0)
    meter.turn_ended(RunningTurn("duo", "ada", "t1", "s", None), "failed")  # pyright: ignore[reportArgumentType] - its task is not asked
    assert (meter.at_work(), meter.running(), meter.sums.turns) == ([], 0, 1)
    call(meter, user="bob")
    assert (meter.sums.prompt_tokens, meter.of_user("bob").output_tokens, meter.of_user("ada").turns) == (1000, 101, 1)


async def test_what_the_supervisor_says_is_shown(make_panel: MakePanel) -> None:
    spec = InstanceSpec(
        id="i1", engine="vllm", model="qwen", checkpoint="org/qwen-awq", served_name="qwen", agents=("coach",),
        devices=("gpu0",), predicted_gib=20.5, url="http://127.0.0.1:9", api_key="never shown",
    )  # fmt: skip
    failed = InstanceState(
        spec=spec, status=InstanceStatus.FAILED, message="out of memory", advice="use a smaller one", restarts=3,
        memory=MemoryUse(measured_gib=19.0), api_key="never shown",
    )  # fmt: skip
    ready = InstanceState(spec=spec.model_copy(update={"id": "i2", "engine": "url"}), status=InstanceStatus.READY)
    files = ServingFolder.of(locate_home())
    files.create()
    files.write_state(ServingState(team="coaching", instances=(failed, ready)))
    async with serving(make_panel()) as http:
        answer = await http.get("/api/overview")
    assert "never shown" not in answer.text
    found = {instance["id"]: instance for instance in answer.json()["instances"]}
    assert set(found) == {"i1", "i2", "one"}
    assert not answer.json()["supervised"]
    shown = found["i1"]
    assert (shown["agents"], shown["devices"]) == (["coaching/coach"], ["gpu0"])
    assert (shown["predicted_gib"], shown["measured_gib"], shown["restarts"]) == (20.5, 19.0, 3)
    assert shown["checkpoint"] == "org/qwen-awq"
    assert found["i2"]["state"] == "ready"
    assert found["i2"]["running"] is None  # this server sends it nothing, so it can not know
    assert found["one"]["restarts"] is None


@pytest.mark.parametrize("user", ["ada", "bob"])
def test_sums_of_users_are_kept_for_the_latest_only(user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.server.panel.load_meter._USERS", 1)
    meter = LoadMeter()
    call(meter, user="ada")
    call(meter, user="bob")
    assert meter.of_user(user).prompt_tokens == (1000 if user == "bob" else 0)
    assert meter.sums.prompt_tokens == 2000
