"""The A2A endpoints: `/a2a` for the server, `/a2a/NAME` for each deployed agent, and their cards."""

from importlib import metadata
from typing import cast

from a2a.auth.user import User
from a2a.server.agent_execution import RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import DefaultRequestHandlerV2
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from google.protobuf.json_format import MessageToDict

from repertory.errors import RepertoryError, UsageError
from repertory.registry.registry import Loaded
from repertory.server.agents.a2a.cards import agent_card, server_card
from repertory.server.agents.a2a.executor import AgentOf, Executor
from repertory.server.agents.a2a.tasks import RecentTasks
from repertory.server.agents.callers import admitted, may_use, read_body
from repertory.server.agents.served_agents import PREFIX, ServedAgents
from repertory.server.app import caller_of
from repertory.serving.api_keys import Caller
from repertory.serving.gateway.gateway import Gateway

__all__ = ("A2AEndpoints",)

_KEPT = 64
"""Agents whose endpoint is kept ready, with its recent tasks."""


class _KeyUser(User):
    """A caller as the SDK sees it: tasks belong to the key that began them."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self.caller.key_id or "local"


class _Contexts(DefaultServerCallContextBuilder):
    def build_user(self, request: Request) -> User:
        return _KeyUser(cast("Caller", request.state.caller))


class A2AEndpoints:
    """Answers A2A requests.

    Args:
        agents: The agents.
        gateway: Whose limits hold.
    """

    def __init__(self, agents: ServedAgents, gateway: Gateway) -> None:
        self._agents = agents
        self._gateway = gateway
        self._ready: dict[str, JsonRpcDispatcher] = {}

    def mount(self, app: FastAPI) -> None:
        """Add the routes."""
        app.add_api_route(AGENT_CARD_WELL_KNOWN_PATH, self._server_card, tags=["a2a"], summary="The server's A2A card.")
        app.add_api_route(
            "/a2a", self._server, methods=["POST"], tags=["a2a"], summary="A2A for the server (JSON-RPC)."
        )
        app.add_api_route(
            "/a2a/{name}" + AGENT_CARD_WELL_KNOWN_PATH, self._agent_card, tags=["a2a"], summary="An agent's A2A card."
        )
        app.add_api_route(
            "/a2a/{name}", self._agent, methods=["POST"], tags=["a2a"], summary="A2A for one agent (JSON-RPC)."
        )

    async def _server_card(self, request: Request) -> Response:
        """The card tells nobody more than the key that comes with the request allows."""
        try:
            caller = await caller_of(request)
        except RepertoryError:
            return _shown(self._card_of_server([], request))
        names = [name.removeprefix(PREFIX) for name in await self._agents.names()]
        return _shown(self._card_of_server(await self._loaded(names, caller), request))

    async def _agent_card(self, name: str, request: Request) -> Response:
        await admitted(request, name)
        return _shown(self._card(await self._agents.answering(name), request))

    async def _agent(self, name: str, request: Request) -> Response:
        request.state.caller = await admitted(request, name)
        loaded = await self._agents.answering(name)
        dispatcher = self._ready.get(name) or self._keep(name, self._card(loaded, request), lambda _: name)
        return await self._dispatch(dispatcher, request)

    async def _server(self, request: Request) -> Response:
        request.state.caller = caller = await caller_of(request)
        self._gateway.admit(caller)
        dispatcher = self._ready.get("") or self._keep("", self._card_of_server([], request), self._named)
        return await self._dispatch(dispatcher, request)

    def _named(self, context: RequestContext) -> str:
        """The agent that a message to the server names."""
        sources = [context.message] if context.message is not None else []
        named = [MessageToDict(source.metadata).get("agent") for source in sources]
        name = next((one for one in [*named, context.call_context.tenant] if isinstance(one, str) and one), None)
        if name is None:
            hint = 'put `{"agent": NAME}` into the message\'s metadata; the skills of the card are the names'
            raise UsageError("the message names no agent", hint=hint)
        caller = cast("_KeyUser", context.call_context.user).caller
        if not may_use(caller, name):
            message = f"this key may not use the agent {name[:80]!r}"
            raise UsageError(message)
        return name

    def _keep(self, name: str, card: AgentCard, agent_of: AgentOf) -> JsonRpcDispatcher:
        """An endpoint with its tasks. A new version of the agent goes on with the tasks of the one before."""
        while len(self._ready) >= _KEPT:
            self._ready.pop(next(iter(self._ready)))
        tasks = RecentTasks()
        handler = DefaultRequestHandlerV2(Executor(self._agents, tasks, agent_of, _user_of, self._spend), tasks, card)
        dispatcher = JsonRpcDispatcher(handler, _Contexts(), enable_v0_3_compat=True)
        self._ready[name] = dispatcher
        return dispatcher

    def _spend(self, context: ServerCallContext, tokens: int) -> None:
        self._gateway.spend(cast("_KeyUser", context.user).caller, tokens)

    async def _dispatch(self, dispatcher: JsonRpcDispatcher, request: Request) -> Response:
        body = await read_body(request)

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": body, "more_body": False}

        return await dispatcher.handle_requests(Request(request.scope, receive))

    async def _loaded(self, names: list[str], caller: Caller) -> list[Loaded]:
        found: list[Loaded] = []
        for name in names:
            if may_use(caller, name):
                try:
                    found.append(await self._agents.answering(name))
                except RepertoryError:
                    continue  # it can not answer: then it is no skill
        return found

    def _card(self, loaded: Loaded, request: Request) -> AgentCard:
        url = f"{_base(request)}/a2a/{loaded.version.agent}"
        return agent_card(loaded, url, needs_keys=self._gateway.access.needs_keys)

    def _card_of_server(self, agents: list[Loaded], request: Request) -> AgentCard:
        version = metadata.version("repertory")
        return server_card(agents, f"{_base(request)}/a2a", version, needs_keys=self._gateway.access.needs_keys)


def _user_of(context: ServerCallContext) -> str:
    return cast("_KeyUser", context.user).caller.own_user


def _base(request: Request) -> str:
    """The address by which the client reached us; its host has been checked."""
    return str(request.base_url).rstrip("/")


def _shown(card: AgentCard) -> Response:
    return JSONResponse(agent_card_to_dict(card), headers={"cache-control": "no-cache"})
