"""Whether an instance has an endpoint itself: asked once, with an empty object that no endpoint takes."""

from repertory.serving.gateway.replica import Replica

__all__ = ("has_endpoint",)

_ABSENT = frozenset({404, 405, 501})
_PROBE_S = 10.0


async def has_endpoint(replica: Replica, path: str) -> bool:
    """Whether it is there. An endpoint that refuses `{}` is.

    Raises:
        RepertoryError: The instance does not answer.
    """
    known = replica.endpoints.get(path)
    if known is not None:
        return known
    headers = [(b"content-type", b"application/json"), *replica.authorization]
    connection = await replica.pool.send("POST", path, headers, b"{}", first_byte_s=_PROBE_S)
    try:
        while await connection.read():
            pass
    finally:
        connection.release()
    found = replica.endpoints[path] = connection.status not in _ABSENT
    return found
