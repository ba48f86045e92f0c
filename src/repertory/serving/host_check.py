"""Keeps web pages from reaching a gateway that trusts the loopback address.

A page in a browser on this machine can send requests here. DNS rebinding makes them look as if they went to the page's
own host, so the `Host` header must be a name of ours; a plain cross-site form or fetch carries its page in `Origin`, so
that must be one of ours as well. What a page merely includes (an image, a script) carries no `Origin`, but browsers say
of it that it is `cross-site`; links that a person follows are let through.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

__all__ = ("HostCheck", "host_name")

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def host_name(header: str) -> str:
    """The host in a `Host` header, without port and brackets, in lower case; empty when it is none."""
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


class HostCheck:
    """Which hosts and origins requests may name.

    Args:
        allowed: Names beside the loopback ones; `*` allows every host (for a reverse proxy that checks them itself).
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        names = {name.lower().strip("[]") for name in allowed}
        self._any = "*" in names
        self._names = names | set(_LOOPBACK)
        self._seen: dict[bytes, bool] = {}

    def refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """Why a request is refused, None when it is not."""
        host = origin = site = mode = None
        for name, value in headers:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"sec-fetch-site":
                site = value
            elif name == b"sec-fetch-mode":
                mode = value
        if not self._any and not self._knows(host or b""):
            return "the Host header names another machine; if that is meant, allow it with --allowed-host"
        included = origin is None and site == b"cross-site" and mode != b"navigate" and not self._any
        if included or (origin is not None and not self._knows_origin(origin)):
            return "requests of other web pages are refused; allow the page's host with --allowed-host"
        return None

    def _knows(self, host: bytes) -> bool:
        known = self._seen.get(host)
        if known is None:
            known = host_name(host.decode("latin-1")) in self._names
            if len(self._seen) < 1000:
                self._seen[host] = known
        return known

    def _knows_origin(self, origin: bytes) -> bool:
        if self._any:
            return True
        scheme, mark, rest = origin.decode("latin-1").partition("://")
        return bool(mark) and scheme in {"http", "https"} and host_name(rest) in self._names
