"""The small process between the supervisor and one engine. It outlives the supervisor, so that an engine does, too.

It starts the engine in a process group of its own, keeps its log (the engine never writes to a file that is full, and
never to a pipe that nobody reads), writes down where the engine listens and how it ended, and at SIGTERM ends the
engine and all that it started. If the shim itself is killed, the kernel ends the engine.

Run as `python -m repertory.serving.instances.shim`; the order is one line of JSON on standard input.
"""

import contextlib
import ctypes
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import NoReturn

import psutil

from repertory.serving.instances.process_identity import wait_ended
from repertory.serving.instances.rotating_log import RotatingLog

__all__ = ("ENGINE_LOG", "PROCESS_RECORD", "ShimOrder", "main")

ENGINE_LOG = "engine.log"
PROCESS_RECORD = "process.json"

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER = 36
_RECORD_EVERY_S = 1.0


@dataclass(frozen=True)
class ShimOrder:
    """What the supervisor tells the shim.

    Attributes:
        launch: The name of this launch.
        folder: The instance's folder.
        arguments: The engine's command.
        environment: Its environment, whole.
        embedded: For the embedded engine: its configuration, without the number of its parent. It then tells its
            address on standard output.
        url: The address, for engines that are told their port.
        grace_s: How long the engine may take to end by itself.
    """

    launch: str
    folder: str
    arguments: list[str]
    environment: dict[str, str]
    embedded: dict[str, object] | None = None
    url: str | None = None
    grace_s: float = 10.0
    log_part_bytes: int = 8 * 1024 * 1024
    log_parts: int = 3

    def to_line(self) -> bytes:
        """The order as one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"


@dataclass
class _Record:
    """What the supervisor reads: written anew whenever it changes."""

    launch: str
    shim_pid: int
    shim_started: float
    engine_pid: int = 0
    url: str | None = None
    log_bytes: int = 0
    ended: bool = False
    exit_code: int | None = None
    error: str = ""
    version: str = ""


@dataclass
class _Shim:
    order: ShimOrder
    record: _Record
    log: RotatingLog
    stopping: bool = False
    kill_at: float = field(default=float("inf"))

    def write_record(self) -> None:
        path = Path(self.order.folder) / PROCESS_RECORD
        part = path.with_suffix(".part")
        self.record.log_bytes = self.log.total_bytes
        with contextlib.suppress(OSError):  # a full disk must not end the engine
            part.write_text(json.dumps(asdict(self.record)), "utf-8")
            part.replace(path)

    def start(self, output: int) -> "subprocess.Popen[bytes] | None":
        embedded = self.order.embedded is not None
        try:
            return subprocess.Popen(
                self.order.arguments,
                stdin=subprocess.PIPE if embedded else subprocess.DEVNULL,
                stdout=subprocess.PIPE if embedded else output,
                stderr=output,
                env=self.order.environment,
                cwd=self.order.folder,
                process_group=0,
                preexec_fn=_prepare_engine,  # noqa: PLW1509 - there is no other thread yet
            )
        except OSError as error:
            self.record.error = f"{self.order.arguments[0]}: {error.strerror or error}"
            return None

    def run(self) -> None:
        """Start the engine and stay until it has ended."""
        read_end, write_end = os.pipe()
        engine = self.start(write_end)
        os.close(write_end)
        if engine is not None:
            self.record.engine_pid = engine.pid
            self.record.url = self.order.url
            self._hand_over(engine)
            self.write_record()
            self._watch(engine, read_end)
            self.record.exit_code = engine.wait()
            _end_group(engine.pid)
            _end_children()
            self._drain(read_end)
        self.log.close()
        self.record.ended = True
        self.write_record()

    def _hand_over(self, engine: "subprocess.Popen[bytes]") -> None:
        if self.order.embedded is None or engine.stdin is None:
            return
        configuration = self.order.embedded | {"parent_pid": os.getpid()}
        with contextlib.suppress(BrokenPipeError):
            engine.stdin.write(json.dumps(configuration).encode() + b"\n")
            engine.stdin.flush()

    def _watch(self, engine: "subprocess.Popen[bytes]", read_end: int) -> None:
        selector = selectors.DefaultSelector()
        wakeup = _wake_on_signals(self._stop_signal)
        selector.register(read_end, selectors.EVENT_READ, "log")
        selector.register(wakeup, selectors.EVENT_READ, "signal")
        if engine.stdout is not None:
            selector.register(engine.stdout, selectors.EVENT_READ, "address")
        recorded = time.monotonic()
        while engine.poll() is None:
            for key, _ in selector.select(timeout=_RECORD_EVERY_S):
                data = os.read(key.fd, 65536)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.data == "log":
                    self.log.write(data)
                elif key.data == "address":
                    self._address(data)
            if self.stopping and self.kill_at == float("inf"):
                self.kill_at = time.monotonic() + self.order.grace_s
                if engine.stdin is not None:
                    with contextlib.suppress(BrokenPipeError):
                        engine.stdin.close()
                _signal_group(engine.pid, signal.SIGTERM)
            if time.monotonic() > self.kill_at:
                _signal_group(engine.pid, signal.SIGKILL)
            now = time.monotonic()
            if now - recorded >= _RECORD_EVERY_S and self.log.total_bytes != self.record.log_bytes:
                recorded = now
                self.write_record()
        selector.close()

    def _stop_signal(self) -> None:
        self.stopping = True

    def _address(self, data: bytes) -> None:
        with contextlib.suppress(ValueError, KeyError):
            told = json.loads(data.splitlines()[0])
            self.record.url, self.record.version = str(told["url"]), str(told["version"])
            self.write_record()

    def _drain(self, read_end: int) -> None:
        """Take the last words out of the pipe. A stranger that holds it open does not keep us."""
        os.set_blocking(read_end, False)
        with contextlib.suppress(BlockingIOError, OSError):
            while data := os.read(read_end, 65536):
                self.log.write(data)
        os.close(read_end)


def main() -> NoReturn:
    """Run one engine until it ends or SIGTERM comes."""
    order = ShimOrder(**json.loads(sys.stdin.buffer.readline()))
    os.umask(0o077)
    for number in (signal.SIGINT, signal.SIGHUP):  # the terminal's business is with the command, not with us
        signal.signal(number, signal.SIG_IGN)
    if sys.platform == "linux":  # what an engine leaves behind becomes our child, not init's
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    log = RotatingLog(Path(order.folder) / ENGINE_LOG, part_bytes=order.log_part_bytes, parts=order.log_parts)
    log.write(f"--- launch {order.launch}\n".encode())
    record = _Record(order.launch, os.getpid(), psutil.Process().create_time())
    shim = _Shim(order, record, log)
    shim.write_record()
    shim.run()
    sys.exit(0)


def _wake_on_signals(stop: Callable[[], None]) -> int:
    """A pipe end that becomes readable with SIGTERM and with the end of a child."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def ended(_number: int, _frame: FrameType | None) -> None:
        stop()

    def child_ended(_number: int, _frame: FrameType | None) -> None:
        """Nothing to do: the pipe wakes the loop."""

    signal.signal(signal.SIGTERM, ended)
    signal.signal(signal.SIGCHLD, child_ended)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    return read_end


def _prepare_engine() -> None:
    """In the engine's process, before its program: end with the shim, be ended first when memory runs out, no dumps."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _end_group(group: int) -> None:
    """End what is left of the engine's group. The number can not have been given out again while members live."""
    _signal_group(group, signal.SIGKILL)


def _end_children() -> None:
    """End what the engine started in groups of its own."""
    left = psutil.Process().children(recursive=True)
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.kill()
    wait_ended(left, 5)


if __name__ == "__main__":
    main()
