"""An agent run by a program that speaks the Agent Client Protocol: OpenCode, Qwen Code, or any other."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import acp
from acp import RequestPermissionResponse
from acp.schema import AllowedOutcome, DeniedOutcome, EnvVariable, McpServerStdio

from repertory.errors import HarnessError
from repertory.runtime.harness.acp_programs import acp_start
from repertory.runtime.harness.process import MAX_ANSWER_BYTES, HarnessProcess, running
from repertory.runtime.harness.task import MODEL, HarnessTask

__all__ = ("AcpDriver",)

_END_S = 2.0
"""Seconds that a program which has closed its connection has to end."""


class AcpDriver:
    """Runs programs that speak the protocol.

    Args:
        installed: Names of the known programs that are installed.
    """

    def __init__(self, installed: Sequence[str] = ()) -> None:
        self._installed = tuple(installed)

    async def words(self, task: HarnessTask, env: Mapping[str, str]) -> AsyncGenerator[str]:
        """Run one; its words stream when it only answers, and come at the end when it works with tools."""
        start = acp_start(task.settings, self._installed)
        own = start.environment(task.walls.base_url, task.token, MODEL)
        async with running(task.command(start.argv, {**env, **own})) as program:
            client = _Listener(allows=task.tools)
            prompting = asyncio.create_task(_prompt(program, client, task))
            prompting.add_done_callback(lambda _: client.pieces.put_nowait(None))
            size = 0
            try:
                while (piece := await client.pieces.get()) is not None:
                    size += len(piece)
                    if size > MAX_ANSWER_BYTES:
                        raise HarnessError("the program wrote more than an answer can be")
                    if not task.tools:
                        yield piece
                reason = await prompting
            finally:
                prompting.cancel()
                await asyncio.gather(prompting, return_exceptions=True)
            if reason not in {"end_turn", "max_tokens"}:
                message = f"the program {start.argv[0]} ended the turn without an answer ({reason})"
                raise HarnessError(message)
            task.answer = client.last_message if task.tools else None


class _Listener:
    """Our side of the protocol: takes words, lets tools be used or not, and offers nothing else.

    Attributes:
        pieces: The words as they come; None when the turn is over.
        last_message: What was said since the last tool was used.
    """

    def __init__(self, *, allows: bool) -> None:
        self.pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self.last_message = ""
        self._allows = allows

    def on_connect(self, conn: object) -> None:
        """The connection is there."""

    async def session_update(self, session_id: str, update: Any, **_: object) -> None:  # noqa: ARG002 - the protocol's
        """Something happened in the session."""
        kind = getattr(update, "session_update", None)
        if kind == "tool_call":
            self.last_message = ""
        text = getattr(getattr(update, "content", None), "text", None)
        if kind == "agent_message_chunk" and isinstance(text, str) and text:
            self.last_message += text
            self.pieces.put_nowait(text)

    async def request_permission(
        self,
        session_id: str,  # noqa: ARG002 - the names are the protocol's
        tool_call: object,  # noqa: ARG002
        options: Sequence[Any],
        **_: object,
    ) -> RequestPermissionResponse:
        """May it use a tool? What it can do then is what the walls leave."""
        for option in options if self._allows else ():
            if str(getattr(option, "kind", "")).startswith("allow"):
                return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option.option_id))
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))


async def _prompt(program: HarnessProcess, client: _Listener, task: HarnessTask) -> str:
    """Open a session and carry the one prompt; gives the protocol's reason for its end.

    Raises:
        HarnessError: The program does not speak the protocol, or tells an error.
    """
    servers: list[Any] = []
    if task.board is not None:
        (command, *arguments), settings = task.walls.board_command()
        variables = [EnvVariable(name=name, value=value) for name, value in settings.items()]
        servers.append(McpServerStdio(name="blackboard", command=command, args=arguments, env=variables))
    connection: Any = acp.connect_to_agent(client, program.stdin, program.stdout)  # pyright: ignore[reportArgumentType] - the methods that are not offered are not called
    ended = asyncio.create_task(program.ended())
    talk = asyncio.create_task(_talk(connection, servers, task))
    try:
        await asyncio.wait({ended, talk}, return_when=asyncio.FIRST_COMPLETED)
        if not talk.done():
            raise program.failure("ended before it answered")
        return talk.result()
    except (acp.RequestError, ConnectionError, ValueError) as error:
        if isinstance(error, ConnectionError):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(ended), _END_S)
                raise program.failure("ended before it answered") from None
        message = f"the program told an error: {' '.join(str(error).split())[:300]}"
        raise HarnessError(message) from None
    finally:
        for one in (ended, talk):
            one.cancel()
        await asyncio.gather(ended, talk, return_exceptions=True)
        with contextlib.suppress(Exception):
            await connection.close()


async def _talk(connection: Any, servers: list[Any], task: HarnessTask) -> str:
    await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
    session = await connection.new_session(cwd=task.walls.work, mcp_servers=servers)
    reply = await connection.prompt(session_id=session.session_id, prompt=[acp.text_block(task.words)])
    return str(reply.stop_reason)
