"""The supervisor's process: in the background, one per home folder, until `down`.

Run as `python -m repertory.serving.instances.daemon FOLDER`.
"""

import os
import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import anyio
from filelock import FileLock, Timeout

from repertory.clock import system_clock
from repertory.errors import RepertoryError
from repertory.serving.instances.control import ControlServer
from repertory.serving.instances.records import InstanceState, WantedInstances
from repertory.serving.instances.state_file import ServingFolder
from repertory.serving.instances.supervisor import Supervisor

__all__ = ("main", "start_daemon")

_LOG_LIMIT_BYTES = 1024 * 1024


def start_daemon(files: ServingFolder) -> None:
    """Start the supervisor in a session of its own, so that closing the terminal does not end it.

    What is started forks and ends, so that the supervisor is nobody's child.
    """
    files.create()
    log_path = files.supervisor_log
    if log_path.exists() and log_path.stat().st_size > _LOG_LIMIT_BYTES:
        log_path.replace(log_path.with_suffix(".old.log"))
    descriptor = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    command = [sys.executable, "-P", "-m", "repertory.serving.instances.daemon", str(files.root)]
    with os.fdopen(descriptor, "ab") as log:
        subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/", check=True
        )


def main() -> NoReturn:
    """Supervise until `down` or SIGTERM. After SIGTERM the engines run on."""
    if os.fork():
        os._exit(0)
    files = ServingFolder(Path(sys.argv[1]))
    os.umask(0o077)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lock = FileLock(files.supervisor_lock, timeout=0, mode=0o600)
    try:
        with lock:
            _say(f"supervisor {os.getpid()} starts")
            anyio.run(_supervise, files, files.read_wanted(), _known_before(files))
            _say(f"supervisor {os.getpid()} ends")
    except Timeout:
        _say("another supervisor runs already")
    except RepertoryError as error:
        _say(str(error))
        sys.exit(1)
    except Exception:  # noqa: BLE001 - whatever it is, the log must say it
        traceback.print_exc()
        sys.exit(1)
    sys.exit(0)


def _known_before(files: ServingFolder) -> dict[str, InstanceState]:
    try:
        return {item.spec.id: item for item in files.read_state().instances}
    except RepertoryError:  # of another version: nothing of it is needed to go on
        return {}


async def _supervise(files: ServingFolder, wanted: WantedInstances | None, before: dict[str, InstanceState]) -> None:
    async with anyio.create_task_group() as group:
        supervisor = Supervisor(files, group, before=before)
        control = ControlServer(supervisor)
        supervisor.port = await group.start(control.serve)
        if wanted is not None:
            await supervisor.apply(wanted)
        group.start_soon(supervisor.keep_state_written)
        group.start_soon(_until_terminated, group.cancel_scope)
        await control.down.wait()
        files.write_state(supervisor.state().model_copy(update={"supervisor": None}))
        group.cancel_scope.cancel()


async def _until_terminated(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM) as signals:
        async for _ in signals:
            _say("SIGTERM: the engines run on; `repertory up` takes them over again")
            scope.cancel()


def _say(words: str) -> None:
    sys.stderr.write(f"{system_clock().isoformat(timespec='seconds')} {words}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
