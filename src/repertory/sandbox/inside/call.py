"""The process of one call: it shuts itself in, runs the code, answers, and is then killed by its parent."""

import builtins
import importlib
import io
import json
import os
import sys
import types
from collections.abc import Coroutine, Mapping
from typing import Any, NamedTuple, NoReturn, cast

from repertory.sandbox.inside import confine
from repertory.sandbox.inside.frames import FrameReader, send_frame

__all__ = ("ANSWERS", "CHANNEL", "PACKAGE", "SCRATCH", "STATE", "CallPipes", "run_call")

PACKAGE, SCRATCH, STATE = "/package", "/tmp", "/state"  # noqa: S108 - a file system of the sandbox's own
CHANNEL, ANSWERS = 3, 4
"""Where the process writes its questions and its result, and where it reads the host's answers."""

_MAX_MESSAGE, _MAX_TRACEBACK = 2_000, 8_000


class CallPipes(NamedTuple):
    """The ends of the pipes that belong to the process of a call."""

    channel: int
    answers: int
    output: int


def run_call(request: bytearray, pipes: CallPipes, confinement: Mapping[str, Any]) -> NoReturn:
    """Do what the request asks for, in a process that was forked for it. Never returns."""
    try:
        _take_pipes(pipes)
        if confinement["user"] is not None:
            confine.become(confinement["user"])
        confine.set_limits(confinement["limits"])
        confine.restrict_system_calls(confinement["code"], confinement["pid_slots"])
        reply = _run(json.loads(bytes(request)))
        sys.stdout.flush()
        sys.stderr.flush()
        send_frame(CHANNEL, b"R", reply)
    finally:
        os._exit(1)  # whatever is left of the code (threads, exit handlers) does not get to run


def _take_pipes(pipes: CallPipes) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    high = [os.dup(fd) for fd in pipes]  # above 4, or kept from it by those that are open below
    os.dup2(nothing, 0)
    os.dup2(high[2], 1)
    os.dup2(high[2], 2)
    os.dup2(high[0], CHANNEL, inheritable=False)
    os.dup2(high[1], ANSWERS, inheritable=False)
    confine.close_all_but([CHANNEL, ANSWERS])
    for name in ("stdout", "stderr"):
        raw = io.BufferedWriter(io.FileIO(1, "w", closefd=False))
        setattr(sys, name, io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True))
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8")


def _run(request: dict[str, Any]) -> bytes:
    """The reply as JSON: `{"value"}`, `{"raised"}` or `{"not_json"}`."""
    sys.modules["repertory_host"] = _host_module(request["result_bytes"])
    sys.path.insert(0, PACKAGE)
    os.chdir(SCRATCH)
    try:
        value = _script(request) if "script" in request else _function(request)
    except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt of the code are its failures
        return json.dumps({"raised": _failure(error)}).encode()
    try:
        text = json.dumps({"value": value}, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8")
    except BaseException as error:  # noqa: BLE001 - `value` may hold objects of the code
        kind = type(value).__name__
        words = f"the result (a {kind}) can not be written as JSON: {_message(error)}"
        return json.dumps({"not_json": words[:_MAX_MESSAGE]}).encode()


def _function(request: dict[str, Any]) -> object:
    module = importlib.import_module(request["module"])
    function = getattr(module, request["function"], None)
    if not callable(function):
        message = f"{request['module']} has no function {request['function']}"
        raise NotImplementedError(message)
    value: Any = function(*request["args"], **request["kwargs"])
    if isinstance(value, Coroutine):
        import asyncio  # noqa: PLC0415 - it takes longer to load than most calls

        return asyncio.run(cast("Coroutine[object, object, object]", value))
    return value


def _script(request: dict[str, Any]) -> object:
    import runpy  # noqa: PLC0415 - few calls need it

    sys.argv = [request["script"], *request["argv"]]
    try:
        runpy.run_path(os.path.join(PACKAGE, request["script"]), run_name="__main__")  # noqa: PTH118
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        sys.stderr.write(f"{stop.code}\n")
        return 1
    return 0


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_MAX_MESSAGE].encode("utf-8", "backslashreplace").decode()
    except BaseException:  # noqa: BLE001 - a class of the code says what `str` does
        return "(no message)"


def _failure(error: BaseException) -> dict[str, Any]:
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind is not object]
    return {"type": kinds[0], "message": _message(error), "kinds": kinds[:20], "traceback": _traceback(error)}


def _traceback(error: BaseException) -> str:
    """The frames of the code itself, nearest last."""
    try:
        import traceback  # noqa: PLC0415 - few calls need it

        lines = [
            line
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename.startswith(PACKAGE + "/")
            for line in traceback.format_list([frame])
        ]
        if isinstance(error, SyntaxError):
            lines += traceback.format_exception_only(error)
        text = "".join(lines).replace(PACKAGE + "/", "")
        return text[-_MAX_TRACEBACK:].encode("utf-8", "backslashreplace").decode()
    except BaseException:  # noqa: BLE001 - out of memory or files, or deeper than can be told
        return ""


def _host_module(max_bytes: int) -> types.ModuleType:
    """The module `repertory_host`: `call(name, *args, **kwargs)` asks a function of the host."""
    answers = FrameReader(ANSWERS, max_bytes)

    def call(name: str, /, *args: object, **kwargs: object) -> object:
        question = json.dumps({"name": name, "args": args, "kwargs": kwargs}, allow_nan=False).encode()
        if len(question) > max_bytes:
            message = f"a question of {len(question)} bytes; at most {max_bytes} are passed on"
            raise ValueError(message)
        send_frame(CHANNEL, b"C", question)
        answer = json.loads(bytes(answers.read().body))
        if "value" in answer:
            return answer["value"]
        raise _exception(answer["kinds"], answer["message"])

    module = types.ModuleType("repertory_host", "Functions of the host that runs this code.")
    module.__dict__["call"] = call
    return module


def _exception(kinds: list[str], message: str) -> Exception:
    """The nearest built-in exception of these kinds that can be made from a message alone."""
    for name in kinds:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            try:
                return kind(message)
            except TypeError:
                continue
    return RuntimeError(message)
