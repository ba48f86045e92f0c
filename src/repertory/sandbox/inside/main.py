"""The sandbox's own process: it takes the files, shuts itself in, and forks a process for each call.

It never runs foreign code and never reads what foreign code says: questions and results pass through it as bytes.

Messages from the host: `L` load, `X` execute, `A` answer to a question. To the host: `U` ready, `C` a question, `R` the
result, `O` output, `E` the end of a call, as this process saw it.
"""

import base64
import contextlib
import json
import os
import select
import signal
import sys
import time
from typing import Any

from repertory.sandbox.inside import confine
from repertory.sandbox.inside.call import PACKAGE, SCRATCH, STATE, CallPipes, run_call
from repertory.sandbox.inside.frames import BrokenFrameError, FrameReader, send_frame, wipe
from repertory.sandbox.inside.usage import too_much

__all__ = ("main",)

_LOOK_S = 0.1
"""How often the folders of a call that runs are looked at, in seconds."""

_MAX_LOAD = 64 * 1024 * 1024
_COMMON = (
    "abc", "bisect", "calendar", "collections", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal",
    "enum", "fractions", "functools", "hashlib", "heapq", "hmac", "html", "itertools", "math", "operator", "random",
    "re", "sqlite3", "statistics", "string", "textwrap", "typing", "unicodedata", "urllib.parse", "uuid",
)  # fmt: skip
"""Modules that tools often use; what is loaded here once, no call has to load."""


class _Service:
    """The pipes to the host, and what holds for every call."""

    def __init__(self) -> None:
        self.requests = FrameReader(os.dup(0), _MAX_LOAD)
        self.replies = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1):
            os.dup2(nothing, fd)
        os.close(nothing)
        self.confinement: dict[str, Any] = {}
        self.folders: dict[str, Any] = {}
        self.landlock = 0

    def load(self) -> None:
        """Take the files and the walls of the calls, then raise the wall around this process."""
        frame = self.requests.read()
        order = json.loads(bytes(frame.body))
        for path, content in order["files"].items():
            target = os.path.join(PACKAGE, path)  # noqa: PTH118 - checked by the host; and there is only /package
            os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
            with open(target, "xb") as file:  # noqa: PTH123
                file.write(base64.b64decode(content))
        self.confinement = {**order["confinement"], "code": base64.b64decode(order["confinement"]["code"])}
        self.folders = order["folders"]
        for name in _COMMON if order["warm"] else ():
            with contextlib.suppress(ImportError):
                __import__(name)
        places = order["places"]
        self.landlock = confine.restrict_files(places["read"], places["write"], places["devices"])
        self.tell(b"U", {"landlock": self.landlock})

    def tell(self, kind: bytes, document: object) -> None:
        """Send a document of our own."""
        send_frame(self.replies, kind, json.dumps(document).encode())

    def serve(self) -> None:
        """Do calls until the host closes its pipe."""
        while True:
            frame = self.requests.read()
            end = _Call(self, frame.body).run()
            wipe(frame.body)
            # A folder that is not as it was, or could have been changed: the host starts a new sandbox.
            end["clean"] = self.landlock > 0 and not os.listdir(SCRATCH)  # noqa: PTH208
            self.tell(b"E", end)


class _Call:
    """One call: the process, and what comes from it."""

    def __init__(self, service: _Service, request: bytearray) -> None:
        self._service = service
        self._request = request
        header = json.loads(bytes(request[: request.index(b"\n")]))
        self._deadline = time.monotonic() + header["wall_s"]
        self._output_left: int = header["output_bytes"]
        self._result_bytes: int = header["result_bytes"]
        self._output_cut = False
        self._ended = "gone"

    def run(self) -> dict[str, Any]:
        """Start the process, pass on what it says, and end it."""
        channel, answers, output = os.pipe(), os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            del self._request[: self._request.index(b"\n") + 1]
            run_call(self._request, CallPipes(channel[1], answers[0], output[1]), self._service.confinement)
        for fd in (channel[1], answers[0], output[1]):
            os.close(fd)
        os.set_blocking(output[0], False)
        try:
            self._pass_on(FrameReader(channel[0], self._result_bytes), answers[1], output[0])
        finally:
            os.kill(pid, signal.SIGKILL)
            _, status, usage = os.wait4(pid, 0)
            self._drain(output[0])
            if self._too_much():
                self._ended = "too_many_files"
            for fd in (channel[0], answers[1], output[0]):
                os.close(fd)
        return {
            "ended": self._ended,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "peak_bytes": usage.ru_maxrss * 1024,
            "output_cut": self._output_cut,
        }

    def _pass_on(self, channel: FrameReader, answers: int, output: int) -> None:
        poll = select.poll()
        poll.register(channel.fd, select.POLLIN)
        poll.register(output, select.POLLIN)
        look = time.monotonic() + _LOOK_S
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0:
                self._ended = "late"
                return
            ready = dict(poll.poll(min(left, _LOOK_S) * 1000))
            if time.monotonic() >= look:
                look = time.monotonic() + _LOOK_S
                if self._too_much():
                    return
            if output in ready and not self._drain(output):
                poll.unregister(output)
            if channel.fd in ready and not self._advance(channel, answers):
                return

    def _too_much(self) -> bool:
        return too_much(SCRATCH, STATE, self._service.folders)

    def _advance(self, channel: FrameReader, answers: int) -> bool:
        """Take what the process sent; whether it is to go on."""
        try:
            frame = channel.advance()
        except EOFError:
            return False
        except BrokenFrameError as error:
            self._ended = "too_long" if error.args else "broken"
            return False
        if frame is None:
            return True
        if frame.kind == b"R":
            send_frame(self._service.replies, b"R", frame.body)
            wipe(frame.body)
            self._ended = "replied"
            return False
        if frame.kind != b"C":
            self._ended = "broken"
            return False
        send_frame(self._service.replies, b"C", frame.body)
        wipe(frame.body)
        answer = self._service.requests.read()
        try:
            send_frame(answers, b"A", answer.body, self._deadline)
        except TimeoutError:
            self._ended = "late"
            return False
        except OSError:
            return False
        finally:
            wipe(answer.body)
        return True

    def _drain(self, output: int) -> bool:
        """Pass on what was printed, up to the limit; whether more may come."""
        for _ in range(64):  # then it is the others' turn
            try:
                data = os.read(output, 65_536)
            except BlockingIOError:
                return True
            if not data:
                return False
            kept = data[: self._output_left]
            self._output_left -= len(kept)
            self._output_cut = self._output_cut or len(kept) < len(data)
            if kept:
                send_frame(self._service.replies, b"O", kept)
        return True


def main() -> None:
    """Run until the host goes away."""
    sys.setrecursionlimit(1_000)
    os.environ.clear()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with contextlib.suppress(EOFError, BrokenPipeError):
        service = _Service()
        service.load()
        service.serve()


if __name__ == "__main__":
    main()
