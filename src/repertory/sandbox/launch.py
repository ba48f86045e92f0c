"""Starts the process that is the outside end of a sandbox, and ends it with all that is in it."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import IO

from repertory.errors import SandboxError
from repertory.sandbox.bubblewrap import command_line, find_bubblewrap
from repertory.sandbox.limits import Limits
from repertory.sandbox.python_runtime import find_python_runtime
from repertory.sandbox.seccomp import machine, outer_program

__all__ = ("ROOTS_GUEST", "SandboxProcess", "give_to_guest", "guest_user")

ROOTS_GUEST = 65_533
"""The user that foreign code runs as when we are root: one that owns nothing."""


def guest_user() -> int | None:
    """The user that a call becomes inside; None when it stays who we are."""
    return ROOTS_GUEST if os.geteuid() == 0 else None


def give_to_guest(folder: Path) -> None:
    """Let the code in the sandbox own a folder of ours that it may write."""
    user = guest_user()
    if user is not None:
        os.chown(folder, user, user)


@cache
def _starter() -> ThreadPoolExecutor:
    # The kernel ends a sandbox when the thread that started it ends, so one that stays starts them all.
    return ThreadPoolExecutor(1, thread_name_prefix="repertory-sandbox")


class SandboxProcess:
    """A running sandbox, seen from outside.

    Attributes:
        requests: The pipe to the process inside.
        replies: The pipe from it.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", log: IO[bytes]) -> None:
        self._process = process
        self._log = log
        if process.stdin is None or process.stdout is None:
            raise AssertionError  # both were asked for
        self._pipes: tuple[IO[bytes], ...] = (process.stdin, process.stdout)
        self.requests = process.stdin.fileno()
        self.replies = process.stdout.fileno()

    @classmethod
    def start(cls, limits: Limits, state: Path | None) -> "SandboxProcess":
        """Start a sandbox.

        Raises:
            SandboxError: This host does not let us.
        """
        return _starter().submit(_start, limits, state).result()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End everything in the sandbox and free what it held."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.close()
        self._log.close()

    def said(self) -> str:
        """What bubblewrap and our own code inside wrote about themselves, shortened."""
        self._log.seek(0)
        return " ".join(self._log.read(4096).decode("utf-8", "replace").split())[-400:]


def _start(limits: Limits, state: Path | None) -> SandboxProcess:
    program, runtime, as_root = find_bubblewrap(), find_python_runtime(), guest_user() is not None
    filter_file = _file_with(outer_program(machine()).code)
    command = command_line(program, runtime, limits, state=state, filter_fd=filter_file, as_root=as_root)
    # Deleted already; nobody has to read it for the sandbox to go on.
    log = tempfile.TemporaryFile(prefix="repertory-sandbox-")  # noqa: SIM115 - it lives as long as the sandbox
    start: Callable[..., subprocess.Popen[bytes]] = _start_as_root if as_root else _popen
    try:
        return SandboxProcess(start(command, log, [filter_file]), log)
    except (OSError, ValueError) as error:
        log.seek(0)
        words = " ".join(log.read(2048).decode("utf-8", "replace").split())
        log.close()
        message = f"the sandbox could not be started: {words or error}"
        raise SandboxError(message, hint="`repertory doctor` says what is missing") from None
    finally:
        os.close(filter_file)


def _popen(command: list[str], log: IO[bytes], fds: list[int]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        pass_fds=fds,
        env={},
        cwd="/",
        start_new_session=True,
        bufsize=0,
    )


def _start_as_root(command: list[str], log: IO[bytes], fds: list[int]) -> "subprocess.Popen[bytes]":
    """Start it, and map the users of its namespace to ours, one to one, so that a call can be another user."""
    go_read, go_write = os.pipe()
    info_read, info_write = os.pipe()
    try:
        options = ["--userns-block-fd", str(go_read), "--info-fd", str(info_write)]
        process = _popen([command[0], *options, *command[1:]], log, [*fds, go_read, info_write])
        os.close(info_write)
        info_write = -1
        try:
            child = _child_pid(info_read)
            for kind in ("uid_map", "gid_map"):
                # Rows of first inside, first outside, count; ours are about our own parent.
                rows = [line.split() for line in Path(f"/proc/self/{kind}").read_text("ascii").splitlines()]
                text = "".join(f"{first} {first} {count}\n" for first, _outside, count in rows)
                Path(f"/proc/{child}/{kind}").write_text(text, "ascii")
            os.write(go_write, b"1")
        except BaseException:
            process.kill()
            process.communicate()  # waits, and closes the pipes
            raise
        return process
    finally:
        for fd in (go_read, go_write, info_read, info_write):
            if fd >= 0:
                os.close(fd)


def _child_pid(info: int) -> int:
    """The `child-pid` in what bubblewrap tells, which comes in pieces. All are taken, or it would end by SIGPIPE."""
    told = b""
    while b"}" not in told:
        more = os.read(info, 4096)
        if not more:
            message = "bubblewrap ended"
            raise ValueError(message)
        told += more
    return int(json.loads(told)["child-pid"])


def _file_with(content: bytes) -> int:
    """A file in memory that another process can read from its start."""
    fd = os.memfd_create("filter", 0)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
