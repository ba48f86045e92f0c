"""Who may use a deployed agent beside the gateway's own endpoints, and how much."""

import asyncio

from fastapi import Request

from repertory.server.agents.served_agents import PREFIX
from repertory.server.app import caller_of
from repertory.serving.api_keys import Caller
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("admitted", "may_use", "read_body")

MAX_BODY_BYTES = 1024 * 1024
_BODY_S = 60.0


def may_use(caller: Caller, agent: str) -> bool:
    """Whether a caller may use an agent."""
    return caller.may_use("deployed", f"{PREFIX}{agent}")


async def admitted(request: Request, agent: str) -> Caller:
    """The caller of an agent, counted in against the limits of its key.

    Raises:
        GatewayError: The key is missing or not valid, does not allow the agent, or its limit is used up.
    """
    caller = await caller_of(request)
    if not may_use(caller, agent):
        message = f"this key may not use the agent {agent[:80]!r}"
        raise GatewayError(message, status=403, code="agent_not_allowed")
    gateway: Gateway = request.app.state.gateway
    gateway.admit(caller)
    return caller


async def read_body(request: Request, limit: int = MAX_BODY_BYTES, within_s: float = _BODY_S) -> bytes:
    """The body of a request.

    Raises:
        GatewayError: It is larger than `limit` bytes, or does not come within `within_s` seconds.
    """
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(within_s):
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    message = f"a body may have {limit:,} bytes"
                    raise GatewayError(message, status=413, code="body_too_large")
                parts.append(part)
    except TimeoutError:
        message = f"the body did not come within {within_s:g} s"
        raise GatewayError(message, status=408, code="body_timeout") from None
    return b"".join(parts)
