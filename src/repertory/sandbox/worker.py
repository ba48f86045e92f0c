"""A sandbox that stays and does one call after the other, each in a process of its own."""

import base64
import contextlib
import json
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self

from repertory.errors import SandboxError
from repertory.sandbox.bubblewrap import DEVICES, INSIDE
from repertory.sandbox.inside.call import PACKAGE, SCRATCH, STATE
from repertory.sandbox.inside.frames import BrokenFrameError, FrameReader, send_frame
from repertory.sandbox.job import Entry, FunctionCall, HostCallError, HostFunction, Outcome
from repertory.sandbox.launch import SandboxProcess, give_to_guest, guest_user
from repertory.sandbox.limits import Limits
from repertory.sandbox.outcome import Account, outcome_of
from repertory.sandbox.python_runtime import PYTHON, find_python_runtime
from repertory.sandbox.seccomp import inner_program, machine
from repertory.sandbox.strict_json import NotStrictJsonError, dump_strict, parse_strict

__all__ = ("Worker",)

_START_S = 30.0
_GRACE_S = 3.0
_SLICE = 64 * 1024
_MAX_PACKAGE_BYTES = 32 * 1024 * 1024


class _Running(NamedTuple):
    process: SandboxProcess
    replies: FrameReader


class Worker:
    """One set of files, ready to be called. Calls share nothing but the state folder, when there is one.

    It starts at the first call, and anew after a call that left anything behind. It may be used by any thread; calls
    are done one at a time.

    Args:
        files: Path below the package folder to content.
        limits: What each call may use.
        state: A folder that the code may write, as `/state`; the caller's own to keep and to watch the size of.
        host: Functions of ours that the code may call.
        warm: Load the modules that tools often use before the first call.
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes],
        *,
        limits: Limits | None = None,
        state: Path | None = None,
        host: Mapping[str, HostFunction] | None = None,
        warm: bool = True,
    ) -> None:
        self.limits = limits or Limits()
        self._files = {_checked(path): _bytes(content) for path, content in files.items()}
        if sum(map(len, self._files.values())) > _MAX_PACKAGE_BYTES:
            message = f"the files are larger than {_MAX_PACKAGE_BYTES // 1024**2} MiB"
            raise SandboxError(message, hint="leave out what the code does not need")
        self._state = state
        self._host = dict(host or {})
        self._warm = warm
        self._running: _Running | None = None
        self._lock = threading.Lock()
        self.landlock = 0
        """The version of Landlock around the running worker; 0 when the kernel has none, or before it starts."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @property
    def running(self) -> bool:
        """Whether the next call finds a started sandbox."""
        return self._running is not None and self._running.process.alive

    def start(self) -> None:
        """Start now instead of at the first call.

        Raises:
            SandboxError: This host does not let us.
        """
        with self._lock:
            self._start()

    def close(self) -> None:
        """End the sandbox and everything in it."""
        with self._lock:
            self._stop()

    def call(self, entry: Entry, *, wall_s: float | None = None) -> Outcome:
        """Do one call.

        Args:
            entry: What to run.
            wall_s: A shorter time than the limit.

        Raises:
            SandboxError: The sandbox could not be started, or an argument is not JSON. What the code does wrong is in
                the outcome.
        """
        limit = min(wall_s or self.limits.wall_s, self.limits.wall_s)
        request = self._request(entry, limit)
        with self._lock:
            running = self._start()
            account = Account(started=time.monotonic(), limits=self.limits, wall_s=limit)
            try:
                self._exchange(running, request, account)
            finally:
                if not account.clean:
                    self._stop()
            return outcome_of(account)

    def _request(self, entry: Entry, wall_s: float) -> bytes:
        header = {"wall_s": wall_s, "output_bytes": self.limits.output_bytes, "result_bytes": self.limits.result_bytes}
        body: dict[str, Any] = {"result_bytes": self.limits.result_bytes}
        if isinstance(entry, FunctionCall):
            body |= {"module": entry.module, "function": entry.function}
            body |= {"args": list(entry.args), "kwargs": dict(entry.kwargs)}
        else:
            body |= {"script": _checked(entry.path), "argv": list(entry.argv)}
        try:
            request = json.dumps(header).encode() + b"\n" + dump_strict(body)
        except NotStrictJsonError as error:
            message = f"the arguments can not be sent: {error}"
            raise SandboxError(message) from None
        return request

    def _exchange(self, running: _Running, request: bytes, account: Account) -> None:
        """Send the request and keep what comes until the sandbox says that the call is over, or is stopped for it."""
        deadline = account.started + account.wall_s + _GRACE_S
        try:
            send_frame(running.process.requests, b"X", request, deadline)
            while account.end is None:
                frame = running.replies.read(deadline)
                if frame.kind == b"R":
                    account.reply = bytes(frame.body)
                elif frame.kind == b"O":
                    account.output += frame.body
                elif frame.kind == b"C":
                    answer = self._answer(bytes(frame.body))
                    send_frame(running.process.requests, b"A", answer, deadline)
                elif frame.kind == b"E":
                    account.end = json.loads(bytes(frame.body))
                else:
                    raise BrokenFrameError
        except TimeoutError:
            account.stopped = "late"
        except (OSError, EOFError, BrokenFrameError):
            account.stopped = "gone"
        account.finished = time.monotonic()

    def _answer(self, question: bytes) -> bytes:
        """Call a host function for the code inside."""
        try:
            asked = parse_strict(question)
            function = self._host[asked["name"]]
            args, kwargs = list(asked["args"]), dict(asked["kwargs"])
        except (NotStrictJsonError, KeyError, TypeError, ValueError):
            return json.dumps({"kinds": ["NotImplementedError"], "message": "the host has no such function"}).encode()
        try:
            answer = dump_strict({"value": function(*args, **kwargs)})
        except HostCallError as error:
            return json.dumps({"kinds": error.kinds, "message": str(error)[:2_000]}).encode()
        except TypeError:
            return json.dumps({"kinds": ["TypeError"], "message": "wrong arguments for the host's function"}).encode()
        except NotStrictJsonError as error:
            return json.dumps({"kinds": ["ValueError"], "message": f"the host's answer is {error}"}).encode()
        if len(answer) > self.limits.result_bytes:
            return json.dumps({"kinds": ["ValueError"], "message": "the host's answer is too large"}).encode()
        return answer

    def _start(self) -> _Running:
        if self._running is not None and self._running.process.alive:
            return self._running
        self._stop()
        if self._state is not None:
            give_to_guest(self._state)
        process = SandboxProcess.start(self.limits, self._state)
        replies = FrameReader(process.replies, max(self.limits.result_bytes, _SLICE))
        deadline = time.monotonic() + _START_S
        try:
            send_frame(process.requests, b"L", json.dumps(self._load_order()).encode(), deadline)
            self.landlock = int(json.loads(bytes(replies.read(deadline).body))["landlock"])
        except (OSError, EOFError, BrokenFrameError, ValueError) as error:
            said = process.said() or f"no word from it ({type(error).__name__})"
            process.kill()
            message = f"the sandbox did not start: {said}"
            raise SandboxError(message, hint="`repertory doctor` says what this host is missing") from None
        self._running = _Running(process, replies)
        return self._running

    def _stop(self) -> None:
        if self._running is not None:
            self._running.process.kill()
            self._running = None

    def _load_order(self) -> dict[str, Any]:
        runtime, program = find_python_runtime(), inner_program(machine())
        read = [PYTHON, INSIDE, PACKAGE, *([str(runtime.loader)] if runtime.loader else [])]
        write = [SCRATCH, *([STATE] if self._state else [])]
        return {
            "files": {path: base64.b64encode(content).decode() for path, content in self._files.items()},
            "warm": self._warm,
            "places": {"read": read, "write": write, "devices": list(DEVICES)},
            "folders": {
                "state": self._state is not None,
                "scratch_files": self.limits.scratch_files,
                "state_files": self.limits.state_files,
                "state_bytes": self.limits.state_bytes,
            },
            "confinement": {
                "user": guest_user(),
                "limits": _resource_limits(self.limits),
                "code": base64.b64encode(program.code).decode(),
                "pid_slots": list(program.pid_slots),
            },
        }


def _resource_limits(limits: Limits) -> dict[str, int]:
    """The kernel's names for the limits of a process."""
    # The process itself, and in a namespace of our own user the two that serve it.
    tasks = limits.threads + (1 if guest_user() is not None else 3)
    return {
        "RLIMIT_CPU": max(1, int(limits.cpu_s)),
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_NPROC": tasks,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_STACK": 8 * 1024 * 1024,
        "RLIMIT_AS": limits.memory_bytes,
    }


def _checked(path: str) -> str:
    """A path that stays inside the package folder."""
    pure = PurePosixPath(path)
    plain = path == str(pure) and path != "." and "\0" not in path and len(os.fsencode(path)) < 1_000
    if not plain or pure.is_absolute() or ".." in pure.parts:
        message = f"not a path inside a package: {path[:80]!r}"
        raise SandboxError(message, hint="write it like tools.py or data/words.txt")
    return path


def _bytes(content: str | bytes) -> bytes:
    if isinstance(content, bytes):
        return content
    with contextlib.suppress(UnicodeEncodeError):
        return content.encode("utf-8")
    raise SandboxError("a file holds text that is not Unicode", hint="give bytes")
