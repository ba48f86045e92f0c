"""Start the embedded engine in a child process, wait until it answers, watch it, and stop it.

The child ends with us: it is stopped when the context is left, when its standard input ends (we exited in any way), and
on Linux by the kernel when the thread that started it ends. So start it from a thread that lives as long as the engine.
"""

import contextlib
import os
import secrets
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.abc
import anyio.to_thread
import httpx2
from anyio.streams.buffered import BufferedByteReceiveStream

from repertory.engines.embedded.config import Listening, ServerConfig
from repertory.engines.embedded.gguf_header import GgufHeader, read_gguf_header
from repertory.engines.embedded.log_file import new_log, reasons
from repertory.engines.embedded.machine import available_memory_bytes, usable_cores
from repertory.engines.embedded.memory_fit import fit_to_memory
from repertory.engines.embedded.slot_folder import slot_folder
from repertory.errors import EngineTimeoutError, EngineUnavailableError
from repertory.home import Home, locate_home

__all__ = ("EmbeddedEngine", "RunningEngine")

_ANSWER_LIMIT_BYTES = 65_536
_STOP_GRACE_S = 3.0
_HEALTH_POLL_S = 0.05


@dataclass
class RunningEngine:
    """One embedded engine that answers.

    Attributes:
        url: Root of its HTTP interface, such as `http://127.0.0.1:42075` (no path).
        api_key: The bearer key every request must carry; nobody else on the machine knows it.
        model: The name under which it serves its model.
        slots: Requests it serves at the same time.
        context_tokens: Context of each slot, in tokens.
        threads: CPU threads it uses.
        log_path: Its log.
        version: Name and version of the wheel.
        notes: Sentences about what was lowered to fit into memory.
        model_path: The model file.
        slot_folder: Where it writes and reads slot states.
    """

    url: str
    api_key: str = field(repr=False)
    model: str
    slots: int
    context_tokens: int
    threads: int
    log_path: Path
    version: str
    notes: tuple[str, ...]
    model_path: Path
    slot_folder: Path
    _process: anyio.abc.Process = field(repr=False)

    @property
    def pid(self) -> int:
        """Process id of the engine."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.returncode is None

    def check(self) -> None:
        """Say why the engine ended, if it did.

        Raises:
            EngineUnavailableError: The process has ended; the message has the reason from its log.
        """
        if not self.alive:
            raise _ended(self._process.returncode, self.log_path)

    async def stop(self) -> None:
        """Stop the engine and wait for its end; harmless when it has ended."""
        await _stop(self._process)


class EmbeddedEngine:
    """Starts embedded engines."""

    @staticmethod
    @asynccontextmanager
    async def start(
        model_path: Path,
        *,
        slots: int = 1,
        context_tokens: int = 4096,
        home: Home | None = None,
        model_name: str | None = None,
        threads: int | None = None,
        start_timeout_s: float = 300.0,
        progress: Callable[[str], None] | None = None,
    ) -> AsyncGenerator[RunningEngine]:
        """Start an engine for one model file; it is stopped when the context is left.

        Args:
            model_path: The GGUF file.
            slots: Requests to serve at the same time.
            context_tokens: Context of each slot, in tokens (prompt plus answer).
            home: Where its log and slot states go; `locate_home()` by default.
            model_name: The name to serve the model under; by default the file's stem, or for a file of the model store
                the name that it gives itself.
            threads: CPU threads; the usable physical cores by default.
            start_timeout_s: Seconds until the first answer must be there.
            progress: Is told in words what happens.

        Raises:
            ModelStoreError: The file is missing or no GGUF file.
            EngineRejectedError: The model does not fit into memory.
            EngineUnavailableError: The process ended while it started.
            EngineTimeoutError: It did not answer in time.
        """
        home = home or locate_home()
        say = progress or _say_nothing
        header = await anyio.to_thread.run_sync(read_gguf_header, model_path)
        size = fit_to_memory(
            header,
            slots=slots,
            context_tokens=context_tokens,
            available_bytes=available_memory_bytes(),
            where=model_path,
        )
        for note in size.notes:
            say(note)
        log_path = new_log(home.logs, "engine")
        with slot_folder(home.slots) as folder:
            config = ServerConfig(
                model_path=str(model_path),
                model_name=model_name or _default_name(model_path, header),
                slots=size.slots,
                context_tokens=size.context_tokens,
                threads=threads or usable_cores(),
                api_key=secrets.token_urlsafe(32),
                slot_folder=str(folder),
                log_path=str(log_path),
                parent_pid=os.getpid(),
            )
            say(f"loading {config.model_name} ({size.slots} slots of {size.context_tokens:,} tokens)")
            process = await _spawn(log_path)
            try:
                with anyio.fail_after(start_timeout_s):
                    listening = await _listening(process, config, log_path)
                    running = RunningEngine(
                        url=listening.url,
                        api_key=config.api_key,
                        model=config.model_name,
                        slots=size.slots,
                        context_tokens=size.context_tokens,
                        threads=config.threads,
                        log_path=log_path,
                        version=listening.version,
                        notes=size.notes,
                        model_path=model_path,
                        slot_folder=folder,
                        _process=process,
                    )
                    await _first_answer(running)
            except TimeoutError:
                await _stop(process, loading=True)
                message = f"the engine did not answer within {start_timeout_s:.0f} s"
                raise EngineTimeoutError(message, where=str(log_path)) from None
            except BaseException:
                await _stop(process, loading=True)
                raise
            say(f"{config.model_name} is ready")
            try:
                yield running
            finally:
                await _stop(process)


def _default_name(path: Path, header: GgufHeader) -> str:
    return header.name or path.stem if path.name.startswith("sha256-") else path.stem


async def _spawn(log_path: Path) -> anyio.abc.Process:
    # -P: the current folder must not be searched for modules. A session of its own: Ctrl-C reaches only us.
    command = [sys.executable, "-P", "-m", "repertory.engines.embedded.server"]
    with log_path.open("ab") as log:
        return await anyio.open_process(command, stderr=log, start_new_session=True)


async def _listening(process: anyio.abc.Process, config: ServerConfig, log_path: Path) -> Listening:
    """Hand over the configuration and wait for the address."""
    if process.stdin is None or process.stdout is None:
        raise EngineUnavailableError("the engine's process has no pipes")
    try:
        await process.stdin.send(config.to_line())
        line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", _ANSWER_LIMIT_BYTES)
    except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.wait()
        raise _ended(process.returncode, log_path) from None
    return Listening.from_line(line)


async def _first_answer(running: RunningEngine) -> None:
    """Wait for health, then for one real token: a model that loads may still crash when it computes."""
    headers = {"Authorization": f"Bearer {running.api_key}"}
    body = {"prompt": "1, 2, 3,", "n_predict": 1, "temperature": 0, "id_slot": running.slots - 1, "cache_prompt": False}
    async with httpx2.AsyncClient(base_url=running.url, headers=headers, timeout=None, trust_env=False) as client:
        while True:
            running.check()
            try:
                if (await client.get("/health")).is_success:
                    break
            except httpx2.TransportError:
                pass  # ended or not yet there: the next check tells
            await anyio.sleep(_HEALTH_POLL_S)
        try:
            answer = await client.post("/completion", json=body)
        except httpx2.TransportError as error:
            with anyio.move_on_after(_STOP_GRACE_S):
                await running._process.wait()
            running.check()
            message = f"the engine broke off its first answer: {error}"
            raise EngineUnavailableError(message, where=str(running.log_path)) from error
        if not answer.is_success or not answer.json().get("tokens_predicted"):
            message = f"the engine's first answer failed: {answer.text[:200]}"
            raise EngineUnavailableError(message, where=str(running.log_path))


async def _stop(process: anyio.abc.Process, *, loading: bool = False) -> None:
    """End of input, then SIGTERM, then SIGKILL; also when the task is being cancelled.

    While a model loads nobody reads the input, and there is nothing to tidy up yet: then SIGTERM comes first.
    """
    with anyio.CancelScope(shield=True):
        if process.stdin is not None:
            await process.stdin.aclose()
        for end in (process.terminate, process.kill) if loading else (None, process.terminate, process.kill):
            if process.returncode is not None:
                break
            if end is not None:
                _signal(end)
            with anyio.move_on_after(_STOP_GRACE_S):
                await process.wait()
        await process.aclose()


def _signal(end: Callable[[], None]) -> None:
    with contextlib.suppress(ProcessLookupError):  # it may have ended by itself meanwhile
        end()


def _ended(returncode: int | None, log_path: Path) -> EngineUnavailableError:
    """The error for an engine that ended: how, and what its log says."""
    if returncode is not None and returncode < 0:
        how = f"was ended by {_signal_name(-returncode)}"
    else:
        how = f"ended with exit code {returncode}"
    lines = reasons(log_path)
    message = f"the engine {how}: {'; '.join(lines)}" if lines else f"the engine {how}"
    hint = f"its log is {log_path}"
    if returncode == -signal.SIGKILL:
        hint = f"memory may have run out; {hint}"
    return EngineUnavailableError(message, hint=hint)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _say_nothing(_text: str) -> None:
    pass
