"""Which engine a command talks to: an address that the user names, or the embedded one."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from repertory.engines.protocol import Engine
from repertory.errors import EngineRejectedError, EngineUnavailableError

__all__ = (
    "ApiKeyOption",
    "ContextOption",
    "EngineChoice",
    "EngineUrlOption",
    "ModelOption",
    "SlotCacheOption",
    "open_engine",
)

EngineUrlOption = Annotated[
    str | None,
    typer.Option(
        "--engine-url",
        metavar="URL",
        envvar="REPERTORY_ENGINE_URL",
        help="An engine that already runs (vLLM, SGLang, llama-server, Ollama, LM Studio ...), such as "
        "http://127.0.0.1:8000/v1. Without it the embedded llama.cpp is started.",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model of the engine at --engine-url; or, for the embedded engine, a model of `repertory models list` "
        "or a GGUF file. Default: chosen by memory and cores.",
    ),
]
ApiKeyOption = Annotated[
    str | None,
    typer.Option(
        "--engine-key", metavar="KEY", envvar="REPERTORY_ENGINE_KEY", help="Bearer key of the engine at --engine-url."
    ),
]
ContextOption = Annotated[
    int,
    typer.Option("--context", min=1024, metavar="TOKENS", help="Context per agent on the embedded engine, in tokens."),
]
SlotCacheOption = Annotated[
    float | None,
    typer.Option(
        "--slot-cache-gib",
        min=0.0,
        metavar="GIB",
        envvar="REPERTORY_SLOT_CACHE_GIB",
        help="Disk space for the computed prompts of sessions that may come back, on llama.cpp engines that Repertory "
        "starts; 0 keeps none. Default: what `up` was told, else 4 or a tenth of the free disk where that is less.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class EngineChoice:
    """What the user said about the engine.

    Attributes:
        url: Address of an engine that runs.
        model: Model there, or of the embedded engine.
        api_key: Key of the engine at `url`.
        context_tokens: Context per agent on the embedded engine.
        slot_cache_gib: Disk space for computed prompts that outlive an engine that we start; 0 keeps none, None takes
            the default.
    """

    url: str | None = None
    model: str | None = None
    api_key: str | None = None
    context_tokens: int = 8192
    slot_cache_gib: float | None = 0.0


async def _prove(engine: Engine, say: Callable[[str], None]) -> None:
    """What a probe has shown of this server counts more than its profile; `REPERTORY_PROBE=0` leaves the profile."""
    from repertory.engines.openai_compatible import OpenAIEngine
    from repertory.engines.proven import ProvenEngines
    from repertory.home import locate_home

    if isinstance(engine, OpenAIEngine) and os.environ.get("REPERTORY_PROBE", "1") != "0":
        await ProvenEngines(locate_home().probes).prove(engine, say=say)


@asynccontextmanager
async def open_engine(choice: EngineChoice, *, agents: int, say: Callable[[str], None]) -> AsyncGenerator[Engine]:
    """Connect to the chosen engine, or start the embedded one with a slot per agent.

    Args:
        choice: What the user said.
        agents: How many agents run at the same time at most.
        say: Gets sentences for the screen.

    Raises:
        RepertoryError: The engine can not be reached, its model not be had, or memory is too small.
    """
    from repertory.engines.connect import connect

    if choice.url is not None:
        engine = await connect(choice.url, model=choice.model, api_key=choice.api_key)
        try:
            say(f"using {engine.model} on {engine.profile.kind} at {choice.url}")
            await _prove(engine, say)
            yield engine
        finally:
            await engine.aclose()
        return

    from repertory.cli.model_download import fetch_model_async
    from repertory.engines.embedded import EmbeddedEngine, choose_default_model, keep_prefixes, machine_size
    from repertory.engines.profile import EngineKind

    name = choice.model
    if name is None:
        default = choose_default_model(*machine_size())
        name = default.model
        say(default.reason)
    path = await fetch_model_async(name)
    async with EmbeddedEngine.start(
        path,
        slots=agents,
        context_tokens=choice.context_tokens,
        model_name=Path(name).name.removesuffix(".gguf"),
        progress=say,
    ) as running:
        kept = await asyncio.to_thread(keep_prefixes, running, choice.slot_cache_gib)
        engine = await connect(running.url, api_key=running.api_key, kind=EngineKind.LLAMACPP, kept_prefixes=kept)
        try:
            yield engine
        except (EngineUnavailableError, EngineRejectedError):
            running.check()  # a dead process has the better reason in its log
            raise
        finally:
            await engine.aclose()
