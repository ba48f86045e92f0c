"""The adapter of an instance of `up`: what it has computed of a session is kept where the instance is ours."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import ChatMessage
from repertory.errors import EngineUnavailableError
from repertory.home import Home
from repertory.runtime.fan_out import InstanceFanOut
from repertory.serving.instances.awake_engine import connect_awake
from repertory.serving.instances.directory import InstanceDirectory, RunningInstance
from repertory.serving.instances.launch_command import slot_states
from repertory.serving.instances.records import InstanceSpec, InstanceState, InstanceStatus, ServingState
from repertory.serving.instances.state_file import ServingFolder
from repertory.testing import ScriptedEngine
from repertory.testing.script import Script, Send

TALK = [ChatMessage("system", "The rules of the team. " * 10), ChatMessage("user", "What the person told. " * 60)]


def json_script(value: object) -> Script:
    return Script((Send(json.dumps(value).encode()),), content_type="application/json")


class Bench:
    """A scripted llama.cpp in the place of an instance, and the directory that tells of it."""

    def __init__(self, home: Home, folder: Path) -> None:
        self.home = home
        self.files = ServingFolder.of(home)
        self.files.create()
        self.slots = slot_states(self.files.instance("i1"))
        self.slots.mkdir(parents=True)
        self.model = folder / "m.gguf"
        self.model.write_bytes(b"weights")
        self.server = ScriptedEngine("fine", kind=EngineKind.LLAMACPP, slots=3, slot_folder=self.slots)

    def running(self, *, gib: float | None = 1.0, build: str = "xllamacpp 1", **changes: object) -> RunningInstance:
        """The instance as the state file tells of it."""
        facts: dict[str, object] = {
            "id": "i1", "engine": "llama.cpp", "model": "m", "checkpoint": str(self.model), "served_name": "scripted",
            "devices": ("cpu",), "slots": 3,
        }  # fmt: skip
        spec = InstanceSpec.model_validate(facts | changes)
        item = InstanceState(
            spec=spec, status=InstanceStatus.READY, url=self.server.url.removesuffix("/v1"), build=build
        )
        self.files.write_state(ServingState(team="t", instances=(item,), slot_cache_gib=gib))
        (found,) = InstanceDirectory(self.home).instances()
        return found

    @asynccontextmanager
    async def connected(self, instance: RunningInstance, gib: float | None = None) -> AsyncGenerator[LlamaCppEngine]:
        engine = await connect_awake(instance, gib)
        assert isinstance(engine, LlamaCppEngine)
        try:
            yield engine
        finally:
            await engine.aclose()

    async def computed(self, instance: RunningInstance, gib: float | None = None) -> int:
        """How many tokens a turn has to compute on an engine that has seen somebody else since."""
        self.server.memory.held = [[] for _ in range(3)]
        async with self.connected(instance, gib) as engine:
            fan_out = InstanceFanOut(engine, ["coach"], leads=True, owner="ada")
            report = await fan_out.share_prefix(TALK, 10.0)
            assert report is not None
            fan_out.keep_prefix()
        if instance.slot_folder is not None:
            assert list(self.slots.iterdir()) == []  # what is saved there holds what people said
        return report.usage.prefill


@pytest.fixture
async def bench(home: Home, tmp_path: Path) -> AsyncGenerator[Bench]:
    made = Bench(home, tmp_path)
    async with made.server:
        yield made


async def test_what_one_process_computed_another_one_finds(bench: Bench) -> None:
    whole = await bench.computed(bench.running())
    assert await bench.computed(bench.running()) < 5 < whole
    assert len(list(bench.home.prefixes.glob("*.state"))) == 1


@pytest.mark.parametrize(
    "changes", [{"build": "xllamacpp 2"}, {"arguments": ("-ctk", "q8_0")}], ids=["another build", "another KV cache"]
)
async def test_a_state_is_of_one_build_and_one_kind_of_cache(bench: Bench, changes: dict[str, object]) -> None:
    whole = await bench.computed(bench.running())
    assert await bench.computed(bench.running(**changes)) == whole  # pyright: ignore[reportArgumentType]


async def test_the_budget_of_up_holds_unless_another_one_is_given(bench: Bench) -> None:
    whole = await bench.computed(bench.running(gib=0.0))
    assert not bench.home.prefixes.exists()
    await bench.computed(bench.running(gib=0.0), 1.0)
    assert await bench.computed(bench.running(gib=1.0)) < 5
    assert await bench.computed(bench.running(gib=1.0), 0.0) == whole


@pytest.mark.parametrize(
    "changes",
    [
        {"engine": "url", "url": "http://127.0.0.1:1"},
        {"kv_unified": True},
        {"resident": False},
        {"checkpoint": "/no/such/file.gguf"},
        {"build": ""},
    ],
    ids=["attached", "one cache for all slots", "takes turns", "its file is gone", "a build that does not say which"],
)
async def test_what_can_not_be_kept_is_computed_as_ever(bench: Bench, changes: dict[str, object]) -> None:
    instance = bench.running(**changes)  # pyright: ignore[reportArgumentType]
    whole = await bench.computed(instance)
    assert await bench.computed(instance) == whole
    assert not list(bench.home.prefixes.glob("*.state"))


async def test_a_llama_server_tells_its_build_itself(bench: Bench) -> None:
    settings = {"n_ctx": 8192}
    told = {"build_info": "b9001-abc", "total_slots": 3, "default_generation_settings": settings}
    bench.server._routes["/props"] = json_script(told)
    whole = await bench.computed(bench.running(build="", program="/opt/llama-server"))
    assert await bench.computed(bench.running(build="", program="/opt/llama-server")) < 5 < whole
    bench.server._routes["/props"] = json_script(told | {"build_info": "b9002-def"})
    assert await bench.computed(bench.running(build="", program="/opt/llama-server")) == whole


async def test_one_that_does_not_serve_is_told(bench: Bench) -> None:
    with pytest.raises(EngineUnavailableError, match="i1 does not serve"):
        await connect_awake(replace(bench.running(), ready=False))
