"""The engine that waits for its turn before each generation."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from repertory.engines.profile import EngineKind, FanOut
from repertory.engines.protocol import ChatMessage
from repertory.errors import EngineUnavailableError
from repertory.home import Home
from repertory.serving.instances.directory import InstanceDirectory, RunningInstance
from repertory.serving.instances.turn_engine import TurnTakingEngine, connect_instance
from repertory.testing import ScriptedEngine, ask

pytestmark = pytest.mark.virtual_time


def running(url: str | None, *, takes_turns: bool = True, ready: bool = True) -> RunningInstance:
    return RunningInstance(
        id="i1", url=url, api_key=None, engine="llama.cpp", model="scripted", catalog_model="m", checkpoint="m.gguf",
        agents=("a",), team="t", takes_turns=takes_turns, ready=ready,
    )  # fmt: skip


class Turns(InstanceDirectory):
    """A directory whose one instance is at another address at each turn, and that notes who holds it."""

    def __init__(self, home: Home, urls: list[str]) -> None:
        super().__init__(home)
        self.urls = urls
        self.held = 0
        self.turns = 0

    @asynccontextmanager
    async def use(self, instance: str) -> AsyncGenerator[RunningInstance]:
        assert instance == "i1"
        self.held += 1
        url = self.urls[min(self.turns, len(self.urls) - 1)]
        self.turns += 1
        try:
            yield running(url)
        finally:
            self.held -= 1


async def test_each_generation_holds_the_instance_for_as_long_as_it_streams(home: Home) -> None:
    first, second = (ScriptedEngine("one two three", kind=EngineKind.LLAMACPP, token_delay_s=0.01) for _ in range(2))
    async with first, second:
        directory = Turns(home, [first.url, first.url, second.url])
        engine = await connect_instance(directory, running(None))
        assert isinstance(engine, TurnTakingEngine)
        assert (engine.model, engine.context_tokens) == ("scripted", 8192)
        assert directory.held == 0
        generation = await ask(engine, "Hello.", deadline_s=20)
        assert generation.text == "one two three"
        # llama.cpp was stopped and started meanwhile: the address is asked for anew.
        assert (await ask(engine, "Hello.", deadline_s=20)).text == "one two three"
        assert (len(first.requests), len(second.requests)) == (1, 1)
        assert directory.held == 0


async def test_a_generation_that_is_given_up_gives_the_instance_back(home: Home) -> None:
    async with ScriptedEngine("word " * 500, kind=EngineKind.LLAMACPP, token_delay_s=0.05) as scripted:
        directory = Turns(home, [scripted.url])
        engine = await connect_instance(directory, running(None))
        with anyio.move_on_after(0.5):
            await ask(engine, "Hello.", deadline_s=20)
        assert directory.held == 0


async def test_nothing_is_copied_ahead_and_counting_wakes_nobody(home: Home) -> None:
    async with ScriptedEngine("ok", kind=EngineKind.LLAMACPP) as scripted:
        directory = Turns(home, [scripted.url])
        engine = await connect_instance(directory, running(None))
        turns = directory.turns
        assert engine.profile.fan_out is FanOut.PRIME
        assert not engine.profile.slots
        assert await engine.count_tokens([ChatMessage("user", "How many?")]) > 0
        assert directory.turns == turns


async def test_what_does_not_serve_is_said(home: Home) -> None:
    with pytest.raises(EngineUnavailableError, match="i1 does not serve"):
        await connect_instance(InstanceDirectory(home), running(None, takes_turns=False, ready=False))


async def test_as_an_upstream_of_a_gateway_it_is_woken_for_a_request(home: Home) -> None:
    async with ScriptedEngine("ok", kind=EngineKind.LLAMACPP) as scripted:
        directory = Turns(home, [scripted.url])
        engine = await connect_instance(directory, running(None))
        assert isinstance(engine, TurnTakingEngine)
        upstream = engine.upstream()
        assert (upstream.id, upstream.served_model) == ("i1", "scripted")
        assert upstream.hold is not None
        async with upstream.hold() as address:
            assert (address.base_url, directory.held) == (scripted.url, 1)
        assert directory.held == 0
