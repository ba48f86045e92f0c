"""The single checks of `repertory doctor`: what this machine has and lacks, and what to do about it."""

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Literal

from repertory.errors import RepertoryError
from repertory.home import Home

__all__ = ("CHECKS", "Check", "Finding", "check_engine_at")

_GIB = 1024**3

KNOWN_PORTS = {8000: "vLLM", 30000: "SGLang", 8080: "llama-server", 11434: "Ollama", 1234: "LM Studio"}
"""Where the engines listen by default."""


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        name: The check.
        status: `ok`; `warn` for something that is only needed by some; `fail` for what nothing works without.
        detail: What was found.
        fix: What to do about it; empty when nothing is to be done.
    """

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    fix: str = ""


Check = Callable[[Home], Awaitable[Sequence[Finding]]]


async def check_python(home: Home) -> Sequence[Finding]:
    """The interpreter and the package."""
    del home
    version = metadata.version("repertory")
    return [Finding("python", "ok", f"Python {sys.version.split()[0]}, repertory {version} in {sys.prefix}")]


async def check_devices(home: Home) -> Sequence[Finding]:
    """Cores, memory and GPUs."""
    del home
    from repertory.engines.embedded import choose_default_model, machine_size

    memory_bytes, cores = machine_size()
    choice = choose_default_model(memory_bytes, cores)
    found = [Finding("cpu", "ok", f"{cores} cores, {memory_bytes / _GIB:.1f} GiB of memory. {choice.reason}")]
    if shutil.which("nvidia-smi") is None and not os.access("/dev/kfd", os.F_OK):  # the driver's node for AMD GPUs
        found.append(
            Finding("gpu", "warn", "no GPU found", "the embedded engine runs on the CPU; that is slow but works")
        )
    else:
        found.append(Finding("gpu", "ok", await _run("nvidia-smi", "-L") if shutil.which("nvidia-smi") else "AMD GPU"))
    return found


async def check_home(home: Home) -> Sequence[Finding]:
    """The state folder: can it be written, and is there room?"""
    place = home.root
    while not place.exists():
        place = place.parent
    found: list[Finding] = []
    if not os.access(place, os.W_OK):
        found.append(
            Finding("home", "fail", f"{home.root} can not be written", "set REPERTORY_HOME to a folder of yours")
        )
    else:
        found.append(Finding("home", "ok", f"{home.root}"))
    free = shutil.disk_usage(place).free
    enough = free > 4 * _GIB
    found.append(
        Finding(
            "disk",
            "ok" if enough else "warn",
            f"{free / _GIB:.1f} GiB free at {place}",
            "" if enough else "a small model needs 1 to 2 GiB; REPERTORY_MODELS moves the model store alone",
        )
    )
    return found


async def check_database(home: Home) -> Sequence[Finding]:
    """The database opens and is up to date. It is not created by this check."""
    from repertory.storage.store import Store

    if not os.environ.get("REPERTORY_DATABASE") and not home.database.exists():
        return [Finding("database", "ok", f"none yet; the first turn makes {home.database}")]
    try:
        await asyncio.to_thread(lambda: Store.open().close())
    except RepertoryError as error:
        return [Finding("database", "fail", error.message, error.hint or "")]
    return [Finding("database", "ok", os.environ.get("REPERTORY_DATABASE", str(home.database)).split("@")[-1])]


async def check_embedded(home: Home) -> Sequence[Finding]:
    """The embedded engine's library loads (in a process of its own)."""
    del home
    code = "import xllamacpp; print(xllamacpp.__version__ if hasattr(xllamacpp, '__version__') else 'present')"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-c", code, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    if process.returncode == 0:
        version = metadata.version("xllamacpp")
        return [Finding("embedded engine", "ok", f"llama.cpp by xllamacpp {version}")]
    reason = err.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
    del out
    return [Finding("embedded engine", "fail", reason[0], "install it again: pip install --force-reinstall xllamacpp")]


async def check_models(home: Home) -> Sequence[Finding]:
    """Models on this machine."""
    from repertory.engines.embedded import choose_default_model, machine_size
    from repertory.engines.model_store import ModelStore

    present = await asyncio.to_thread(lambda: [entry.name for entry in ModelStore(home).present()])
    default = choose_default_model(*machine_size()).model
    if default in present:
        return [Finding("models", "ok", f"{', '.join(present)} in {home.models}")]
    have = f"{', '.join(present)}; " if present else ""
    return [Finding("models", "warn", f"{have}{default} is not here yet", f"repertory models pull {default}")]


async def check_running_engines(home: Home) -> Sequence[Finding]:
    """Engines that listen on their usual ports of this machine."""
    del home
    found: list[Finding] = []
    for port, name in KNOWN_PORTS.items():
        if _listens(port):
            found.extend(await check_engine_at(f"http://127.0.0.1:{port}", None, None, probe=False, guess=name))
    return found or [
        Finding("engines", "ok", "none on the usual ports; the embedded one is used unless --engine-url says")
    ]


async def check_port(home: Home) -> Sequence[Finding]:
    """The port of `repertory serve`."""
    del home
    if _listens(8700):
        return [Finding("port 8700", "warn", "something listens there", "`repertory serve` will need another port")]
    return [Finding("port 8700", "ok", "free")]


async def check_sandbox(home: Home) -> Sequence[Finding]:
    """Whether generated code is isolated on this host, found out by trying to get out."""
    del home
    from repertory.sandbox import Sandbox

    try:
        found = await asyncio.to_thread(Sandbox().isolation)
    except RepertoryError as error:
        return [Finding("sandbox", "warn", error.message, error.hint or "")]
    landlock = f"Landlock {found.landlock}" if found.landlock else "no Landlock (each call starts a sandbox)"
    return [Finding("sandbox", "ok", f"bubblewrap, seccomp, {landlock}; {len(found.tried)} attempts to get out failed")]


async def check_harnesses(home: Home) -> Sequence[Finding]:
    """Programs that can run agents in place of Repertory itself."""
    del home
    from repertory.runtime.harness.programs import CLAUDE_MINIMUM, find_programs

    found: list[Finding] = []
    for program in await asyncio.to_thread(find_programs):
        name = f"harness {program.name}"
        if program.path is None:
            found.append(Finding(name, "ok", "not installed; only teams that name it need it", program.install))
        elif program.too_old:
            least = ".".join(map(str, CLAUDE_MINIMUM))
            found.append(Finding(name, "warn", f"{program.version}, but {least} is needed", program.install))
        else:
            found.append(Finding(name, "ok", f"{program.version or 'version unknown'} at {program.path}"))
    return found


async def check_engine_at(
    url: str, model: str | None, api_key: str | None, *, probe: bool = True, guess: str = "engine"
) -> Sequence[Finding]:
    """Connect to an engine and, with `probe`, try what it can do."""
    from repertory.engines.connect import connect
    from repertory.engines.openai_compatible import OpenAIEngine
    from repertory.engines.profile import EngineKind
    from repertory.engines.proven import ProvenEngines
    from repertory.home import locate_home

    try:
        engine = await connect(url, model=model, api_key=api_key)
    except RepertoryError as error:
        return [Finding(f"{guess} at {url}", "fail" if probe else "warn", error.message, error.hint or "")]
    try:
        profile = engine.profile
        version = f" {profile.version}" if profile.version else ""
        found = [
            Finding(
                f"{profile.kind} at {url}",
                "ok",
                f"{profile.kind}{version} serves {engine.model}, context {engine.context_tokens} tokens",
            )
        ]
        if profile.kind is EngineKind.LLAMACPP:
            words = (
                "kept for llama.cpp engines that Repertory starts (`repertory up`); the disk of this one is not ours"
            )
            found.append(Finding("prompts of sessions that come back", "ok", words))
        if probe and isinstance(engine, OpenAIEngine):  # every adapter is one
            proven = ProvenEngines(locate_home().probes)
            result = await proven.prove(engine, say=lambda _: None, within_s=120.0, again=True)
            for check in result.checks if result is not None else ():
                status: Literal["ok", "warn"] = "ok" if check.status == "yes" else "warn"
                found.append(Finding(f"probe: {check.name}", status, _told(check.status, check.detail)))
        return found
    except RepertoryError as error:
        return [Finding(f"{guess} at {url}", "fail", error.message, error.hint or "")]
    finally:
        await engine.aclose()


def _told(status: str, detail: str) -> str:
    return f"{status}: {detail}" if detail else status


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def _run(*command: str) -> str:
    """What a command says, shortened to a line."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    return " ".join(out.decode("utf-8", "replace").split())[:200]


CHECKS: tuple[Check, ...] = (
    check_python,
    check_devices,
    check_home,
    check_database,
    check_embedded,
    check_models,
    check_running_engines,
    check_sandbox,
    check_harnesses,
    check_port,
)
