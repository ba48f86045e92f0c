"""Reading an engine's answer: its first events, the whole of it, or its refusal."""

from repertory.engines.failures import StreamFrameError, StreamIncompleteError, classify_failure
from repertory.serving.gateway.engine_connection import EngineConnection
from repertory.serving.gateway.sse_relay import Relay
from repertory.serving.gateway.wire_errors import GatewayError, as_gateway_error

__all__ = ("first_events", "read_refusal", "read_whole")

_MAX_ANSWER_BYTES = 64 * 1024 * 1024


async def first_events(connection: EngineConnection, relay: Relay) -> bytes:
    """What can go to the client first.

    Raises:
        StreamIncompleteError: The stream ended, or broke, before there was any.
    """
    while data := await connection.read():
        ready = relay.feed(data)
        if ready:
            return ready
    raise StreamIncompleteError("the stream ended before its first event", where=connection.where)


async def read_whole(connection: EngineConnection, limit: int = _MAX_ANSWER_BYTES) -> bytes:
    """The body.

    Raises:
        StreamFrameError: It is larger than `limit`.
        StreamIncompleteError: The connection broke.
    """
    parts: list[bytes] = []
    size = 0
    while data := await connection.read():
        parts.append(data)
        size += len(data)
        if size > limit:
            message = f"the answer is larger than {limit // 2**20} MiB"
            raise StreamFrameError(message, where=connection.where)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def read_refusal(connection: EngineConnection) -> GatewayError:
    """The engine's refusal in our own shape: its words, a typed code, and a status that is true for the client."""
    status = connection.status
    body = await read_whole(connection, 1024 * 1024)
    retry_after = connection.headers.get(b"retry-after")
    told = classify_failure(
        status,
        body.decode("utf-8", "replace"),
        where=connection.where,
        retry_after=retry_after.decode("latin-1") if retry_after else None,
    )
    error = as_gateway_error(told)
    if status in {401, 403}:
        return GatewayError("the instance refuses the gateway's own key", status=502, code="engine_key_refused")
    if 400 <= status < 500:
        error = GatewayError(told.message, status=status, code=error.code, retry_after_s=error.retry_after_s)
    return error
