"""The child process: one llama.cpp server on the loopback interface, until its parent lets go of it.

Run as `python -m repertory.engines.embedded.server`; the configuration is the first line of standard input, and the end
of standard input is the order to stop. The only line on standard output is the address; all else goes to the log.
"""

import contextlib
import ctypes
import importlib
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from repertory.engines.embedded.config import Listening, ServerConfig

__all__ = ("main",)

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LOG_LIMIT_BYTES = 16 * 1024 * 1024
_LOG_CHECK_S = 5.0
_PARENT_GONE = 3


def main() -> NoReturn:
    """Serve until standard input ends, the parent dies or SIGTERM comes."""
    config = ServerConfig.from_line(sys.stdin.buffer.readline())
    answer = os.dup(1)
    os.dup2(2, 1)  # llama.cpp may print anywhere: standard output is the log from here on
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it then stops us
    _die_with_parent(config.parent_pid)
    _prefer_as_oom_victim()

    def stop(_signal: int = 0, _frame: FrameType | None = None) -> NoReturn:
        shutil.rmtree(config.slot_folder, ignore_errors=True)
        # No destructors: they wait for requests in flight, and nobody is left to read the answers.
        os._exit(0)

    # While the model loads nothing is in the slot folder yet, so the default action of SIGTERM is right until then.
    threading.Thread(target=_stop_at_end_of_input, args=(stop,), daemon=True).start()
    _server, listening = _start(config)
    signal.signal(signal.SIGTERM, stop)
    with contextlib.suppress(BrokenPipeError):
        os.write(answer, listening.to_line())
    os.close(answer)
    while True:
        time.sleep(_LOG_CHECK_S)
        _rotate(Path(config.log_path))
        if os.getppid() != config.parent_pid:
            stop()


def _start(config: ServerConfig) -> tuple[object, Listening]:
    """Load the model and listen. The server lives as long as the returned object is referenced."""
    # Only this process may load llama.cpp, and only once it is sure to need it. The wheel has no type information.
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = config.model_path
    params.model_alias = {config.model_name}
    params.hostnames = ["127.0.0.1"]
    params.port = config.port
    params.api_keys = [config.api_key]
    params.cors_origins = ""
    params.cors_credentials = False
    params.cors_origins_explicit = True
    params.n_parallel = config.slots
    params.n_ctx = config.slots * config.context_tokens
    params.kv_unified = config.kv_unified  # copying a slot fails with one shared KV buffer
    params.cache_ram_mib = 0
    params.ctx_shift = False
    params.fit_params = False  # we fit slots and context to memory ourselves, and say so
    params.no_extra_bufts = True  # repacked weights load slower and crash some CPUs (AMX built by gcc 12)
    params.slot_save_path = config.slot_folder + os.sep
    params.endpoint_slots = True
    params.endpoint_metrics = True
    params.endpoint_props = False  # only gates changing properties; reading them is always possible
    params.use_jinja = True
    params.ui = False
    params.cpuparams.n_threads = config.threads
    params.cpuparams_batch.n_threads = config.threads
    server = xllamacpp.Server(params)
    return server, Listening(url=server.listening_address, version=f"xllamacpp {xllamacpp.__version__}")


def _die_with_parent(parent_pid: int) -> None:
    """Ask the kernel to end us with our parent (Linux); elsewhere the end of standard input does it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent_pid:  # it died before the line above
        sys.exit(_PARENT_GONE)


def _prefer_as_oom_victim() -> None:
    """When memory runs out, the engine should be ended rather than the process that can report it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def _stop_at_end_of_input(stop: Callable[[], NoReturn]) -> None:
    while sys.stdin.buffer.read(4096):
        pass
    stop()


def _rotate(log_path: Path) -> None:
    """Keep the log bounded: one older part is kept beside the current one."""
    with contextlib.suppress(OSError):
        if log_path.stat().st_size < _LOG_LIMIT_BYTES:
            return
        log_path.replace(log_path.with_suffix(".old.log"))
        fresh = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(fresh, 1)
        os.dup2(fresh, 2)
        os.close(fresh)


if __name__ == "__main__":
    main()
