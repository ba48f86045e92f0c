"""The blackboard for programs that work with tools: an MCP server with the agent's reads and its write, and no more.

What is written is validated and becomes the agent's answer; it is committed as any other answer is, by the turn. A
write may name the version that it was made from, and is refused when that is not the one that stands.

The server runs in our process. Inside the walls there is a socket alone, which the program reaches by its standard
input and output.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import mcp_types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from repertory.engines.schema import validate
from repertory.runtime.harness.interface import AgentRun

__all__ = ("Board", "serving_board")

_LINE_BYTES = 4 * 1024 * 1024


class Board:
    """One agent's view of the blackboard in one call.

    Args:
        run: The agent.

    Attributes:
        written: The answer that it wrote; None for none.
        version: The version of its section that stands, its own writes counted.
    """

    def __init__(self, run: AgentRun) -> None:
        self._run = run
        self.written: Any = None
        self.version = run.version

    def tools(self) -> list[dict[str, Any]]:
        """The tools: name, description and schema of the arguments."""
        team, agent = self._run.team, self._run.agent
        nothing: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
        found: list[dict[str, Any]] = [
            {
                "name": f"read_{name}",
                "description": f"Read the section {name}. {team.sections[name].description}".strip(),
                "input_schema": nothing,
            }
            for name in sorted(self._run.reads)
            if name in team.sections
        ]
        write = {
            "type": "object",
            "properties": {
                "value": self._run.schema or {"type": "string"},
                "version": {"type": "integer", "description": "The version that this replaces, if you have read it."},
            },
            "required": ["value"],
            "additionalProperties": False,
        }
        about = f"Write the section {agent.writes}: this is your answer. {team.sections[agent.writes].description}"
        return [*found, {"name": f"write_{agent.writes}", "description": about.strip(), "input_schema": write}]

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Use a tool; gives its result and whether that is an error."""
        what, _, section = tool.partition("_")
        if what == "read" and section in self._run.reads:
            view = self._run.reads[section]
            return {"value": view.value, "version": view.version, "age_turns": view.age_turns}, False
        if what == "write" and section == self._run.agent.writes:
            return self._write(arguments)
        return {"error": f"you have no tool {tool[:80]!r}"}, True

    def _write(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        unknown = sorted(set(arguments) - {"value", "version"})
        if unknown or "value" not in arguments:
            return {"error": "give `value`, and `version` if you have read the section"}, True
        based_on = arguments.get("version")
        if based_on is not None and based_on != self.version:
            return {"error": f"version {based_on!r} is not the one that stands, which is {self.version}"}, True
        value = arguments["value"]
        if self._run.schema is None:
            problems = [] if isinstance(value, str) else ["`value` must be text"]
        else:
            problems = [problem.message for problem in validate(value, self._run.schema)]
        if problems:
            return {"error": "the value does not fit the section", "problems": problems[:10]}, True
        self.written, self.version = value, self.version + 1
        return {"version": self.version}, False

    def answer(self) -> str | None:
        """What was written, as the text of an answer."""
        if self.written is None or isinstance(self.written, str):
            return self.written
        return json.dumps(self.written, ensure_ascii=False)


@asynccontextmanager
async def serving_board(board: Board, socket: Path) -> AsyncGenerator[None]:
    """Serve a board on a socket inside the block."""
    server = _mcp_server(board)
    talks: set[asyncio.Task[None]] = set()

    def began(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.create_task(_talk(server, reader, writer))
        talks.add(talk)
        talk.add_done_callback(talks.discard)

    listening = await asyncio.start_unix_server(began, path=socket, limit=_LINE_BYTES)
    try:
        yield
    finally:
        listening.close()
        for talk in tuple(talks):
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)


def _mcp_server(board: Board) -> Server[Any]:
    async def list_tools(_context: object, _params: object) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=[mcp_types.Tool(**tool) for tool in board.tools()])

    async def call_tool(_context: object, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        result, is_error = board.call(params.name, params.arguments or {})
        text = mcp_types.TextContent(type="text", text=json.dumps(result, ensure_ascii=False))
        return mcp_types.CallToolResult(content=[text], structured_content=result, is_error=is_error)

    return Server("blackboard", on_list_tools=list_tools, on_call_tool=call_tool)


async def _talk(server: Server[Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection: a JSON message a line, each way."""
    lines, sink = cast("Any", _Lines(reader)), cast("Any", _Sink(writer))  # as much of a file as is asked for
    try:
        with contextlib.suppress(ConnectionError):
            async with stdio_server(lines, sink) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        writer.close()


class _Lines:
    """The lines that come in; one over the limit ends the talk."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> "_Lines":
        return self

    async def __anext__(self) -> str:
        try:
            line = await self._reader.readline()
        except (ConnectionError, ValueError):
            line = b""
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


class _Sink:
    """Where lines go out."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode("utf-8", "replace"))

    async def flush(self) -> None:
        await self._writer.drain()
