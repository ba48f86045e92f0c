"""Which instances run and where: for the gateway, `run` and whoever else sends requests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from repertory.errors import EngineUnavailableError
from repertory.home import Home
from repertory.serving.instances.control import use_instance
from repertory.serving.instances.process_identity import is_process
from repertory.serving.instances.records import InstanceState, InstanceStatus
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


class InstanceDirectory:
    """Reads the supervisor's state file; cheap enough to be asked for every request.

    Args:
        home: Whose instances.
    """

    def __init__(self, home: Home | None = None) -> None:
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
                _running(item, state.team) for item in state.instances if item.status is not InstanceStatus.STOPPED
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
            yield _running(held, state.team)


def _running(state: InstanceState, team: str) -> RunningInstance:
    spec = state.spec
    asleep = not spec.resident and state.status is InstanceStatus.ASLEEP
    return RunningInstance(
        id=spec.id,
        url=state.url,
        api_key=state.api_key,
        engine=spec.engine,
        model=spec.served_name,
        catalog_model=spec.model,
        checkpoint=spec.checkpoint,
        agents=spec.agents,
        team=team,
        takes_turns=not spec.resident,
        ready=state.status is InstanceStatus.READY or asleep,
    )
