"""Who may come in: the host check and the keys, for every endpoint of the server."""

from collections.abc import Iterable

from repertory.serving.api_keys import LOCAL_CALLER, Caller, KeyRing
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.serving.host_check import HostCheck

__all__ = ("Access",)

_UNAUTHORISED = "give a key of `repertory keys create` as `Authorization: Bearer KEY` (or `x-api-key: KEY`)"


class Access:
    """Lets callers in.

    Args:
        hosts: Which hosts and origins requests may name.
        keys: The keys; None lets everybody in who reaches the address, which must then be a loopback one.
    """

    def __init__(self, hosts: HostCheck, keys: KeyRing | None) -> None:
        self._hosts = hosts
        self._keys = keys

    @property
    def needs_keys(self) -> bool:
        """Whether requests must carry a key."""
        return self._keys is not None

    def check_host(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Refuse requests that a web page sent, or that name another host.

        Raises:
            GatewayError: It is one of those.
        """
        refusal = self._hosts.refusal(headers)
        if refusal is not None:
            raise GatewayError(refusal, status=403, code="host_not_allowed")

    @property
    def keys(self) -> KeyRing | None:
        """The keys, where they are needed."""
        return self._keys

    async def caller(self, headers: Iterable[tuple[bytes, bytes]]) -> Caller:
        """Who sends the request.

        Raises:
            GatewayError: The key is missing, wrong, revoked or expired: which of these is not told.
            StorageError: The keys can not be read.
        """
        if self._keys is None:
            return LOCAL_CALLER
        presented = ""
        for name, value in headers:
            if name == b"authorization" and value[:7].lower() == b"bearer ":
                presented = value[7:].strip().decode("latin-1")
                break
            if name == b"x-api-key":
                presented = value.strip().decode("latin-1")
        caller = await self._keys.check(presented) if presented else None
        if caller is None:
            message = "the key is not valid" if presented else "this server wants a key"
            raise GatewayError(message, status=401, code="invalid_api_key", hint=_UNAUTHORISED)
        return caller
