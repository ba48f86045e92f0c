"""Whether an engine really serves: proven by a token that it generates, not by an open port."""

from dataclasses import dataclass

from repertory.engines.failures import error_text
from repertory.engines.http import EngineClient, EngineTimeouts, Reply
from repertory.errors import EngineError, EngineTimeoutError, EngineUnavailableError

__all__ = ("Readiness", "is_healthy", "try_generation")

_HEALTH_S = 5.0
_GENERATION_S = 300.0
"""The first token of a large model on a processor can take minutes; the process is watched meanwhile."""


@dataclass(frozen=True)
class Readiness:
    """What an engine answered.

    Attributes:
        ready: It generated a token.
        loading: It does not listen yet, or says that it still loads: ask again.
        message: What it said, when it is neither.
    """

    ready: bool = False
    loading: bool = False
    message: str = ""


async def try_generation(url: str, api_key: str | None, model: str) -> Readiness:
    """Ask for health and, when that is well, for one token."""
    client = EngineClient(url, api_key=api_key, timeouts=EngineTimeouts(connect_s=2.0))
    try:
        health = await client.get("/health", within_s=_HEALTH_S)
        if health.status == 503:
            return Readiness(loading=True)
        if health.status not in {401, 403, 404, 405} and not health.ok:
            return Readiness(message=f"/health answers HTTP {health.status}: {error_text(health.text)}")
        chat: dict[str, object] = {
            "model": model,
            "messages": [{"role": "user", "content": "Say one word."}],
            "max_tokens": 1,
            "temperature": 0,
        }
        reply = await client.post("/v1/chat/completions", chat, within_s=_GENERATION_S)
        if reply.status in {400, 404, 422}:  # a base model without a chat template
            plain: dict[str, object] = {"model": model, "prompt": "1, 2, 3,", "max_tokens": 1, "temperature": 0}
            second = await client.post("/v1/completions", plain, within_s=_GENERATION_S)
            reply = second if second.ok else reply
        return _judge(reply)
    except (EngineUnavailableError, EngineTimeoutError):
        return Readiness(loading=True)
    except EngineError as error:
        # It broke off its answer: the process is most likely ending, and its log will say why.
        return Readiness(loading=True, message=error.message)
    finally:
        await client.aclose()


def _judge(reply: Reply) -> Readiness:
    if reply.status == 503:
        return Readiness(loading=True)
    if not reply.ok:
        return Readiness(message=f"its first answer failed (HTTP {reply.status}): {error_text(reply.text)}")
    fields = reply.fields()
    usage = fields.get("usage")
    told = usage.get("completion_tokens") if isinstance(usage, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - JSON
    if not fields.get("choices") or told == 0:
        return Readiness(message="its first answer holds no token")
    return Readiness(ready=True)


async def is_healthy(url: str, api_key: str | None) -> bool:
    """Whether an engine that was ready still answers. Servers without /health answer /v1/models."""
    client = EngineClient(url, api_key=api_key, timeouts=EngineTimeouts(connect_s=2.0))
    try:
        reply = await client.get("/health", within_s=_HEALTH_S * 2)
        if reply.status in {404, 405}:
            reply = await client.get("/v1/models", within_s=_HEALTH_S * 2)
        return reply.status < 500
    except EngineError:
        return False
    finally:
        await client.aclose()
