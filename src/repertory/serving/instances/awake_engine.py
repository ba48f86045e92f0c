"""The adapter of an instance that serves now; a llama.cpp of ours keeps what it has computed of sessions."""

import asyncio
import json
from pathlib import Path

from repertory.engines.connect import connect
from repertory.engines.http import EngineClient
from repertory.engines.kept_prefixes import KeptPrefixes
from repertory.engines.open_kept import open_kept_prefixes
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import Engine
from repertory.errors import EngineUnavailableError
from repertory.serving.instances.directory import RunningInstance

__all__ = ("connect_awake",)

_KINDS = {"llama.cpp": EngineKind.LLAMACPP, "vllm": EngineKind.VLLM}
_LOOK_S = 5.0
_NO_BUILDS = frozenset({"", "b0-unknown"})
"""What a llama.cpp says that was built without knowing its version: any other would say the same."""


async def connect_awake(instance: RunningInstance, slot_cache_gib: float | None = None) -> Engine:
    """The adapter for an instance that serves now.

    Args:
        instance: The instance. Prefixes are kept for those that say where they save slots and do not take turns.
        slot_cache_gib: Disk space for kept prefixes; 0 keeps none, None takes what the instances were started with.

    Raises:
        EngineUnavailableError: It does not serve.
        EngineError: It does not answer as an engine.
    """
    if instance.url is None or not instance.ready:
        message = f"the instance {instance.id} does not serve"
        raise EngineUnavailableError(message, hint="`repertory status` says why")
    return await connect(
        instance.url,
        model=instance.model if instance.engine != "url" else instance.model or None,
        api_key=instance.api_key,
        kind=_KINDS.get(instance.engine),
        slot_folder=instance.slot_folder,
        kept_prefixes=await _kept(instance, slot_cache_gib),
    )


async def _kept(instance: RunningInstance, slot_cache_gib: float | None) -> KeptPrefixes | None:
    folder, budget = instance.slot_folder, instance.slot_cache_gib if slot_cache_gib is None else slot_cache_gib
    if folder is None or instance.takes_turns or budget == 0:
        return None
    build = await _build(instance)
    if build is None:
        return None

    def open_kept() -> KeptPrefixes | None:
        try:
            return open_kept_prefixes(
                Path(instance.checkpoint),
                build=build,
                settings=json.dumps(instance.arguments),
                slot_folder=folder,
                budget_gib=budget,
                home=instance.home,
            )
        except OSError:
            return None  # the file it was started from is not there any more: nobody can say what a state is of

    return await asyncio.to_thread(open_kept)


async def _build(instance: RunningInstance) -> str | None:
    """Which build of llama.cpp answers: it may be older than the program that is on the disk now."""
    if instance.build:
        return instance.build
    client = EngineClient(instance.url or "", api_key=instance.api_key)
    try:
        told = (await client.get("/props", within_s=_LOOK_S)).fields().get("build_info")
    finally:
        await client.aclose()
    return told if isinstance(told, str) and told not in _NO_BUILDS else None
