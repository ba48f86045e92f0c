"""Claude Code as an agent: one process a call, with a configuration folder that is empty and goes with it.

It is the user's own installation, never ours. It gets no key but the token of the call, no telemetry, no updates, and
none of the person's settings; its requests go to the gateway, where the agent's schema is enforced.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any, cast

from repertory.errors import HarnessError
from repertory.runtime.harness.process import MAX_ANSWER_BYTES, running
from repertory.runtime.harness.task import MODEL, SYSTEM, HarnessTask

__all__ = ("CLAUDE", "ClaudeCodeDriver", "claude_command")

CLAUDE = ("claude",)
"""The program, found on the path unless the agent's settings name another."""

_ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "MAX_THINKING_TOKENS": "0",
    "API_TIMEOUT_MS": "3600000",  # the turn's deadline ends it, not a guess about how fast the engine is
}


def claude_command(task: HarnessTask) -> list[str]:
    """The command line of one call; the task itself goes to its standard input."""
    words = [
        *(task.settings.command or CLAUDE), "-p", "--bare", "--model", MODEL, "--system-prompt", SYSTEM,
        "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--no-session-persistence",
        "--strict-mcp-config", "--disable-slash-commands",
    ]  # fmt: skip
    if not task.tools:
        return [*words, "--tools", ""]
    words += ["--permission-mode", "bypassPermissions"]  # what it may do is what the walls leave
    if task.board is not None:
        program, *arguments = (command := task.walls.board_command())[0]
        server = {"command": program, "args": arguments, "env": dict(command[1])}
        words += ["--mcp-config", json.dumps({"mcpServers": {"blackboard": server}})]
    return words


class ClaudeCodeDriver:
    """Runs Claude Code."""

    async def words(self, task: HarnessTask, env: Mapping[str, str]) -> AsyncGenerator[str]:
        """Run it; its words stream when it only answers, and come at the end when it works with tools."""
        own = {**_ENVIRONMENT, "ANTHROPIC_BASE_URL": task.walls.base_url, "ANTHROPIC_API_KEY": task.token}
        size = 0
        async with running(task.command(claude_command(task), {**env, **own})) as program:
            await program.give(task.words)
            async for line in program.stdout:
                size += len(line)
                if size > 16 * MAX_ANSWER_BYTES:  # every piece of text comes in an envelope
                    raise HarnessError("Claude Code wrote more than an answer can be")
                said = _read(line)
                if (text := _delta(said)) and not task.tools:
                    yield text
                if said.get("type") == "result":
                    task.answer = _result(said)
            code = await program.ended()
            if task.answer is None:
                raise program.failure("ended without an answer")
            if code != 0:
                raise program.failure("failed")


def _read(line: bytes) -> dict[str, Any]:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _delta(said: Mapping[str, Any]) -> str:
    """The piece of text in an event of its stream; empty for everything else."""
    if said.get("type") != "stream_event" or said.get("parent_tool_use_id") is not None:
        return ""
    match said.get("event"):
        case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": str(text)}}:
            return text
        case _:
            return ""


def _result(said: Mapping[str, Any]) -> str:
    """The answer.

    Raises:
        HarnessError: It tells an error instead.
    """
    answer = said.get("result")
    if said.get("is_error") or not isinstance(answer, str):
        why = answer if isinstance(answer, str) and answer else str(said.get("subtype", "no answer"))
        message = f"Claude Code gave no answer: {' '.join(why.split())[:300]}"
        raise HarnessError(message)
    return answer
