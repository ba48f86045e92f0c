"""`Idempotency-Key`: a request that is sent again, because its answer was lost, is carried out once."""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("Once",)

_T = TypeVar("_T")
_KEPT = 10_000
_KEPT_S = 24 * 3600.0


@dataclass
class _Entry(Generic[_T]):
    digest: str
    at: float
    answer: "asyncio.Future[_T]"


class Once(Generic[_T]):
    """Remembers answers by who asked and by the key they sent: ten thousand, for a day, until the server ends."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._entries: OrderedDict[tuple[str, str], _Entry[_T]] = OrderedDict()

    async def carry(self, who: str, key: str | None, body: str, carry: Callable[[], Awaitable[_T]]) -> _T:
        """Carry a request out, unless it was before; then its answer again.

        One that fails is forgotten: sent again, it is tried again.

        Args:
            who: Who asks; two of them never meet.
            key: The key they sent; None carries the request out.
            body: What is asked; the same key with another body is a mistake.
            carry: Carries it out.

        Raises:
            GatewayError: The key was used for something else.
        """
        if key is None:
            return await carry()
        self._drop_old()
        digest = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
        known = self._entries.get((who, key))
        if known is not None:
            if known.digest != digest:
                message = "this Idempotency-Key was used for another request"
                raise GatewayError(message, status=422, code="idempotency_key_reused")
            return await asyncio.shield(known.answer)
        answer: asyncio.Future[_T] = asyncio.get_running_loop().create_future()
        self._entries[(who, key)] = _Entry(digest, self._now(), answer)
        try:
            value = await carry()
        except BaseException as error:
            self._entries.pop((who, key), None)
            answer.set_exception(error if isinstance(error, Exception) else RuntimeError("the request was cut off"))
            answer.exception()  # nobody else may be waiting
            raise
        answer.set_result(value)
        return value

    def _drop_old(self) -> None:
        since = self._now() - _KEPT_S
        while self._entries and (len(self._entries) >= _KEPT or next(iter(self._entries.values())).at < since):
            self._entries.popitem(last=False)
