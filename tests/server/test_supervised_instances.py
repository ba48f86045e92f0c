"""The gateway follows the instances of `up`: new addresses after a restart, names of agents, those that sleep."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from tests.serving.gateway.running import gateway_for, serving

from repertory.engines.profile import EngineKind
from repertory.errors import EngineUnavailableError
from repertory.server.casting import ServedTeam
from repertory.server.supervised_instances import SupervisedInstances
from repertory.serving.instances.directory import InstanceDirectory, RunningInstance
from repertory.storage.store import Store
from repertory.teams import find_team
from repertory.testing import ScriptedEngine

pytestmark = pytest.mark.virtual_time

CHAT = "/v1/chat/completions"


class Directory(InstanceDirectory):
    """A directory that says what the test wants."""

    def __init__(self, *running: RunningInstance) -> None:
        super().__init__()
        self.running = running
        self.held: list[str] = []

    def instances(self) -> tuple[RunningInstance, ...]:
        return self.running

    @asynccontextmanager
    async def use(self, instance: str) -> AsyncGenerator[RunningInstance]:
        self.held.append(instance)
        yield next(one for one in self.running if one.id == instance)


def running(engine: ScriptedEngine, name: str = "one", **changes: object) -> RunningInstance:
    plain = RunningInstance(
        id=name,
        url=engine.url.removesuffix("/v1"),
        api_key=None,
        engine="vllm",
        model=engine.model,
        catalog_model="big-model",
        checkpoint="org/big-model",
        agents=("shadow", "persona"),
        team="coaching",
        takes_turns=False,
        ready=True,
    )
    return replace(plain, **changes)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        yield opened


@pytest.fixture
def coaching() -> ServedTeam:
    return ServedTeam(*find_team("coaching"))


def ask(model: str) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": "Hello."}]}


async def test_an_instance_is_followed_to_its_new_address(store: Store, coaching: ServedTeam) -> None:
    async with (
        ScriptedEngine("first", kind=EngineKind.VLLM) as one,
        ScriptedEngine("second", kind=EngineKind.VLLM) as two,
    ):
        directory = Directory(running(one))
        instances = SupervisedInstances(directory, [coaching], store)
        gateway = gateway_for(*(await instances.upstreams()))
        async with instances.follow(gateway), serving(gateway) as client:
            for name in ("big-model", "scripted", "coaching/shadow"):
                answer = await client.post(CHAT, json=ask(name))
                assert answer.json()["choices"][0]["message"]["content"] == "first"
            assert (await client.post(CHAT, json=ask("coaching/coach"))).status_code == 404
            directory.running = (running(two),)
            async with asyncio.timeout(20):
                while "second" not in (await client.post(CHAT, json=ask("big-model"))).text:  # noqa: ASYNC110 - over HTTP
                    await asyncio.sleep(0.05)


async def test_a_sleeping_instance_is_woken_for_a_request(store: Store, coaching: ServedTeam) -> None:
    async with ScriptedEngine("awake", kind=EngineKind.VLLM) as engine:
        directory = Directory(running(engine, takes_turns=True))
        instances = SupervisedInstances(directory, [coaching], store)
        async with serving(gateway_for(*(await instances.upstreams()))) as client:
            answer = await client.post(CHAT, json=ask("big-model"))
    assert answer.json()["choices"][0]["message"]["content"] == "awake"
    assert directory.held == ["one"]


async def test_agents_play_on_the_instances_of_the_plan(store: Store, coaching: ServedTeam) -> None:
    async with ScriptedEngine(kind=EngineKind.VLLM) as one, ScriptedEngine(kind=EngineKind.VLLM) as two:
        directory = Directory(running(one), running(two, "two", agents=("coach",)))
        instances = SupervisedInstances(directory, [coaching], store)
        with pytest.raises(EngineUnavailableError):
            await instances.runner_of("coaching")
        await instances.upstreams()
        runner = await instances.runner_of("coaching")
        played = {agent: instance.name for agent, instance in runner.cast.by_agent.items()}
        assert (played["shadow"], played["persona"], played["coach"]) == ("one", "one", "two")
        assert await instances.runner_of("coaching") is runner
        directory.running = (running(one),)
        await instances.upstreams()
        assert (await instances.runner_of("coaching")).cast.by_agent["coach"].name == "one"
        async with instances.follow(gateway_for()):
            pass


async def test_one_that_is_not_ready_is_not_served(store: Store, coaching: ServedTeam) -> None:
    async with ScriptedEngine() as engine:
        instances = SupervisedInstances(Directory(running(engine, ready=False)), [coaching], store)
        assert await instances.upstreams() == []
