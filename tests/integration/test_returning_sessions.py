"""A session comes back after others have used a real llama.cpp engine, and after that engine was started anew."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.serving.gateway.running import gateway_for

from repertory.engines.connect import connect
from repertory.engines.embedded import EmbeddedEngine, keep_prefixes
from repertory.engines.model_store import ModelStore
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import Engine
from repertory.home import Home, locate_home
from repertory.runtime.cast import cast_on_one
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Agent, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.runtime.turn_result import TurnResult
from repertory.server.casting import ServedTeam
from repertory.server.supervised_instances import SupervisedInstances
from repertory.serving.instances.commands import bring_down, bring_up, watch_until_settled
from repertory.serving.instances.directory import InstanceDirectory
from repertory.serving.instances.process_identity import processes_of
from repertory.serving.instances.records import InstanceSpec, InstanceStatus, WantedInstances
from repertory.serving.instances.state_file import ServingFolder
from repertory.serving.instances.turn_engine import connect_instance
from repertory.storage.store import Store

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

MEMORY = "The person keeps a diary, walks every morning and plans each week on Sunday evening. "


def team() -> Team:
    return Team(
        name="companions",
        preamble=f"You keep a person company. {MEMORY * 12}",
        sections={"first": Section(text=True), "notes": Section(text=True), "ending": Section(text=True)},
        agents={
            "opener": Agent(instructions="Answer in one sentence.", writes="first", max_output_tokens=8),
            "noter": Agent(instructions="Note what was said.", writes="notes", max_output_tokens=8),
            "closer": Agent(instructions="End in one sentence.", writes="ending", max_output_tokens=8),
        },
        replies=Replies(first="first", full="ending"),
    )


@pytest.fixture(scope="module")
def tiny_model(model_folder: Path) -> Path:
    store = ModelStore(Home(root=model_folder.parent, models=model_folder))
    return store.layout.blob(store.pull("smollm2-135m").sha256)


@asynccontextmanager
async def started(model: Path, slot_cache_gib: float) -> AsyncGenerator[Engine]:
    async with EmbeddedEngine.start(model, slots=3, context_tokens=2048) as running:
        kept = await asyncio.to_thread(keep_prefixes, running, slot_cache_gib)
        engine = await connect(running.url, api_key=running.api_key, kind=EngineKind.LLAMACPP, kept_prefixes=kept)
        try:
            yield engine
        finally:
            await engine.aclose()


def ratio(result: TurnResult) -> float:
    """Prompt tokens computed, against those that nobody had computed for this session."""
    tokens = result.document()["tokens"]
    return tokens["prefill"] / tokens["unique"]


async def say(runner: TurnRunner, text: str, user: str) -> TurnResult:
    result = await runner.run(
        f"{text} {'It was a long day with many small things in it. ' * 12}", user=user, session="s"
    )
    assert result.status != "failed", result.reason  # so small a model may ramble on until it is cut
    return result


async def test_the_prefix_is_computed_once_though_others_came_between(tiny_model: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        async with started(tiny_model, 1.0) as engine:
            runner = TurnRunner(team(), TeamRules(), cast_on_one(team(), engine), store)
            assert ratio(await say(runner, "I am Ada.", "ada")) <= 1.15
            for number in range(3):
                await say(runner, f"I am number {number}.", f"other {number}")
            assert ratio(await say(runner, "I am Ada again.", "ada")) <= 1.15
            await say(runner, "I am number 0.", "other 0")
        # A new engine and a new process know nothing: all is unique to them, and yet it is found.
        async with started(tiny_model, 1.0) as engine:
            runner = TurnRunner(team(), TeamRules(), cast_on_one(team(), engine), store)
            assert ratio(await say(runner, "It is Ada for the third time.", "ada")) <= 0.6
        store.erase("ada")
        left = {path.name for path in locate_home().prefixes.glob("*.state")}
        assert len(left) == 3
        async with started(tiny_model, 0.0) as engine:
            runner = TurnRunner(team(), TeamRules(), cast_on_one(team(), engine), store)
            await say(runner, "I am number 0.", "other 0")
        assert {path.name for path in locate_home().prefixes.glob("*.state")} == left


async def test_without_kept_states_it_is_computed_again(tiny_model: Path, tmp_path: Path) -> None:
    """The other half of the claim: what the test above measures does not hold by itself."""
    with Store.open(tmp_path / "store.sqlite") as store:
        async with started(tiny_model, 0.0) as engine:
            runner = TurnRunner(team(), TeamRules(), cast_on_one(team(), engine), store)
            await say(runner, "I am Ada.", "ada")
            for number in range(2):
                await say(runner, f"I am number {number}.", f"other {number}")
            assert ratio(await say(runner, "I am Ada again.", "ada")) > 1.3


@pytest.fixture
async def up(tiny_model: Path) -> AsyncGenerator[InstanceDirectory]:
    """One llama.cpp for the whole team, as `repertory up` starts it."""
    agents = tuple(team().agents)
    spec = InstanceSpec(
        id="i1", engine="llama.cpp", model="smollm2-135m", checkpoint=str(tiny_model), served_name="smollm2-135m",
        agents=agents, devices=("cpu",), slots=3, context_tokens=2048,
    )  # fmt: skip
    try:
        await bring_up(WantedInstances(team="companions", instances=(spec,), slot_cache_gib=1.0))
        state = await watch_until_settled(None, lambda _: None)
        assert [item.status for item in state.instances] == [InstanceStatus.READY], state
        yield InstanceDirectory()
    finally:
        await bring_down()
        assert processes_of(ServingFolder.of().root) == []


async def test_an_instance_of_up_gives_a_session_its_prefix_back(up: InstanceDirectory, tmp_path: Path) -> None:
    served = ServedTeam(team(), TeamRules())

    with Store.open(tmp_path / "store.sqlite") as store:
        # Two processes one after the other, on one engine that runs on: as `serve` connects, and as `run` does.
        instances = SupervisedInstances(up, [served], store)
        await instances.upstreams()
        async with instances.follow(gateway_for()):
            runner = await instances.runner_of("companions")
            assert ratio(await say(runner, "I am Ada.", "ada")) <= 1.15
            for number in range(3):
                await say(runner, f"I am number {number}.", f"other {number}")
            assert ratio(await say(runner, "I am Ada again.", "ada")) <= 1.15
            await say(runner, "I am number 0.", "other 0")
        slots = up.instances()[0].slot_folder
        assert slots is not None
        assert list(slots.iterdir()) == []  # what was saved there holds what people said
        engine = await connect_instance(up, up.instances()[0])
        try:
            runner = TurnRunner(team(), TeamRules(), cast_on_one(team(), engine), store)
            assert ratio(await say(runner, "It is Ada for the third time.", "ada")) <= 0.6
        finally:
            await engine.aclose()
        kept = {path.name for path in locate_home().prefixes.glob("*.state")}
        engine = await connect_instance(up, up.instances()[0], slot_cache_gib=0.0)
        try:
            runner = TurnRunner(team(), TeamRules(), cast_on_one(team(), engine), store)
            await say(runner, "I am number 1.", "other 1")
        finally:
            await engine.aclose()
        assert {path.name for path in locate_home().prefixes.glob("*.state")} == kept
        store.erase("ada")
        assert {path.name for path in locate_home().prefixes.glob("*.state")} < kept
