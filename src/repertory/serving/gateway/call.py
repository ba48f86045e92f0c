"""One request carried to an instance and its answer carried back."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from opentelemetry import trace

from repertory.engines.failures import StreamFrameError, StreamIncompleteError
from repertory.errors import EngineUnavailableError, RepertoryError
from repertory.serving.gateway.client import Client
from repertory.serving.gateway.engine_answer import first_events, read_refusal, read_whole
from repertory.serving.gateway.engine_connection import EngineConnection
from repertory.serving.gateway.fair_queue import QueueFullError, Share, Ticket
from repertory.serving.gateway.replica import Replica
from repertory.serving.gateway.routing import Route
from repertory.serving.gateway.sse_relay import EventRelay, Relay, UsageCount, read_usage
from repertory.serving.gateway.wire_errors import GatewayError, as_gateway_error
from repertory.serving.metrics import GatewayMetrics

__all__ = ("Call", "CallTimeouts", "Outgoing", "WholeReader")

_TRY_ELSEWHERE = frozenset({429, 502, 503, 504})
_STREAM = b"text/event-stream"


@dataclass(frozen=True)
class CallTimeouts:
    """How long what may take, in seconds.

    Attributes:
        queue_s: Waiting for a place at the instance.
        first_byte_s: Until the instance answers (prefill, and its own queue).
        stall_s: Between two parts of an answer.
    """

    queue_s: float = 600.0
    first_byte_s: float = 900.0
    stall_s: float = 120.0


WholeReader = Callable[[bytes], bytes]
"""Turns the engine's whole answer into the client's."""


@dataclass(frozen=True)
class Outgoing:
    """What is sent to an instance, which may depend on the instance (its model's name, its endpoints).

    Attributes:
        path: The endpoint.
        body: The body.
        relay: Made anew for each attempt; only for streams.
        whole: For whole answers that must be rewritten; None hands them on as they are.
    """

    path: str
    body: bytes
    relay: Callable[[], Relay] = EventRelay
    whole: WholeReader | None = None


@dataclass
class _Open:
    """An instance has begun to answer; from here on nothing can be sent elsewhere."""

    replica: Replica
    held: AsyncExitStack
    connection: EngineConnection
    relay: Relay | None = None
    first: bytes = b""
    body: bytes = b""


@dataclass
class Call:
    """One request.

    Args:
        client: Who is answered.
        route: Where it may go.
        share: Whose it is, for fair shares.
        priority: Lower goes first.
        stream: Whether the client wants events.
        outgoing: Makes what is sent to a given instance.
        metrics: Where it is counted.
        timeouts: How long what may take.
        began: When the request came, by `time.perf_counter`.
    """

    client: Client
    route: Route
    share: Share
    priority: int
    stream: bool
    outgoing: Callable[[Replica], Awaitable["Outgoing"]]
    metrics: GatewayMetrics
    timeouts: CallTimeouts
    request_id: bytes
    began: float
    span: trace.Span = trace.INVALID_SPAN
    usage: UsageCount = field(default_factory=UsageCount)
    events: int = 0
    attempts: int = 0
    instance: str = ""
    queued_s: float = 0.0
    first_token_s: float | None = None

    async def carry(self, prefix: bytes) -> None:
        """Send it, to the replicas in turn until one begins to answer, and hand its answer on.

        Args:
            prefix: The beginning of the prompt, by which a replica is chosen.

        Raises:
            RepertoryError: No replica answered, or one refused the request; nothing has reached the client.
        """
        opened = await self._open(self.route.ordered(prefix))
        try:
            if opened.relay is None:
                await self._hand_on_whole(opened)
            else:
                await self._hand_on_events(opened, opened.relay)
        finally:
            opened.connection.release()
            await opened.held.aclose()
            self._count(opened.replica)

    async def _open(self, replicas: Sequence[Replica]) -> _Open:
        failure: RepertoryError | None = None
        for number, replica in enumerate(replicas):
            if number:
                self.metrics.retries.labels(replica.upstream.id).inc()
            self.attempts = number + 1
            self.instance = replica.upstream.id
            last = number + 1 == len(replicas)
            try:
                opened = await self._attempt(replica, may_go_on=not last)
            except (EngineUnavailableError, StreamIncompleteError) as error:
                replica.failed()
                failure = error
                continue
            if opened is not None:
                return opened
        raise failure or EngineUnavailableError("no instance took the request")

    async def _attempt(self, replica: Replica, *, may_go_on: bool) -> _Open | None:
        held = AsyncExitStack()
        connection: EngineConnection | None = None
        try:
            held.callback(replica.queue.leave, await self._place(replica))
            if replica.upstream.hold is not None:
                replica.moved_to(await held.enter_async_context(replica.upstream.hold()))
            outgoing = await self.outgoing(replica)
            connection = await replica.pool.send(
                "POST", outgoing.path, self._headers(replica), outgoing.body, first_byte_s=self.timeouts.first_byte_s
            )
            opened = _Open(replica, held, connection)
            if connection.status in _TRY_ELSEWHERE and may_go_on:
                connection.release()
                await held.aclose()
                return None
            replica.answered()
            if connection.status >= 400:
                raise await read_refusal(connection)
            if self.stream and connection.headers.get(b"content-type", b"").startswith(_STREAM):
                opened.relay = outgoing.relay()
                opened.first = await first_events(connection, opened.relay)
            else:
                opened.body = await read_whole(connection)
                read_usage(opened.body, self.usage)
                if outgoing.whole is not None:
                    opened.body = outgoing.whole(opened.body)
        except BaseException:
            if connection is not None:
                connection.release()
            await held.aclose()
            raise
        return opened

    async def _place(self, replica: Replica) -> Ticket:
        entered = time.perf_counter()
        try:
            if replica.queue.waiting or replica.queue.inside >= replica.queue.limit:
                async with asyncio.timeout(self.timeouts.queue_s):
                    ticket = await replica.queue.enter(self.share, self.priority)
            else:
                ticket = await replica.queue.enter(self.share, self.priority)
        except TimeoutError:
            message = f"no place at the instance within {self.timeouts.queue_s:g} s"
            raise GatewayError(message, status=503, code="queue_timeout", retry_after_s=10) from None
        except QueueFullError:
            message = f"{replica.queue.max_waiting} requests wait for the instance already"
            raise GatewayError(message, status=503, code="queue_full", retry_after_s=10) from None
        self.queued_s += time.perf_counter() - entered
        return ticket

    def _headers(self, replica: Replica) -> list[tuple[bytes, bytes]]:
        headers = [
            (b"content-type", b"application/json"),
            (b"accept", _STREAM if self.stream else b"application/json"),
            (b"x-request-id", self.request_id),
            *replica.authorization,
        ]
        context = self.span.get_span_context()
        if context.is_valid:
            flags = "01" if context.trace_flags.sampled else "00"
            parent = f"00-{context.trace_id:032x}-{context.span_id:016x}-{flags}"
            headers.append((b"traceparent", parent.encode()))
        return headers

    async def _hand_on_whole(self, opened: _Open) -> None:
        self.first_token_s = time.perf_counter() - self.began
        await self.client.answer(opened.connection.status, opened.body, [self._told_instance()])

    async def _hand_on_events(self, opened: _Open, relay: Relay) -> None:
        client, connection = self.client, opened.connection
        meters = self.metrics.call(opened.replica.upstream.id, self.route.name)
        connection.stall_after(self.timeouts.stall_s)
        client.headers.append(self._told_instance())
        last = time.perf_counter()
        self.first_token_s = last - self.began
        self.usage = relay.usage
        try:
            await client.start_events()
            await client.write(opened.first)
            while data := await connection.read():
                ready = relay.feed(data)
                if ready:
                    now = time.perf_counter()
                    meters.between_tokens.observe(now - last)
                    last = now
                    await client.write(ready)
            if not relay.ended:
                raise StreamIncompleteError("the stream ended without its end", where=connection.where)
            await client.finish()
        except RepertoryError as error:
            opened.replica.failed()
            await client.fail(as_gateway_error(error))
        except ValueError as error:
            await client.fail(as_gateway_error(StreamFrameError(str(error))))
        except TimeoutError:
            client.left = True  # it reads nothing any more, so there is nobody to tell
        finally:
            self.events = relay.events

    def _told_instance(self) -> tuple[bytes, bytes]:
        return (b"x-repertory-instance", self.instance.encode("ascii", "replace"))

    def _count(self, replica: Replica) -> None:
        meters = self.metrics.call(replica.upstream.id, self.route.name)
        meters.queued.observe(self.queued_s)
        if self.first_token_s is not None:
            meters.first_token.observe(self.first_token_s)
        meters.duration.observe(time.perf_counter() - self.began)
        if self.usage.output is None and self.events:
            self.usage.output = self.events  # broken off before the engine told: one event is about one token
        if self.usage.prompt:
            meters.prompt_tokens.inc(self.usage.prompt)
        if self.usage.cached:
            meters.cached_tokens.inc(self.usage.cached)
        if self.usage.output:
            meters.output_tokens.inc(self.usage.output)
