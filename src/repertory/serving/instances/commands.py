"""What `up`, `down` and `status` do, whoever calls them: at most one supervisor, and nothing left behind."""

import time
from collections.abc import Callable

import anyio
import anyio.to_thread
import psutil
from filelock import FileLock, Timeout

from repertory.errors import EngineUnavailableError, RepertoryError
from repertory.home import Home
from repertory.serving.instances.control import send_order
from repertory.serving.instances.daemon import start_daemon
from repertory.serving.instances.engine_process import EngineProcess
from repertory.serving.instances.process_identity import end_processes, is_process, processes_of
from repertory.serving.instances.records import InstanceStatus, ServingState, SupervisorRecord, WantedInstances
from repertory.serving.instances.state_file import ServingFolder

__all__ = ("bring_down", "bring_up", "current_state", "settled", "supervisor_runs", "watch_until_settled")

_DAEMON_START_S = 60.0
_DAEMON_LOCK_S = 20.0
"""A supervisor that has not taken its lock by then has ended; on a busy machine Python alone takes seconds."""
_COMMAND_WAIT_S = 180.0
_POLL_S = 0.2
_ENDED = frozenset({InstanceStatus.FAILED, InstanceStatus.STOPPED})
_SETTLED = _ENDED | {InstanceStatus.READY, InstanceStatus.ASLEEP}


def supervisor_runs(files: ServingFolder) -> bool:
    """Whether a supervisor holds the lock of this folder."""
    if not files.supervisor_lock.exists():
        return False
    lock = FileLock(files.supervisor_lock, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        return True
    lock.release()
    return False


def current_state(home: Home | None = None) -> ServingState:
    """The instances as they are now. Without a supervisor the processes themselves are looked at."""
    files = ServingFolder.of(home)
    state = files.read_state()
    record = state.supervisor
    if record is not None and is_process(record.pid, record.started):
        return state
    instances = tuple(
        item
        if item.status is InstanceStatus.STOPPED or item.spec.engine == "url"
        else item.model_copy(
            update={"message": "runs without its supervisor"}
            if EngineProcess.find(item.spec, files)
            else {"status": InstanceStatus.STOPPED, "message": "does not run", "url": None, "pid": None}
        )
        for item in state.instances
    )
    return state.model_copy(update={"supervisor": None, "instances": instances})


async def bring_up(wanted: WantedInstances | None, home: Home | None = None) -> ServingState:
    """See to it that a supervisor runs and knows what is wanted (None: what was wanted last).

    Raises:
        RepertoryError: There is nothing to run, or the supervisor does not start.
    """
    files = ServingFolder.of(home)
    await anyio.to_thread.run_sync(files.create)
    with _only_command(files):
        if wanted is None:
            wanted = files.read_wanted()
        if wanted is None:
            raise RepertoryError(
                "nothing was started before that could be started again",
                hint="name a plan file or a team: `repertory up coaching`",
            )
        record = await _supervisor_record(files, time.monotonic() + _DAEMON_START_S)
        if record is None:
            files.write_wanted(wanted)
            record = await _start_supervisor(files)
        await send_order(record, {"do": "apply", "wanted": wanted.model_dump(mode="json")})
    return files.read_state()


async def bring_down(home: Home | None = None) -> list[str]:
    """End the supervisor and all instances, also those that lost their supervisor. Returns what was ended.

    Raises:
        RepertoryError: Something could not be ended.
    """
    files = ServingFolder.of(home)
    if not files.root.exists():
        return []
    with _only_command(files):
        ended = _names_running(files)
        if supervisor_runs(files):
            await _end_supervisor(files)
        left = await anyio.to_thread.run_sync(lambda: end_processes(processes_of(files.root)))
        files.write_wanted(None)
        if left:
            numbers = ", ".join(str(process.pid) for process in left)
            message = f"these processes do not end: {numbers}"
            raise EngineUnavailableError(message, hint="a device driver may hang; see `dmesg`")
        stopped = [
            item.model_copy(update={"status": InstanceStatus.STOPPED, "message": "stopped", "url": None, "pid": None})
            for item in _read_leniently(files).instances
        ]
        files.write_state(ServingState(team=_read_leniently(files).team, instances=tuple(stopped)))
    return ended


async def watch_until_settled(
    home: Home | None, seen: Callable[[ServingState], None], *, within_s: float | None = None
) -> ServingState:
    """Follow the state until every instance is ready, asleep or given up.

    Args:
        home: Whose.
        seen: Called with each state that differs from the one before.
        within_s: Stop looking after so long; the start goes on.

    Raises:
        EngineUnavailableError: The supervisor ended.
    """
    files = ServingFolder.of(home)
    last: ServingState | None = None
    state = files.read_state()
    with anyio.move_on_after(within_s):
        while True:
            state = files.read_state()
            if state != last:
                seen(state)
                last = state
            if settled(state):
                return state
            if not supervisor_runs(files):
                raise EngineUnavailableError("the supervisor ended", where=str(files.supervisor_log))
            await anyio.sleep(_POLL_S)
    return state


def settled(state: ServingState) -> bool:
    """Whether nothing is under way: one that takes turns is proven first, and then put to sleep."""
    return all(
        item.status in _SETTLED and (item.spec.resident or item.sleep_s is not None or item.status in _ENDED)
        for item in state.instances
    )


def _only_command(files: ServingFolder) -> FileLock:
    """Two commands at once go one after the other."""
    return FileLock(files.command_lock, timeout=_COMMAND_WAIT_S, mode=0o600)


async def _start_supervisor(files: ServingFolder) -> SupervisorRecord:
    await anyio.to_thread.run_sync(start_daemon, files)
    began = time.monotonic()
    while time.monotonic() < began + _DAEMON_START_S:
        record = _read_leniently(files).supervisor
        if record is not None and await _answers(record):
            return record
        await anyio.sleep(_POLL_S)
        if time.monotonic() > began + _DAEMON_LOCK_S and not supervisor_runs(files):
            break
    raise EngineUnavailableError("the supervisor did not start", hint=f"its log is {files.supervisor_log}")


async def _supervisor_record(files: ServingFolder, until: float) -> SupervisorRecord | None:
    """The record of the supervisor that holds the lock; it writes one soon after it starts. None when nobody holds it.

    One that is being killed holds the lock a moment longer than it answers.
    """
    while time.monotonic() < until:
        if not supervisor_runs(files):
            return None
        record = _read_leniently(files).supervisor
        if record is not None and await _answers(record):
            return record
        await anyio.sleep(_POLL_S)
    raise EngineUnavailableError(
        "the supervisor runs, but does not answer", where=str(files.supervisor_log), hint="repertory down"
    )


async def _answers(record: SupervisorRecord) -> bool:
    try:
        await send_order(record, {"do": "ping"})
    except RepertoryError:
        return False
    return True


async def _end_supervisor(files: ServingFolder) -> None:
    try:
        record = await _supervisor_record(files, time.monotonic() + 5.0)
        if record is not None:
            await send_order(record, {"do": "down"})
    except RepertoryError:
        pass  # it hangs: it is ended below, and the engines after it
    until = time.monotonic() + 15.0
    while supervisor_runs(files) and time.monotonic() < until:  # noqa: ASYNC110 - another process
        await anyio.sleep(_POLL_S)
    record = _read_leniently(files).supervisor
    if record is not None and is_process(record.pid, record.started):
        end_processes([psutil.Process(record.pid)])


def _names_running(files: ServingFolder) -> list[str]:
    return [item.spec.id for item in _read_leniently(files).instances if item.status is not InstanceStatus.STOPPED]


def _read_leniently(files: ServingFolder) -> ServingState:
    """The state; an empty one when another version wrote it, because `down` must always work."""
    try:
        return files.read_state()
    except RepertoryError:
        return ServingState()
