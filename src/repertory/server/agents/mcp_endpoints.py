"""The MCP endpoints (streamable HTTP): `/mcp/NAME` for each deployed agent, with its tools.

Each request stands for itself: no session is kept, so that any server behind the same database can answer the next one.
"""

import asyncio
import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from fastapi import FastAPI, Request
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.routing import Route
from starlette.types import Message as Received
from starlette.types import Receive, Scope, Send

from repertory.errors import RepertoryError
from repertory.registry.conversation import Message, ReplyDone, ReplyText
from repertory.registry.manifest import AgentManifest, ToolDeclaration
from repertory.registry.registry import Loaded
from repertory.registry.result import CallResult
from repertory.server.agents.callers import MAX_BODY_BYTES, admitted, read_body
from repertory.server.agents.served_agents import ServedAgents
from repertory.serving.api_keys import Caller
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.gateway.wire_errors import GatewayError, as_gateway_error

__all__ = ("McpEndpoints",)

_Context = ServerRequestContext[Any, Request]
_KEPT = 64
_TALK_NAMES = ("chat", "converse", "talk_to_agent")
_MESSAGE_CHARS = 100_000


@dataclass
class _Ready:
    """One version's endpoint, and the task that keeps it open: until it is outdated and its last request has ended."""

    digest: str
    manager: StreamableHTTPSessionManager
    running: "asyncio.Task[None]"
    requests: int = 0
    outdated: bool = False

    def close_unused(self) -> None:
        if self.outdated and self.requests == 0:
            self.running.cancel()


class McpEndpoints:
    """Answers MCP requests.

    Args:
        agents: The agents.
        gateway: Whose limits hold.
    """

    def __init__(self, agents: ServedAgents, gateway: Gateway) -> None:
        self._agents = agents
        self._gateway = gateway
        self._ready: dict[str, _Ready] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._opening = asyncio.Lock()

    def mount(self, app: FastAPI) -> None:
        """Add the route."""
        app.router.routes.append(Route("/mcp/{name}", _Endpoint(self), include_in_schema=False))

    async def aclose(self) -> None:
        """Close all endpoints."""
        running = [*(ready.running for ready in self._ready.values()), *self._closing]
        self._ready.clear()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request.

        Raises:
            GatewayError: The key does not allow it, or there is no such agent.
        """
        request = Request(scope, receive)
        name = str(request.path_params["name"])
        if request.method != "POST":
            # Without sessions there is nothing that a stream could be told, and it would stay open for good.
            message = "this endpoint takes POST"
            raise GatewayError(message, status=405, code="method_not_allowed")
        request.state.caller = await admitted(request, name)
        loaded = await self._agents.answering(name)
        async with self._opening:
            ready = self._ready.get(name)
            if ready is None or ready.digest != loaded.version.digest:
                ready = await self._open(name, loaded)
            ready.requests += 1
        try:
            await ready.manager.handle_request(scope, await _whole(request, receive), send)
        finally:
            ready.requests -= 1
            ready.close_unused()

    async def _open(self, name: str, loaded: Loaded) -> _Ready:
        """An endpoint for a version; the one of the version before is closed."""
        outdated = [self._ready.pop(name)] if name in self._ready else []
        while len(self._ready) >= _KEPT:
            outdated.append(self._ready.pop(next(iter(self._ready))))
        for old in outdated:
            self._closing.add(old.running)
            old.running.add_done_callback(self._closing.discard)
            old.outdated = True
            old.close_unused()
        server = _server(self._agents, self._gateway, loaded)
        manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=MAX_BODY_BYTES
        )
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def run() -> None:
            async with manager.run():
                opened.set_result(None)
                await asyncio.Event().wait()

        ready = self._ready[name] = _Ready(loaded.version.digest, manager, asyncio.create_task(run()))
        await opened
        return ready


async def _whole(request: Request, receive: Receive) -> Receive:
    """What gives the SDK the body, which has come: the SDK would wait for it without an end.

    Raises:
        GatewayError: It is too large, or does not come.
    """
    waiting: list[Received] = [{"type": "http.request", "body": await read_body(request), "more_body": False}]

    async def give() -> Received:
        return waiting.pop() if waiting else await receive()

    return give


class _Endpoint:
    """Starlette hands an instance of a class the raw request, whatever its method."""

    def __init__(self, endpoints: McpEndpoints) -> None:
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoints.answer(scope, receive, send)


def _server(agents: ServedAgents, gateway: Gateway, loaded: Loaded) -> Server[Any]:
    """The agent as an MCP server."""
    manifest = loaded.package.manifest
    name = manifest.name
    talk = next((one for one in _TALK_NAMES if manifest.tool(one) is None), None) if manifest.conversation else None

    async def list_tools(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_tools(manifest, talk))

    async def call_tool(context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            if talk is not None and params.name == talk:
                return await _talk(agents, gateway, name, _message(params.arguments), _caller(context))
            if manifest.tool(params.name) is None:
                message = f"{name} has no tool {params.name[:80]!r}"
                raise MCPError(types.INVALID_PARAMS, message)
            version = loaded.version.version
            user = _caller(context).own_user
            arguments = params.arguments or {}
            return _result(await agents.calls.call(name, params.name, arguments, version, watched=True, user=user))
        except RepertoryError as error:
            return _failed(as_gateway_error(error).message)

    return Server(
        name,
        version=str(loaded.version.version),
        description=manifest.purpose,
        instructions=manifest.purpose,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tools(manifest: AgentManifest, talk: str | None) -> list[types.Tool]:
    tools = [_tool(tool) for tool in manifest.tools]
    if talk is not None:
        schema = {
            "type": "object",
            "properties": {"message": {"type": "string", "maxLength": _MESSAGE_CHARS}},
            "required": ["message"],
            "additionalProperties": False,
        }
        tools.append(
            types.Tool(name=talk, description=f"Talk to {manifest.name}. {manifest.purpose}", input_schema=schema)
        )
    return tools


def _tool(tool: ToolDeclaration) -> types.Tool:
    """A result may be any JSON value, and MCP wants an object: it stands under `result`."""
    output = {"type": "object", "properties": {"result": tool.output_schema}, "required": ["result"]}
    return types.Tool(
        name=tool.name, description=tool.description, input_schema=tool.input_schema, output_schema=output
    )


def _result(result: CallResult) -> types.CallToolResult:
    if result.error is not None:
        return _failed(f"{result.error.type}: {result.error.message}")
    text = json.dumps(result.result, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content={"result": result.result})


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)


async def _talk(
    agents: ServedAgents, gateway: Gateway, name: str, message: str, caller: Caller
) -> types.CallToolResult:
    words: list[str] = []
    done: ReplyDone | None = None
    async with aclosing(agents.reply(name, [Message("user", message)], caller.own_user)) as parts:
        async for part in parts:
            if isinstance(part, ReplyText):
                words.append(part.text)
            elif isinstance(part, ReplyDone):
                done = part
    if done is not None:
        gateway.spend(caller, done.prompt_tokens - done.cached_tokens + done.output_tokens)
    if done is None or done.status == "failed":
        return _failed(f"no reply: {done.reason if done is not None else 'it has no end'}")
    return types.CallToolResult(content=[types.TextContent(text="".join(words))])


def _message(arguments: dict[str, Any] | None) -> str:
    message = (arguments or {}).get("message")
    if not isinstance(message, str) or not message.strip() or len(message) > _MESSAGE_CHARS:
        raise MCPError(types.INVALID_PARAMS, f"`message` must be text of 1 to {_MESSAGE_CHARS:,} characters")
    return message


def _caller(context: _Context) -> Caller:
    """Who sent the request; it was let in before the SDK saw it."""
    caller = getattr(context.request.state, "caller", None) if context.request is not None else None
    if not isinstance(caller, Caller):
        raise MCPError(types.INVALID_REQUEST, "the request has no caller")
    return caller
