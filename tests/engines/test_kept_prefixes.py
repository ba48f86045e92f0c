"""A llama.cpp adapter that keeps prefixes, against a scripted server that writes its slot states as files."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from repertory.engines.connect import connect
from repertory.engines.kept_prefixes import KeptPrefixes
from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import ChatMessage, PrefixCopier, PrefixKeeper
from repertory.home import locate_home
from repertory.runtime.cast import cast_on_one
from repertory.runtime.fan_out import InstanceFanOut
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Agent, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.prefix_states import PrefixStates
from repertory.storage.store import Store
from repertory.testing import ScriptedEngine, ask

SYSTEM = ChatMessage("system", "The rules of the team. " * 10)
LONG = "What the person told. " * 60


def talk(name: str, turns: int = 1) -> list[ChatMessage]:
    """The prompt of a session's turn: each begins with all of the one before."""
    said = [
        message
        for turn in range(turns - 1)
        for message in (ChatMessage("user", f"{name} {turn}: {LONG}"), ChatMessage("assistant", f"answer {turn}"))
    ]
    return [SYSTEM, *said, ChatMessage("user", f"{name} {turns - 1}: {LONG}")]


class Bench:
    """One scripted server and what connects to it."""

    def __init__(self, folder: Path) -> None:
        self.slot_folder = folder / "slots"
        self.slot_folder.mkdir(exist_ok=True)
        self.states = PrefixStates(folder / "prefixes", budget_bytes=64 * 1024 * 1024)
        self.server = ScriptedEngine("fine", kind=EngineKind.LLAMACPP, slots=3, slot_folder=self.slot_folder)

    async def engine(self, key: str = "a" * 64) -> LlamaCppEngine:
        kept = KeptPrefixes(self.states, engine=key, slot_folder=self.slot_folder)
        engine = await connect(self.server.url, kept_prefixes=kept, slot_folder=self.slot_folder)
        assert isinstance(engine, LlamaCppEngine)
        assert isinstance(engine, PrefixCopier)
        assert isinstance(engine, PrefixKeeper)
        return engine

    def restores(self) -> int:
        return sum(request.path.endswith("action=restore") for request in self.server.other_requests)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    async with made.server:
        yield made


async def turn(engine: LlamaCppEngine, messages: list[ChatMessage], owner: str = "ada") -> int:
    """Compute a turn's prefix and keep it; how many tokens were computed."""
    fan_out = InstanceFanOut(engine, ["coach"], leads=True, owner=owner)
    report = await fan_out.share_prefix(messages, 10.0)
    assert report is not None
    fan_out.keep_prefix()
    return report.usage.prefill


async def test_a_session_that_comes_back_finds_its_prefix(bench: Bench) -> None:
    engine = await bench.engine()
    alone = await turn(engine, talk("ada"))
    for number in range(6):
        await turn(engine, talk(f"other {number}"), owner=f"u{number}")
    await engine._kept.settle()  # pyright: ignore[reportOptionalMemberAccess] - the background work
    again = await turn(engine, talk("ada", 2))
    fresh = await turn(engine, talk("eve", 2), owner="eve")
    assert again < 0.6 * fresh
    assert again < alone + 40  # the second message and the answer before it, no more
    await engine.aclose()


async def test_a_session_that_goes_on_is_not_restored(bench: Bench) -> None:
    engine = await bench.engine()
    for turns in range(1, 5):
        await turn(engine, talk("ada", turns))
        await engine._kept.settle()  # pyright: ignore[reportOptionalMemberAccess]
    assert bench.restores() == 0
    await engine.aclose()


async def test_after_a_request_that_names_no_slot_it_is_restored(bench: Bench) -> None:
    engine = await bench.engine()
    await turn(engine, talk("ada"))
    await engine._kept.settle()  # pyright: ignore[reportOptionalMemberAccess]
    await ask(engine, [ChatMessage("user", "somebody else")])
    await turn(engine, talk("ada", 2))
    assert bench.restores() == 1
    await engine.aclose()


async def test_another_process_finds_it_too(bench: Bench) -> None:
    engine = await bench.engine()
    computed = await turn(engine, talk("ada"))
    await engine.aclose()  # waits until it is kept
    bench.server.memory.held = [[] for _ in range(3)]  # a new engine
    engine = await bench.engine()
    assert await turn(engine, talk("ada")) < 5 < computed
    await engine.aclose()
    assert list(bench.slot_folder.iterdir()) == []


async def test_other_users_and_other_checkpoints_compute_their_own(bench: Bench) -> None:
    engine = await bench.engine()
    computed = await turn(engine, talk("ada"))
    await engine.aclose()
    for owner, key in (("bob", "a" * 64), ("ada", "b" * 64)):
        bench.server.memory.held = [[] for _ in range(3)]
        engine = await bench.engine(key)
        assert await turn(engine, talk("ada"), owner=owner) == computed
        await engine.aclose()


@pytest.mark.parametrize("damage", ["torn", "another's", "not a state", "gone"])
async def test_a_bad_state_costs_time_and_nothing_else(bench: Bench, damage: str) -> None:
    engine = await bench.engine()
    computed = await turn(engine, talk("ada"))
    await engine.aclose()
    (kept,) = bench.states.folder.glob("*.state")
    if damage == "torn":
        kept.write_bytes(kept.read_bytes()[:-40])
    elif damage == "gone":
        kept.unlink()
    else:
        # Whole by its digest, and yet not what it is said to be: the engine must notice by what it finds.
        slot = bench.slot_folder / "forged.bin"
        slot.write_text('["x", "y"]' if damage == "another's" else "no state at all")
        part = bench.states.set_aside(slot)
        assert part is not None
        rendered = bench.server.requests[0].fields["prompt"]
        assert isinstance(rendered, str)
        bench.states.take_in(part, engine="a" * 64, owner="ada", prefix=rendered.encode(), tokens=computed, erasures=0)
    bench.server.memory.held = [[] for _ in range(3)]
    engine = await bench.engine()
    assert await turn(engine, talk("ada")) == computed
    await engine.aclose()
    # The bad one was dropped and the new one kept.
    bench.server.memory.held = [[] for _ in range(3)]
    engine = await bench.engine()
    assert await turn(engine, talk("ada")) < 5
    await engine.aclose()


async def test_a_state_is_kept_only_after_it_was_asked_for(bench: Bench) -> None:
    engine = await bench.engine()
    fan_out = InstanceFanOut(engine, ["coach"], leads=True, owner="ada")
    await fan_out.share_prefix(talk("ada"), 10.0)
    assert list(bench.states.folder.glob("*.state")) == []
    await engine.aclose()
    assert list(bench.states.folder.glob("*.part")) == []


async def test_more_turns_at_once_than_can_be_set_aside(bench: Bench) -> None:
    engine = await bench.engine()
    waiting: list[InstanceFanOut] = []
    for number in range(10):
        fan_out = InstanceFanOut(engine, ["coach"], leads=True, owner=f"u{number}")
        await fan_out.share_prefix(talk(f"user {number}"), 10.0)
        waiting.append(fan_out)
    assert len(list(bench.states.folder.glob("*.part"))) == 4
    for fan_out in waiting:
        fan_out.keep_prefix()
    await engine.aclose()
    assert len(list(bench.states.folder.glob("*.state"))) == 4
    assert list(bench.states.folder.glob("*.part")) == []


async def test_what_somebody_else_put_into_the_slot_is_not_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the computation and the save, a request of another program took the slot."""
    engine = await bench.engine()
    ask_engine = engine.client.ask

    async def interrupted(path: str, *arguments: Any, **more: Any) -> dict[str, object]:
        reply = await ask_engine(path, *arguments, **more)
        if path == "/completion":
            bench.server.memory.held[0] = ["what", "Eve", "told"]
        return reply

    monkeypatch.setattr(engine.client, "ask", interrupted)
    await turn(engine, talk("ada"))
    await engine.aclose()
    assert not bench.states.folder.exists()


async def test_without_an_owner_nothing_is_kept(bench: Bench) -> None:
    engine = await bench.engine()
    fan_out = InstanceFanOut(engine, ["coach"], leads=True)
    await fan_out.share_prefix(talk("ada"), 10.0)
    fan_out.keep_prefix()
    await engine.aclose()
    assert not bench.states.folder.exists()


async def test_turns_keep_their_prefix_and_erasing_removes_it(bench: Bench, tmp_path: Path) -> None:
    team = Team(
        name="pair",
        preamble="You keep a person company. " * 40,
        sections={"first": Section(text=True), "ending": Section(text=True)},
        agents={
            "opener": Agent(instructions="Answer.", writes="first", max_output_tokens=10),
            "closer": Agent(instructions="Answer.", writes="ending", max_output_tokens=10),
        },
        replies=Replies(first="first", full="ending"),
    )
    engine = await bench.engine()
    bench.states.folder = locate_home().prefixes  # where erasing a person looks
    with Store.open(tmp_path / "store.sqlite") as store:
        runner = TurnRunner(team, TeamRules(), cast_on_one(team, engine), store)
        for user in ("ada", "bob", "cleo"):
            result = await runner.run(f"I am {user}. {LONG}", user=user, session="s")
            assert result.status == "complete"
        await engine._kept.settle()  # pyright: ignore[reportOptionalMemberAccess]
        assert len(list(bench.states.folder.glob("*.state"))) == 3
        result = await runner.run("And now?", user="ada", session="s")
        tokens = result.document()["tokens"]
        assert tokens["prefill"] < tokens["unique"] + 40 < 200  # each agent computes the end of the message anew
        await engine._kept.settle()  # pyright: ignore[reportOptionalMemberAccess]
        store.erase("ada")
        assert len(list(bench.states.folder.glob("*.state"))) == 2
        assert bench.states.erasures() == 1
    await engine.aclose()
