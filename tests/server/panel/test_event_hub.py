"""The hub: bounded, in order, and honest about what was lost."""

import asyncio
import json

import pytest

from repertory.clock import system_clock
from repertory.runtime.events import AgentDelta, AgentFinished, TurnEvent, TurnFinished, TurnStarted, event_adapter
from repertory.server.panel.event_hub import QUEUE, EventHub, Passing, Place
from repertory.server.panel.schema.events import PullProgressed
from repertory.server.panel.turn_log import TurnLog
from repertory.server.panel.withheld import without_words


def delta(seq: int, text: str = "word ", turn: str = "t1") -> AgentDelta:
    return AgentDelta(turn=turn, seq=seq, at=system_clock(), elapsed_s=0.1, agent="coach", text=text)


def started(turn: str = "t1") -> TurnStarted:
    return TurnStarted(
        turn=turn, seq=1, at=system_clock(), elapsed_s=0.0, team="duo", user="ada", session="s", message="m1",
        agents=("coach",),
    )  # fmt: skip


def finished(seq: int, turn: str = "t1") -> TurnFinished:
    return TurnFinished(turn=turn, seq=seq, at=system_clock(), elapsed_s=1.0, status="complete")


def whole(passing: Passing) -> bytes:
    return passing.whole


async def test_a_slow_reader_loses_what_waits_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = EventHub()
    slow, quick = hub.listen(whole), hub.listen(whole)
    see = hub.watch_turn("duo", "ada")
    got = b""
    for seq in range(1, 3 * QUEUE):
        see(delta(seq))
        got += await quick.next(1)
    assert got.count(b"data: ") == 3 * QUEUE - 1
    assert b"reset" not in got
    assert len(slow._waiting) <= QUEUE
    late = (await slow.next(1)).decode()
    head, _, rest = late.partition("\n\n")
    assert json.loads(head.split("data: ")[1]) == {"type": "reset", "reason": "slow_reader"}
    seqs = [json.loads(line[6:])["seq"] for line in rest.split("\n") if line.startswith("data: ")]
    assert seqs == list(range(seqs[0], 3 * QUEUE))
    see(delta(3 * QUEUE))
    assert b"reset" not in await slow.next(1)


async def test_a_quiet_stream_gets_nothing_in_time() -> None:
    hub = EventHub()
    listener = hub.listen(whole)
    assert await listener.next(0.01) == b""
    hub.watch_turn("duo", "ada")(delta(1))
    assert await listener.next(0.01) != b""
    waiting = asyncio.create_task(listener.next(10))
    await asyncio.sleep(0)
    hub.close()
    assert await asyncio.wait_for(waiting, 1) == b""


def test_places_are_read_as_they_were_written() -> None:
    for place in (Place("ab12", 7), Place("ab12", 0, "t01abc", 99)):
        assert Place.read(place.text) == place
    for text in ("", "x", "a-b", "a-1-t-", "a-1-t-x", "a--1", "a-1-2", "a-١", "a-1-t-1-1", "-" * 3, "a-" + "1" * 40):
        assert Place.read(text) is None, text


def test_what_came_since_a_place_or_that_it_is_gone() -> None:
    hub = EventHub()
    see = hub.watch_turn("duo", "ada")
    assert hub.since(Place(hub.boot, 0)) == []
    for seq in range(1, 5001):
        see(delta(seq))
    found = hub.since(Place(hub.boot, 4998))
    assert found is not None
    assert [passing.number for passing in found] == [4999, 5000]
    assert hub.since(Place(hub.boot, 5000)) == []
    assert hub.since(Place(hub.boot, 10)) is None
    assert hub.since(Place(hub.boot, 5001)) is None


def test_what_is_no_persons_is_for_administrators() -> None:
    hub = EventHub()
    seen: list[Passing] = []

    def keep(passing: Passing) -> bytes | None:
        seen.append(passing)
        return None

    hub.listen(keep)
    hub.tell(PullProgressed(model="m", state="pulling", done_bytes=1, total_bytes=2, message=None))
    hub.watch_turn("duo", "ada")(delta(1))
    assert [passing.admins_only for passing in seen] == [True, False]
    assert seen[1].without_words is None


def test_every_kind_of_event_is_shown_bare_or_not_at_all() -> None:
    """A kind with a field that can hold words must lose it; new kinds are hidden until somebody decides."""
    words = {"text", "reason", "problems", "blocked_moves", "level", "route"}
    at = system_clock()
    samples: dict[str, object] = {
        "turn_started": started(), "agent_delta": delta(1), "turn_finished": finished(2),
        "agent_finished": AgentFinished(
            turn="t1", seq=3, at=at, elapsed_s=1, agent="coach", status="failed", reason="it said: secret",
            attempts=1, prompt_tokens=1, cached_tokens=0, output_tokens=1,
        ),
    }  # fmt: skip
    base = {"turn": "t1", "seq": 1, "at": at, "elapsed_s": 0.0, "agent": "coach"}
    more: dict[str, dict[str, object]] = {
        "safety_routed": {"level": "secret", "route": "secret", "reason": "secret"},
        "notice_shown": {"text": "secret"},
        "agent_repair": {"agent": "coach", "problems": ["secret"]},
        "merge_done": {"claims": 1, "conflicts": 0, "blocked_moves": ["secret"]},
        "reply_ready": {"which": "full", "text": "secret"},
    }
    for kind, fields in more.items():
        own = {name: value for name, value in base.items() if name != "agent" or "agent" in fields}
        samples[kind] = event_adapter.validate_python({"type": kind, **own, **fields})
    for kind, event in samples.items():
        bare = without_words(event)  # pyright: ignore[reportArgumentType] - events
        if bare is None:
            continue
        left = bare.model_dump()
        assert not any(left.get(name) for name in words), kind
        assert "secret" not in bare.model_dump_json()


def test_the_log_keeps_running_turns_and_the_last_that_ended() -> None:
    log = TurnLog()
    events: list[TurnEvent] = [started(), delta(2), delta(3), finished(4)]
    for event in events:
        log.add(event)
    assert log.events("t1", after=2) == events[2:]
    for number in range(64):
        log.add(started(f"x{number}"))
        log.add(finished(2, f"x{number}"))
    assert log.events("t1") is None
    assert log.events("x63") is not None
    log.forget("duo", "bob")
    assert log.events("x63") is not None
    log.forget("duo", "ada")
    assert log.events("x63") is None


def test_forgetting_takes_the_words_out_and_keeps_the_order() -> None:
    hub = EventHub()
    ada, bob = hub.watch_turn("duo", "ada"), hub.watch_turn("duo", "bob")
    ada(delta(1, "secret", "ta"))
    bob(delta(1, "other", "tb"))
    hub.forget("duo", "ada")
    kept = hub.since(Place(hub.boot, 0))
    assert kept is not None
    assert [passing.number for passing in kept] == [1, 2]
    assert b"secret" not in b"".join(passing.whole for passing in kept)
    assert b"other" in kept[1].whole
