"""`up` with real engines: the embedded llama.cpp; and vLLM's CPU build beside it, two instances and nine agents."""

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest

from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.protocol import ChatMessage, GenerateRequest, Generation
from repertory.home import Home
from repertory.planning.team_needs import TEAMS
from repertory.serving.instances.commands import bring_down, bring_up, watch_until_settled
from repertory.serving.instances.directory import InstanceDirectory
from repertory.serving.instances.plan_file import PlanDocument, instances_of_plan
from repertory.serving.instances.process_identity import processes_of
from repertory.serving.instances.records import InstanceStatus, ServingState, WantedInstances
from repertory.serving.instances.resolve import Programs, resolve_instances
from repertory.serving.instances.state_file import ServingFolder
from repertory.serving.instances.turn_engine import connect_instance
from repertory.testing import ask

MODEL = "qwen2.5-coder-0.5b"
NINE = tuple(TEAMS["engineering"].agents)


def llamacpp(name: str, file: Path, agents: tuple[str, ...], *, slots: int, resident: bool = True) -> dict[str, object]:
    """An instance as `repertory plan` writes it."""
    command = ["llama-server", "-hf", "x/y:Q4_K_M", "-c", str(slots * 1024), "-np", str(slots), "--slot-save-path", "."]
    return {
        "id": name, "engine": "llama.cpp", "model": MODEL, "checkpoint": MODEL, "file": str(file), "devices": ["cpu"],
        "served_name": MODEL, "agents": agents, "resident": resident, "memory": {"total_gib": 0.9}, "command": command,
    }  # fmt: skip


def plan_of(*instances: dict[str, object], programs: Programs | None = None) -> WantedInstances:
    document = PlanDocument.model_validate({"team": "engineering", "status": "optimal", "instances": instances})
    return resolve_instances(instances_of_plan(document, "plan"), programs or Programs(), Path, "plan")


@asynccontextmanager
async def started(home: Home, wanted: WantedInstances) -> AsyncGenerator[ServingState]:
    try:
        await bring_up(wanted, home)
        yield await watch_until_settled(home, lambda _: None)
    finally:
        await bring_down(home)
        assert processes_of(ServingFolder.of(home).root) == []


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(root=tmp_path / "home", models=tmp_path)


@pytest.mark.engine
@pytest.mark.timeout(400)
async def test_llamacpp_is_started_survives_kills_and_copies_slots(home: Home, small_model: Path) -> None:
    async with started(home, plan_of(llamacpp("i1", small_model, NINE, slots=2))) as state:
        (item,) = state.instances
        assert item.status is InstanceStatus.READY, item
        assert item.memory.measured_gib is not None
        assert 0.3 < item.memory.measured_gib < 2
        directory = InstanceDirectory(home)
        engine = await connect_instance(directory, directory.instances()[0])
        prefix = [ChatMessage("system", "You count. " * 40)]
        assert isinstance(engine, LlamaCppEngine)
        saved = await engine.compute_prefix(prefix, slot=0, deadline_s=120)
        await engine.restore_prefix(saved, slot=1)
        request = GenerateRequest([*prefix, ChatMessage("user", "One?")], 4, slot=1, deadline_s=120)
        generation = [part async for part in engine.generate(request)][-1]
        assert isinstance(generation, Generation)
        assert generation.usage.prefill < generation.usage.prompt / 2
        await engine.aclose()
        assert item.pid is not None
        psutil.Process(item.pid).kill()
        record = ServingFolder.of(home).read_state().supervisor
        assert record is not None
        with anyio.fail_after(120):
            while not _back(home, item.pid):  # noqa: ASYNC110 - the supervisor is another process
                await anyio.sleep(0.2)
        psutil.Process(record.pid).kill()
        await bring_up(None, home)
        again = await watch_until_settled(home, lambda _: None)
        assert again.instances[0].status is InstanceStatus.READY
        assert again.instances[0].url == item.url


def _back(home: Home, before: int) -> bool:
    (item,) = ServingFolder.of(home).read_state().instances
    return item.status is InstanceStatus.READY and item.pid != before


@pytest.mark.engine
@pytest.mark.timeout(400)
async def test_two_llamacpp_that_do_not_fit_together_take_turns(home: Home, small_model: Path) -> None:
    wanted = plan_of(
        llamacpp("i1", small_model, NINE[:5], slots=1, resident=False),
        llamacpp("i2", small_model, NINE[5:], slots=1, resident=False),
    )
    async with started(home, wanted) as state:
        assert [item.status for item in state.instances] == [InstanceStatus.ASLEEP] * 2
        assert len([p for p in processes_of(ServingFolder.of(home).root) if p.memory_info().rss > 3e8]) == 0
        directory = InstanceDirectory(home)
        engines = [await connect_instance(directory, item) for item in directory.instances()]
        answers: list[str] = []

        async def agent(number: int) -> None:
            generation = await ask(engines[number], "Say one word.", max_output_tokens=4, deadline_s=300)
            answers.append(generation.text)

        async with anyio.create_task_group() as group:
            for number in (0, 1, 0, 1):
                group.start_soon(agent, number)
        assert len(answers) == 4
        await anyio.sleep(0.5)
        times = [(item.sleep_s, item.wake_s) for item in ServingFolder.of(home).read_state().instances]
        assert all(sleep is not None and wake is not None for sleep, wake in times), times


@pytest.mark.vllm
@pytest.mark.timeout(900)
async def test_vllm_and_llamacpp_from_one_plan_with_nine_agents(home: Home, small_model: Path) -> None:
    folder = Path(os.environ.get("REPERTORY_TEST_VLLM") or Path.home() / ".cache" / "repertory" / "vllm")
    if not (folder / MODEL / "config.json").exists():
        pytest.fail(f"no vLLM environment in {folder}; run `make vllm`, or leave these tests out: -m 'not vllm'")
    settings = ["VLLM_CPU_KVCACHE_SPACE=1", "VLLM_CPU_OMP_THREADS_BIND=auto", "HF_HUB_OFFLINE=1"]
    flags = ["--max-model-len", "4096", "--dtype", "bfloat16", "--max-num-seqs", "8", "--enforce-eager"]
    vllm: dict[str, object] = {
        "id": "i1", "engine": "vllm", "model": MODEL, "checkpoint": str(folder / MODEL), "served_name": MODEL,
        "devices": ["cpu"], "agents": NINE[:5], "memory": {"total_gib": 3.5},
        "command": ["env", *settings, "vllm", "serve", str(folder / MODEL), *flags, "--scheduling-policy", "priority"],
    }  # fmt: skip
    wanted = plan_of(vllm, llamacpp("i2", small_model, NINE[5:], slots=4), programs=Programs(vllm=str(folder / "venv")))
    async with started(home, wanted) as state:
        assert [item.status for item in state.instances] == [InstanceStatus.READY] * 2, json.dumps(
            [(item.spec.id, item.message) for item in state.instances]
        )
        assert all((item.memory.measured_gib or 0) > 0.3 for item in state.instances)
        directory = InstanceDirectory(home)
        places = {agent: item for item in directory.instances() for agent in item.agents}
        assert set(places) == set(NINE)
        engines = {item.id: await connect_instance(directory, item) for item in directory.instances()}
        assert {engine.profile.kind.value for engine in engines.values()} == {"vllm", "llama.cpp"}
        answered: set[str] = set()

        async def play(agent: str) -> None:
            generation = await ask(
                engines[places[agent].id], f"You are the {agent}. Say hello.", max_output_tokens=8, deadline_s=600
            )
            if generation.text:
                answered.add(agent)

        async with anyio.create_task_group() as group:
            for agent in NINE:
                group.start_soon(play, agent)
        assert answered == set(NINE)
        for engine in engines.values():
            await engine.aclose()
