"""The one HTTP client that all adapters use: typed errors, deadlines, no retries.

There is one retry layer in the whole system and it is in the runtime; this client sends every request exactly once.
"""

import ipaddress
import json
import math
import re
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import anyio
import httpx2

from repertory.engines.deadline import Deadline
from repertory.engines.failures import EngineFaultError, StreamIncompleteError, classify_failure
from repertory.engines.json_text import load_json
from repertory.errors import EngineTimeoutError, EngineUnavailableError, RepertoryError, UsageError

__all__ = ("ByteStream", "EngineClient", "EngineTimeouts", "Reply", "encode_json", "is_loopback")

_MAX_REPLY_BYTES = 64 * 1024 * 1024
_MAX_ERROR_BYTES = 64 * 1024
_PORTS = range(1, 65536)


@dataclass(frozen=True)
class EngineTimeouts:
    """How long what may take, in seconds. A request's own deadline bounds all of it.

    Attributes:
        connect_s: Until the connection stands.
        control_s: A small request: counting tokens, properties, slots.
        first_part_s: Until the first part of an answer (prefill, and the engine's own queue).
        stall_s: Between two parts of an answer.
        ending_s: After the reason of the end was told, until the stream ends.
        idle_check_s: After a cancel, until the engine's slot must be idle.
    """

    connect_s: float = 5.0
    control_s: float = 30.0
    first_part_s: float = 900.0
    stall_s: float = 120.0
    ending_s: float = 5.0
    idle_check_s: float = 2.0


@dataclass(frozen=True)
class Reply:
    """A whole answer to a small request."""

    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether the engine did what it was asked."""
        return 200 <= self.status < 300

    def json(self) -> object:
        """The body as JSON; None when it is none."""
        try:
            return load_json(self.text)
        except ValueError:
            return None

    def fields(self) -> dict[str, object]:
        """The body as a JSON object; empty when it is none."""
        value = self.json()
        return {str(name): item for name, item in value.items()} if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - JSON


class ByteStream:
    """The body of an open answer, read piece by piece."""

    def __init__(self, response: httpx2.Response, where: str) -> None:
        self._chunks = response.aiter_bytes()
        self._where = where
        self.content_type = response.headers.get("content-type", "")
        self.started = False

    async def read(self, *, within_s: float) -> bytes | None:
        """The next piece; None at the end.

        Raises:
            TimeoutError: Nothing came in time.
            EngineUnavailableError: The connection broke before the first byte.
            StreamIncompleteError: The connection broke later.
        """
        try:
            with anyio.fail_after(None if math.isinf(within_s) else within_s):
                chunk = await anext(self._chunks, None)
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            if self.started:
                message = f"the connection broke in the middle of the answer ({_reason(error)})"
                raise StreamIncompleteError(message, where=self._where) from error
            message = f"the connection broke before the answer began ({_reason(error)})"
            raise EngineFaultError(message, where=self._where) from error
        if chunk:
            self.started = True
        return chunk


class EngineClient:
    """Sends requests to one engine.

    Args:
        base_url: The engine's address, with or without a path; paths are appended to it.
        api_key: Sent as a bearer token.
        timeouts: How long what may take.
    """

    def __init__(self, base_url: str, *, api_key: str | None = None, timeouts: EngineTimeouts | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self.api_key = api_key
        self.timeouts = timeouts or EngineTimeouts()
        try:
            url = httpx2.URL(self.base_url)
        except httpx2.InvalidURL as error:
            message = f"not an address: {base_url!r}"
            raise UsageError(message, hint="write it as http://127.0.0.1:8000/v1") from error
        fits = url.scheme in {"http", "https"} and re.fullmatch(r"[^\s\[\]%]+", url.host)
        if not fits or (url.port is not None and url.port not in _PORTS):
            message = f"not an address: {base_url!r}"
            raise UsageError(message, hint="write it as http://127.0.0.1:8000/v1")
        headers = {"Accept": "application/json, text/event-stream", "User-Agent": "repertory"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        self._client = httpx2.AsyncClient(
            headers=headers,
            # A proxy of the environment would hold connections to engines of this machine open after a cancel.
            trust_env=not is_loopback(url.host),
            follow_redirects=False,
            timeout=httpx2.Timeout(None, connect=self.timeouts.connect_s, write=self.timeouts.control_s),
            # No idle connections: llama.cpp closes one after a stream, and a request that meets the closing
            # connection fails without having been read. A connection costs far less than a generation.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
        )

    async def get(self, path: str, *, within_s: float | None = None) -> Reply:
        """Fetch one path. Every HTTP status is a reply; only a broken connection or a timeout raises."""
        return await self._small("GET", path, None, within_s)

    async def post(self, path: str, body: Mapping[str, object], *, within_s: float | None = None) -> Reply:
        """Post JSON to one path. Every HTTP status is a reply; only a broken connection or a timeout raises."""
        return await self._small("POST", path, body, within_s)

    async def ask(
        self, path: str, body: Mapping[str, object], *, within_s: float | None = None, with_schema: bool = False
    ) -> dict[str, object]:
        """Post JSON and return the JSON object answered; any other status is raised as its typed error."""
        reply = await self.post(path, body, within_s=within_s)
        if not reply.ok:
            raise self._failure(reply.status, reply.text, reply.headers, with_schema=with_schema)
        return reply.fields()

    @asynccontextmanager
    async def stream(
        self, path: str, body: Mapping[str, object], *, deadline: Deadline, with_schema: bool = False
    ) -> AsyncGenerator[ByteStream]:
        """Post JSON and read the answer as it comes. Leaving the block closes the connection.

        Raises:
            RepertoryError: The typed error of an answer that is not a success.
        """
        request = self._client.build_request("POST", self.base_url + path, content=encode_json(body), headers=_JSON)
        limit_s = min(deadline.remaining_s, self.timeouts.first_part_s)
        try:
            with self._mapped(), anyio.fail_after(limit_s):
                response = await self._client.send(request, stream=True)
        except TimeoutError:
            deadline.check("waiting for the engine's answer", where=self.base_url)
            message = f"no answer within {limit_s:g} s"
            raise EngineTimeoutError(message, where=self.base_url) from None
        try:
            if not response.is_success:
                with self._mapped(), anyio.move_on_after(min(deadline.remaining_s, self.timeouts.control_s)):
                    text = await _read_up_to(response, _MAX_ERROR_BYTES)
                    raise self._failure(response.status_code, text, response.headers, with_schema=with_schema)
                raise self._failure(response.status_code, "", response.headers, with_schema=with_schema)
            yield ByteStream(response, self.base_url)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _small(self, method: str, path: str, body: Mapping[str, object] | None, within_s: float | None) -> Reply:
        limit_s = self.timeouts.control_s if within_s is None else within_s
        content = None if body is None else encode_json(body)
        headers = None if body is None else _JSON
        request = self._client.build_request(method, self.base_url + path, content=content, headers=headers)
        try:
            with self._mapped(), anyio.fail_after(limit_s):
                response = await self._client.send(request, stream=True)
                try:
                    text = await _read_up_to(response, _MAX_REPLY_BYTES)
                finally:
                    with anyio.CancelScope(shield=True):
                        await response.aclose()
        except TimeoutError:
            message = f"no answer to {method} {path} within {limit_s:g} s"
            raise EngineTimeoutError(message, where=self.base_url) from None
        return Reply(response.status_code, text, response.headers)

    def _failure(self, status: int, text: str, headers: Mapping[str, str], *, with_schema: bool) -> RepertoryError:
        return classify_failure(
            status, text, where=self.base_url, with_schema=with_schema, retry_after=headers.get("retry-after")
        )

    @contextmanager
    def _mapped(self) -> Generator[None]:
        try:
            yield
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            message = f"nothing answers at {self.base_url} ({_reason(error)})"
            raise EngineUnavailableError(
                message, where=self.base_url, hint="start the engine, or correct the address"
            ) from error
        except httpx2.TimeoutException as error:
            message = f"the engine does not take the request ({_reason(error)})"
            raise EngineTimeoutError(message, where=self.base_url) from error
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            message = f"the connection broke before the engine answered ({_reason(error)})"
            raise EngineFaultError(message, where=self.base_url) from error


_JSON = {"Content-Type": "application/json; charset=utf-8"}


def encode_json(body: Mapping[str, object]) -> bytes:
    """JSON in UTF-8 with Unicode kept: escapes (backslash, u, four digits) cost the model tokens and understanding."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


async def _read_up_to(response: httpx2.Response, limit: int) -> str:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > limit:
            break
    return bytes(body[:limit]).decode("utf-8", "replace")


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
