"""The gateway: one address in front of all instances and teams, speaking OpenAI's and Anthropic's APIs.

It is a plain ASGI application. Nothing on the way of a request parses it into objects, and no framework is in between:
what is added to the engine's own latency is what this module and its neighbours do.
"""

import asyncio
import contextlib
import json
import logging
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from opentelemetry import trace

from repertory.errors import RepertoryError
from repertory.serving import telemetry
from repertory.serving.access import Access
from repertory.serving.api_keys import Caller
from repertory.serving.gateway.call import Call, CallTimeouts, Outgoing
from repertory.serving.gateway.client import Client, Receive, Scope, Send
from repertory.serving.gateway.endpoints import ENDPOINTS, Endpoint
from repertory.serving.gateway.incoming import Incoming, read_incoming, request_id
from repertory.serving.gateway.messages_api import translated_messages
from repertory.serving.gateway.model_list import answer_models, is_model_list
from repertory.serving.gateway.native_endpoints import has_endpoint
from repertory.serving.gateway.replica import Replica
from repertory.serving.gateway.routing import Route, RouteTable
from repertory.serving.gateway.sse_relay import EventRelay
from repertory.serving.gateway.turn_answers import answer_with_turn
from repertory.serving.gateway.turns import TurnTeams
from repertory.serving.gateway.upstream import Upstream
from repertory.serving.gateway.wire_errors import ApiShape, GatewayError, as_gateway_error
from repertory.serving.metrics import GatewayMetrics
from repertory.serving.rate_limit import RateLimits

__all__ = ("Gateway", "GatewayLimits")

_log = logging.getLogger(__name__)
_COUNTS = b'"stream_options":{"include_usage":true}'


@dataclass(frozen=True)
class GatewayLimits:
    """Sizes and times.

    Attributes:
        body_bytes: The largest body of a request.
        body_s: How long a body may take to come.
        call: How long an instance may take.
    """

    body_bytes: int = 32 * 1024 * 1024
    body_s: float = 60.0
    call: CallTimeouts = field(default_factory=CallTimeouts)


class Gateway:
    """Answers requests under `/v1`.

    Args:
        upstreams: The instances.
        access: Who may come in.
        teams: Carries out the turns of teams; None when no team is served.
        limits: Sizes and times.
        metrics: Where requests are counted.
    """

    def __init__(
        self,
        upstreams: Sequence[Upstream],
        *,
        access: Access,
        teams: TurnTeams | None = None,
        limits: GatewayLimits | None = None,
        metrics: GatewayMetrics | None = None,
    ) -> None:
        self.metrics = metrics or GatewayMetrics()
        self.access = access
        self.draining = False
        self._limits = limits or GatewayLimits()
        self._teams = teams
        self._rates = RateLimits()
        self._active: set[Client] = set()
        self._one_ended = asyncio.Event()
        self._tracer = telemetry.tracer()
        self.table = RouteTable(())
        self.serve(upstreams)

    def serve(self, upstreams: Sequence[Upstream]) -> None:
        """Serve these instances from now on; those that were there before keep their queues and connections."""
        names = self._teams.names if self._teams is not None else ()
        before, self.table = self.table, RouteTable(upstreams, names, before=self.table)
        for replica in set(before.replicas) - set(self.table.replicas):
            replica.pool.close()
            self.metrics.forget(replica.upstream.id)
        for replica in self.table.replicas:
            queue = replica.queue
            self.metrics.watch(
                replica.upstream.id,
                lambda queue=queue: queue.inside,
                lambda queue=queue: queue.waiting,
                lambda replica=replica: 0.0 if replica.failing else 1.0,
            )

    @property
    def ready(self) -> bool:
        """Whether requests are taken and some instance answers."""
        return not self.draining and any(not replica.failing for replica in self.table.replicas)

    def handles(self, path: str) -> bool:
        """Whether a path is the gateway's."""
        return path in ENDPOINTS or is_model_list(path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request whose host has been checked."""
        endpoint = ENDPOINTS.get(scope["path"])
        client = Client(scope, receive, send, _shape(endpoint, scope))
        self._active.add(client)
        try:
            await self._answer(client, endpoint)
        except asyncio.CancelledError:
            if not client.left and client.stopped is None:
                raise
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            if client.stopped is not None:
                await client.fail(client.stopped)
        except RepertoryError as error:
            await client.fail(as_gateway_error(error))
        except Exception:  # noqa: BLE001 - whatever it is, the client gets an error of its API and not a broken answer
            _log.exception("a mistake in the gateway")
            await client.fail(GatewayError("a mistake in the gateway; its log says more", status=500, code="internal"))
        finally:
            client.close()
            self._active.discard(client)
            self._one_ended.set()
            if endpoint is not None and client.left:
                self.metrics.disconnects.labels("all").inc()

    async def drain(self, within_s: float) -> None:
        """Take nothing new, let what runs end, and end what still runs after `within_s` with a typed error."""
        self.draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self._active:
                    self._one_ended.clear()
                    await self._one_ended.wait()
        for client in list(self._active):
            client.stop(_shutting_down())
        if self._teams is not None:
            await self._teams.drain()

    async def aclose(self) -> None:
        """Close the connections to all instances."""
        await self.table.aclose()

    async def _answer(self, client: Client, endpoint: Endpoint | None) -> None:
        began = time.perf_counter()
        if self.draining:
            raise _shutting_down()
        scope = client.scope
        caller = await self.access.caller(scope["headers"])
        if endpoint is None:
            await answer_models(client, dict(self._visible(caller)))
            return
        if scope["method"] != "POST":
            raise GatewayError("this endpoint takes POST", status=405, code="method_not_allowed")
        fresh = secrets.token_hex(8).encode()
        name = request_id(client.header(b"x-request-id"), fresh)
        client.headers.append((b"x-request-id", name))
        body = await client.read_body(limit=self._limits.body_bytes, within_s=self._limits.body_s)
        incoming = read_incoming(endpoint, body, caller)
        route = self._route(incoming, caller)
        wait_s = self._rates.admit(caller)
        if wait_s > 0:
            message = "the key's limit of requests or tokens per minute is used up"
            raise GatewayError(message, status=429, code="rate_limit_exceeded", retry_after_s=wait_s)
        client.watch()
        if route.kind == "team":
            await self._turn(client, incoming, caller, route)
        else:
            await self._call(client, incoming, caller, route, name, began)

    def _route(self, incoming: Incoming, caller: Caller) -> Route:
        route = self.table.find(incoming.model, dict(self._visible(caller)))
        if not caller.may_use(route.kind, route.name):
            message = f"this key may not use {route.name!r}"
            raise GatewayError(message, status=403, code="model_not_allowed", param="model")
        return route

    def _visible(self, caller: Caller) -> Iterable[tuple[str, Route]]:
        return (item for item in self.table.routes.items() if caller.may_use(item[1].kind, item[0]))

    async def _call(
        self, client: Client, incoming: Incoming, caller: Caller, route: Route, name: bytes, began: float
    ) -> None:
        span = self._start_span(client, incoming, caller)
        call = Call(
            client=client,
            route=route,
            share=(caller.key_id, incoming.user),
            priority=incoming.priority + route.priority,
            stream=incoming.stream,
            outgoing=lambda replica: self._outgoing(incoming, replica),
            metrics=self.metrics,
            timeouts=self._limits.call,
            request_id=name,
            began=began,
            span=span,
        )
        status = "cancelled"
        try:
            await call.carry(incoming.prefix if len(route.replicas) > 1 else b"")
            status = str(client.status)
        except RepertoryError as error:
            status = str(as_gateway_error(error).status)
            raise
        finally:
            self._rates.spend(caller, call.usage.total)
            self.metrics.requests.labels(route.name, incoming.endpoint.path, status).inc()
            if span.is_recording():
                _describe(span, call, status)
            span.end()

    async def _outgoing(self, incoming: Incoming, replica: Replica) -> Outgoing:
        """The body for an instance: its own name for the model, and the counts asked for."""
        endpoint = incoming.endpoint
        if endpoint.shape is ApiShape.ANTHROPIC and not await has_endpoint(replica, endpoint.path):
            return translated_messages(incoming, replica)
        fields = incoming.fields
        served = json.dumps(replica.upstream.served_model).encode()
        if fields.raw("model") != served:
            fields = fields.with_value("model", served)
        if incoming.stream and endpoint.counts and "stream_options" not in fields.spans:
            fields = fields.with_member(_COUNTS)
            return Outgoing(endpoint.path, fields.body, _relay_without_counts)
        return Outgoing(endpoint.path, fields.body)

    async def _turn(self, client: Client, incoming: Incoming, caller: Caller, route: Route) -> None:
        if self._teams is None:
            raise GatewayError("no team is served here", status=404, code="model_not_found", param="model")
        # A key without a user of its own has a blackboard of its own: two keys never meet on one by leaving `user` out.
        user = incoming.user or (f"key:{caller.key_id}" if caller.key_id else "me")
        status = "cancelled"
        try:
            done = await answer_with_turn(self._teams, client, replace(incoming, user=user), route.name)
            status = str(client.status)
            self._rates.spend(caller, done.prompt_tokens - done.cached_tokens + done.output_tokens)
        except RepertoryError as error:
            status = str(as_gateway_error(error).status)
            raise
        finally:
            self.metrics.requests.labels(route.name, incoming.endpoint.path, status).inc()

    def _start_span(self, client: Client, incoming: Incoming, caller: Caller) -> trace.Span:
        parent = None
        if client.header(b"traceparent") is not None:
            parent = telemetry.remote_parent(client.scope["headers"])
        span = self._tracer.start_span(telemetry.SPAN_CALL, context=parent, kind=trace.SpanKind.SERVER)
        if span.is_recording():
            span.set_attribute(telemetry.OPERATION, incoming.endpoint.path.removeprefix("/v1/"))
            span.set_attribute(telemetry.MODEL, incoming.model)
            span.set_attribute(telemetry.STREAM, incoming.stream)
            span.set_attribute(telemetry.KEY_ID, caller.key_id)
        return span


def _shutting_down() -> GatewayError:
    return GatewayError("the server is shutting down", status=503, code="shutting_down", retry_after_s=5)


def _relay_without_counts() -> EventRelay:
    return EventRelay(drop_usage=True)


def _shape(endpoint: Endpoint | None, scope: Scope) -> ApiShape:
    if endpoint is not None:
        return endpoint.shape
    anthropic = any(name == b"anthropic-version" for name, _ in scope["headers"])
    return ApiShape.ANTHROPIC if anthropic else ApiShape.OPENAI


def _describe(span: trace.Span, call: Call, status: str) -> None:
    values: dict[str, str | int | float | None] = {
        telemetry.RESPONSE_STATUS: int(status) if status.isdigit() else None,
        telemetry.ERROR_TYPE: status if status != "200" else None,
        telemetry.INSTANCE: call.instance,
        telemetry.ATTEMPTS: call.attempts,
        telemetry.QUEUED_S: round(call.queued_s, 6),
        telemetry.TTFT_S: call.first_token_s,
        telemetry.INPUT_TOKENS: call.usage.prompt,
        telemetry.OUTPUT_TOKENS: call.usage.output,
        telemetry.CACHED_TOKENS: call.usage.cached,
    }
    for name, value in values.items():
        if value is not None:
            span.set_attribute(name, value)
