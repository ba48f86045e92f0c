"""Which instances run and where: for the gateway, `run` and whoever else sends requests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from repertory.errors import EngineUnavailableError
from repertory.home import Home
from repertory.serving.instances.control import use_instance
from repertory.serving.instances.launch_command import slot_states
from repertory.serving.instances.process_identity import is_process
from repertory.serving.instances.records import InstanceState, InstanceStatus, ServingState
from repertory.serving.instances.state_file import ServingFolder

__all__ = ("InstanceDirectory", "RunningInstance")


@dataclass(frozen=True)
class RunningInstance:
    """One instance that takes requests.

    Attributes:
        id: Its name in the plan.
        url: Root of its HTTP interface, without `/v1`. It may change with a restart; None while it sleeps stopped.
        api_key: The bearer key it wants.
        engine: `llama.cpp`, `vllm` or `url`.
        model: The name under which it serves (what a request says as `model`).
        catalog_model: The model, as the plan calls it.
        checkpoint: Repository, folder or file.
        agents: The agents that play on it.
        team: The team of the plan.
        takes_turns: It may sleep: hold it with `InstanceDirectory.use` while a request runs.
        ready: It answers now (or, if it takes turns, can be woken).
        build: The version of an embedded engine; empty for others, which tell it themselves.
        arguments: Further arguments of the engine.
        slot_folder: Where a llama.cpp that we started saves slots; None for all others.
        slot_cache_gib: What the user gave computed prompts of disk; None for the default.
        home: Whose instance it is; None for the default home.
    """

    id: str
    url: str | None
    api_key: str | None = field(repr=False)
    engine: str
    model: str
    catalog_model: str
    checkpoint: str
    agents: tuple[str, ...]
    team: str
    takes_turns: bool
    ready: bool
    build: str = ""
    arguments: tuple[str, ...] = ()
    slot_folder: Path | None = None
    slot_cache_gib: float | None = None
    home: Home | None = None


class InstanceDirectory:
    """Reads the supervisor's state file; cheap enough to be asked for every request.

    Args:
        home: Whose instances.
    """

    def __init__(self, home: Home | None = None) -> None:
        self._home = home
        self._files = ServingFolder.of(home)
        self._stamp: tuple[int, int] | None = None
        self._known: tuple[RunningInstance, ...] = ()

    def instances(self) -> tuple[RunningInstance, ...]:
        """All instances of the plan that runs; none when nothing is up."""
        try:
            status = (self._files.root / "state.json").stat()
        except FileNotFoundError:
            return ()
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            state = self._files.read_state()
            self._known = tuple(
                self._running(item, state) for item in state.instances if item.status is not InstanceStatus.STOPPED
            )
            self._stamp = stamp
        return self._known

    @property
    def supervised(self) -> bool:
        """Whether the supervisor lives; without it the instances run on, but nobody restarts or wakes them."""
        record = self._files.read_state().supervisor
        return record is not None and is_process(record.pid, record.started)

    @asynccontextmanager
    async def use(self, instance: str) -> AsyncGenerator[RunningInstance]:
        """Hold an instance awake inside the block; waits for its turn where it takes turns.

        Raises:
            EngineUnavailableError: The supervisor does not run, or the instance can not serve.
            UsageError: There is no such instance.
        """
        state = self._files.read_state()
        if state.supervisor is None:
            raise EngineUnavailableError("no supervisor runs", hint="repertory up")
        async with use_instance(state.supervisor, instance) as held:
            yield self._running(held, state)

    def _running(self, item: InstanceState, state: ServingState) -> RunningInstance:
        spec = item.spec
        asleep = not spec.resident and item.status is InstanceStatus.ASLEEP
        saves_slots = spec.engine == "llama.cpp" and not spec.kv_unified
        return RunningInstance(
            id=spec.id,
            url=item.url,
            api_key=item.api_key,
            engine=spec.engine,
            model=spec.served_name,
            catalog_model=spec.model,
            checkpoint=spec.checkpoint,
            agents=spec.agents,
            team=state.team,
            takes_turns=not spec.resident,
            ready=item.status is InstanceStatus.READY or asleep,
            build=item.build,
            arguments=spec.arguments,
            slot_folder=slot_states(self._files.instance(spec.id)) if saves_slots else None,
            slot_cache_gib=state.slot_cache_gib,
            home=self._home,
        )
