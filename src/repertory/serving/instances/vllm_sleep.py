"""Puts a vLLM instance to sleep and wakes it, over its development endpoints (it must run with sleep mode enabled)."""

from repertory.engines.failures import error_text
from repertory.engines.http import EngineClient, EngineTimeouts, Reply
from repertory.errors import EngineUnavailableError

__all__ = ("fall_asleep", "is_asleep", "wake_up")

_SLEEP_S = 300.0
_DEFAULT_LEVEL = 1
"""Weights go to main memory, the KV cache is dropped. Level 2 drops the weights as well; they are then read again."""


def _client(url: str, api_key: str | None) -> EngineClient:
    return EngineClient(url, api_key=api_key, timeouts=EngineTimeouts(control_s=_SLEEP_S))


async def fall_asleep(url: str, api_key: str | None, *, level: int = _DEFAULT_LEVEL) -> None:
    """Free the devices.

    Raises:
        EngineUnavailableError: The engine refused or did not do it.
    """
    client = _client(url, api_key)
    try:
        _check(await client.post(f"/sleep?level={level}", {}), url, "sleep")
        if not _asleep(await client.get("/is_sleeping")):
            raise EngineUnavailableError("the engine said it would sleep, but does not", where=url)
    finally:
        await client.aclose()


async def wake_up(url: str, api_key: str | None, *, level: int = _DEFAULT_LEVEL) -> None:
    """Take the devices again.

    Raises:
        EngineUnavailableError: The engine refused or did not do it.
    """
    client = _client(url, api_key)
    try:
        if level == 1:
            _check(await client.post("/wake_up", {}), url, "wake up")
        else:
            _check(await client.post("/wake_up?tags=weights", {}), url, "wake up")
            _check(await client.post("/collective_rpc", {"method": "reload_weights"}), url, "read its weights again")
            _check(await client.post("/wake_up?tags=kv_cache", {}), url, "wake up")
        if _asleep(await client.get("/is_sleeping")):
            raise EngineUnavailableError("the engine said it would wake up, but sleeps on", where=url)
    finally:
        await client.aclose()


async def is_asleep(url: str, api_key: str | None) -> bool:
    """Whether the engine sleeps.

    Raises:
        EngineUnavailableError: Nothing answers.
    """
    client = _client(url, api_key)
    try:
        return _asleep(await client.get("/is_sleeping"))
    finally:
        await client.aclose()


def _asleep(reply: Reply) -> bool:
    return reply.fields().get("is_sleeping") is True


def _check(reply: Reply, url: str, what: str) -> None:
    if not reply.ok:
        message = f"the engine did not {what} (HTTP {reply.status}): {error_text(reply.text)}"
        hint = "start it with --enable-sleep-mode" if reply.status == 404 else None
        raise EngineUnavailableError(message, where=url, hint=hint)
