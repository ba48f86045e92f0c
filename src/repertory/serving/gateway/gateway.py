"""The gateway: one address for all instances, teams and deployed agents, speaking OpenAI's and Anthropic's APIs.

It is a plain ASGI application. Nothing on the way of a request parses it into objects, and no framework is in between:
what is added to the engine's own latency is what this module and its neighbours do.
"""

import asyncio
import contextlib
import json
import logging
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from opentelemetry import trace

from repertory.errors import RepertoryError
from repertory.serving import telemetry
from repertory.serving.access import Access
from repertory.serving.api_keys import LOCAL_CALLER, Caller
from repertory.serving.gateway.call import Call, CallTimeouts, Outgoing
from repertory.serving.gateway.client import Client, Receive, Scope, Send
from repertory.serving.gateway.endpoints import ENDPOINTS, Endpoint
from repertory.serving.gateway.harness_runs import HarnessRun
from repertory.serving.gateway.incoming import Incoming, read_incoming, request_id
from repertory.serving.gateway.messages_api import translated_messages
from repertory.serving.gateway.model_list import answer_models, is_model_list
from repertory.serving.gateway.native_endpoints import has_endpoint
from repertory.serving.gateway.replica import Replica
from repertory.serving.gateway.routing import Route, RouteTable
from repertory.serving.gateway.run_requests import run_outgoing
from repertory.serving.gateway.sse_relay import EventRelay
from repertory.serving.gateway.turn_answers import answer_with_turn
from repertory.serving.gateway.turns import CarriesTurns, DeployedAgents, TurnTeams
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
        agents: Lets deployed agents answer; None when none do.
        limits: Sizes and times.
        metrics: Where requests are counted.
    """

    def __init__(
        self,
        upstreams: Sequence[Upstream],
        *,
        access: Access,
        teams: TurnTeams | None = None,
        agents: DeployedAgents | None = None,
        limits: GatewayLimits | None = None,
        metrics: GatewayMetrics | None = None,
    ) -> None:
        self.metrics = metrics or GatewayMetrics()
        self.access = access
        self.draining = False
        self._limits = limits or GatewayLimits()
        self._teams = teams
        self._agents = agents
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

    @property
    def busy(self) -> bool:
        """Whether a request is under way."""
        return bool(self._active)

    def handles(self, path: str) -> bool:
        """Whether a path is the gateway's."""
        return path in ENDPOINTS or is_model_list(path)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request whose host has been checked."""
        await self._carry(scope, receive, send, None)

    async def carry_run(self, scope: Scope, receive: Receive, send: Send, run: HarnessRun) -> None:
        """Answer one request of an agent's harness; its run decides what the request can not."""
        await self._carry(scope, receive, send, run)

    async def _carry(self, scope: Scope, receive: Receive, send: Send, run: HarnessRun | None) -> None:
        endpoint = ENDPOINTS.get(scope["path"])
        client = Client(scope, receive, send, _shape(endpoint, scope))
        self._active.add(client)
        try:
            with run.serving(client.stop) if run is not None else contextlib.nullcontext():
                await self._answer(client, endpoint, run)
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
        for carrier in (self._teams, self._agents):
            if carrier is not None:
                await carrier.drain()

    def admit(self, caller: Caller) -> None:
        """Count a request in against the limits of its key; for routes beside the gateway's.

        Raises:
            GatewayError: A limit is used up, or the server is shutting down.
        """
        if self.draining:
            raise _shutting_down()
        wait_s = self._rates.admit(caller)
        if wait_s > 0:
            message = "the key's limit of requests or tokens per minute is used up"
            raise GatewayError(message, status=429, code="rate_limit_exceeded", retry_after_s=wait_s)

    def spend(self, caller: Caller, tokens: int) -> None:
        """Take the tokens of a request that was admitted off the limit of its key."""
        self._rates.spend(caller, tokens)

    async def aclose(self) -> None:
        """Close the connections to all instances."""
        await self.table.aclose()

    async def _answer(self, client: Client, endpoint: Endpoint | None, run: HarnessRun | None) -> None:
        began = time.perf_counter()
        if self.draining:
            raise _shutting_down()
        scope = client.scope
        caller = LOCAL_CALLER if run is not None else await self.access.caller(scope["headers"])
        if endpoint is None:
            await answer_models(client, await self._visible(caller))
            return
        if scope["method"] != "POST":
            raise GatewayError("this endpoint takes POST", status=405, code="method_not_allowed")
        fresh = secrets.token_hex(8).encode()
        name = request_id(client.header(b"x-request-id"), fresh)
        client.headers.append((b"x-request-id", name))
        body = await client.read_body(limit=self._limits.body_bytes, within_s=self._limits.body_s)
        incoming = read_incoming(endpoint, body, caller)
        if run is not None:
            terms = run.terms
            incoming = replace(incoming, user=terms.user, priority=terms.priority)
            route = self.table.on_instance(terms.instance, f"{terms.team}/{terms.agent}")
            client.watch()
            await self._call(client, incoming, caller, route, name, began, run)
            return
        route = await self._route(incoming, caller)
        self.admit(caller)
        client.watch()
        if route.kind in {"team", "deployed"}:
            await self._turn(client, incoming, caller, route)
        else:
            await self._call(client, incoming, caller, route, name, began)

    async def _route(self, incoming: Incoming, caller: Caller) -> Route:
        name = incoming.model
        route = self.table.routes.get(name)
        if route is None:
            visible = await self._visible(caller)
            route = visible.get(name) or self.table.find(name, visible)
        if not caller.may_use(route.kind, route.name):
            message = f"this key may not use {route.name!r}"
            raise GatewayError(message, status=403, code="model_not_allowed", param="model")
        return route

    async def _visible(self, caller: Caller) -> dict[str, Route]:
        """All names that a caller may use."""
        deployed = await self._agents.names() if self._agents is not None else ()
        routes = {**self.table.routes, **{name: Route(name, "deployed") for name in deployed}}
        return {name: route for name, route in routes.items() if caller.may_use(route.kind, name)}

    async def _call(
        self,
        client: Client,
        incoming: Incoming,
        caller: Caller,
        route: Route,
        name: bytes,
        began: float,
        run: HarnessRun | None = None,
    ) -> None:
        span = self._start_span(client, incoming, caller)
        call = Call(
            client=client,
            route=route,
            share=(caller.key_id, incoming.user),
            priority=incoming.priority + route.priority,
            stream=incoming.stream,
            outgoing=lambda replica: self._outgoing(incoming, replica, run),
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
            if run is not None:
                run.spend(call.usage)
            self.metrics.requests.labels(route.name, incoming.endpoint.path, status).inc()
            if span.is_recording():
                _describe(span, call, status)
            span.end()

    async def _outgoing(self, incoming: Incoming, replica: Replica, run: HarnessRun | None) -> Outgoing:
        """The body for an instance: its own name for the model, and the counts asked for."""
        if run is not None:
            return run_outgoing(incoming, replica, run)
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
        carrier: CarriesTurns | None = self._teams if route.kind == "team" else self._agents
        if carrier is None:
            raise GatewayError("no team is served here", status=404, code="model_not_found", param="model")
        user = incoming.user or caller.own_user
        status = "cancelled"
        try:
            done = await answer_with_turn(carrier, client, replace(incoming, user=user), route.name)
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
