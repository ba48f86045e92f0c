"""Where the server listens, and how it stops: what runs may end, within a time, before the process does."""

import asyncio
import resource
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from repertory.engines.http import is_loopback
from repertory.errors import RepertoryError, UsageError
from repertory.server.head_deadline import HeadDeadlineProtocol
from repertory.serving.gateway.gateway import Gateway

__all__ = ("GatewayServer", "allow_many_connections", "check_exposure", "listening_socket")

_HEADER_BYTES = 32 * 1024
_AFTER_DRAIN_S = 10.0
_MAX_FILES = 65_536


def check_exposure(host: str, *, needs_keys: bool) -> None:
    """Refuse to listen where others can reach us while no key is asked for.

    Raises:
        UsageError: That would be so.
    """
    if not needs_keys and not is_loopback(host):
        message = f"without keys the server listens on this machine alone, not on {host!r}"
        hint = "make a key with `repertory keys create NAME` and add --keys; then every request must carry one"
        raise UsageError(message, hint=hint)


def allow_many_connections() -> None:
    """Use all the file descriptors we may have: every stream takes two, and many systems begin with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens. With port 0 the system chooses one.

    Raises:
        UsageError: The host has no address here.
        RepertoryError: The port is taken, or may not be used.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        message = f"there is no host {host!r} here"
        raise UsageError(message, hint="127.0.0.1 is this machine alone, 0.0.0.0 every network of it") from None
    listening = socket.socket(family, kind, proto)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        message = f"can not listen on {host} port {port}: {error.strerror or error}"
        raise RepertoryError(message, hint="is another server running there? --port names another one") from None
    listening.setblocking(False)
    return listening


class GatewayServer(uvicorn.Server):
    """uvicorn, which lets the gateway drain before it closes connections.

    Args:
        app: The application.
        gateway: What drains.
        drain_s: How long requests that run at the end may take.
        at_stop: Called when the stop begins, to end streams that would never end by themselves.
    """

    def __init__(
        self, app: FastAPI, gateway: Gateway, *, drain_s: float = 30.0, at_stop: Callable[[], None] | None = None
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=HeadDeadlineProtocol,
                access_log=False,
                log_level="warning",
                server_header=False,
                h11_max_incomplete_event_size=_HEADER_BYTES,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=int(_AFTER_DRAIN_S),
                backlog=2048,
                ws="none",
                lifespan="on",
            )
        )
        self._gateway = gateway
        self._drain_s = drain_s
        self._at_stop = at_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, drain, close."""
        for server in self.servers:
            server.close()
        if self._at_stop is not None:
            self._at_stop()
        draining = asyncio.ensure_future(self._gateway.drain(self._drain_s))
        while not draining.done() and not self.force_exit:  # a second Ctrl-C ends the waiting
            await asyncio.wait({draining}, timeout=0.2)
        draining.cancel()
        await super().shutdown(sockets)
