"""`repertory agents chat`: talk to a deployed agent in the terminal."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repertory.cli.engine_choice import ApiKeyOption, ContextOption, EngineChoice, EngineUrlOption, ModelOption
from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.safe_text import printable

if TYPE_CHECKING:
    from repertory.engines.protocol import Engine
    from repertory.registry.conversation import Conversations, Message

__all__ = ("agents_chat",)

_LONGEST_MESSAGE = 200_000


def agents_chat(
    label: Annotated[
        str, typer.Argument(metavar="AGENT[@VERSION]", help="Its name; without a version, the one that answers.")
    ],
    message: Annotated[
        str | None,
        typer.Option("--message", "-m", metavar="TEXT", help="Say this alone and end; `-` reads it from stdin."),
    ] = None,
    user: Annotated[str, typer.Option("--user", metavar="U", help="Who talks, for what is kept per user.")] = "me",
    engine_url: EngineUrlOption = None,
    model: ModelOption = None,
    engine_key: ApiKeyOption = None,
    context: ContextOption = 8192,
    as_json: JsonOption = False,
) -> None:
    """Talk to a deployed agent; one message a line, or one with --message.

    A model speaks for the agent and its tools run in the sandbox. A message that is a tool call in JSON, such as
    `{"tool": "c_to_f", "arguments": {"celsius": 20}}`, is carried out as it stands and starts no engine. The exit code
    is 1 when there was no reply.
    """
    from repertory.registry.registry import parse_label

    name, version = parse_label(label)
    choice = EngineChoice(url=engine_url, model=model, api_key=engine_key, context_tokens=context)
    said = sys.stdin.buffer.read(_LONGEST_MESSAGE).decode("utf-8", "replace") if message == "-" else message
    wish = _Wish(name, version, user, quiet=as_json)
    documents = asyncio.run(_chat(wish, said, choice))
    if as_json:
        emit_json(documents[0] if message is not None else {"replies": documents})
    if any(document["status"] == "failed" for document in documents):
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Wish:
    """Who talks with whom."""

    name: str
    version: int | None
    user: str
    quiet: bool


async def _chat(wish: _Wish, message: str | None, choice: EngineChoice) -> list[dict[str, Any]]:
    from repertory.registry.conversation import Message

    talked: list[Message] = []
    documents: list[dict[str, Any]] = []
    async with _conversations(choice) as conversations:
        await conversations.calls.answering(wish.name, wish.version)  # said before anything is typed
        while (text := message if message is not None else await asyncio.to_thread(_next_line)) is not None:
            if text in {"/quit", "/exit"}:
                break
            if text.strip() or message is not None:
                talked.append(Message("user", text))
                document = await _reply(conversations, wish, talked)
                talked.append(Message("assistant", document["reply"]))
                documents.append(document)
            if message is not None:
                break
    return documents


async def _reply(conversations: "Conversations", wish: _Wish, talked: "Sequence[Message]") -> dict[str, Any]:
    from repertory.registry.conversation import ReplyDone, ReplyText, ToolUse

    quiet = wish.quiet
    words: list[str] = []
    used: list[dict[str, Any]] = []
    done: ReplyDone | None = None
    async for part in conversations.reply(wish.name, talked, version=wish.version, user=wish.user):
        if isinstance(part, ReplyText):
            words.append(part.text)
            if not quiet:
                screen().print(printable(part.text), end="", markup=False, soft_wrap=True)
        elif isinstance(part, ToolUse):
            used.append(part.document())
            if not quiet:
                ended = part.result.error.type if part.result.error else "done"
                side().print(printable(f"[{part.tool}: {ended}]"), style="dim", markup=False)
        else:
            done = part
    if not quiet and words:
        screen().print()
    if done is None:  # the last part always is one
        message = "the reply has no end"
        raise RuntimeError(message)
    if done.reason is not None and not quiet:
        side().print(printable(f"{done.status}: {done.reason}"), style="yellow", markup=False)
    return {
        "agent": done.version,
        "reply": "".join(words),
        "status": done.status,
        "reason": done.reason,
        "tools": used,
        "tokens": {"prompt": done.prompt_tokens, "cached": done.cached_tokens, "output": done.output_tokens},
    }


@asynccontextmanager
async def _conversations(choice: EngineChoice) -> AsyncGenerator["Conversations"]:
    from repertory.registry.calls import AgentCalls
    from repertory.registry.conversation import Conversations
    from repertory.registry.registry import Registry
    from repertory.registry.runtime import AgentRuntime
    from repertory.registry.watch import AgentWatch
    from repertory.storage.store import Store

    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store.open())
        runtime = stack.enter_context(AgentRuntime(Registry(store), watch=AgentWatch(store)))
        opened: list[Engine] = []

        async def engine() -> "Engine":
            if not opened:
                opened.append(await stack.enter_async_context(_engine(choice)))
            return opened[0]

        yield Conversations(AgentCalls(runtime), engine)


@asynccontextmanager
async def _engine(choice: EngineChoice) -> AsyncGenerator["Engine"]:
    """The engine that the user names, else an instance that is up, else the embedded one."""
    from repertory.cli.engine_choice import open_engine
    from repertory.serving.instances.directory import InstanceDirectory
    from repertory.serving.instances.turn_engine import connect_instance

    def say(words: str) -> None:
        side().print(printable(words), style="dim", markup=False)

    directory = InstanceDirectory()
    named = choice.url is not None or choice.model is not None
    ready = [] if named else [instance for instance in directory.instances() if instance.ready]
    if not ready:
        async with open_engine(choice, agents=1, say=say) as engine:
            yield engine
        return
    running = await connect_instance(directory, ready[0])
    say(f"speaking through the running instance {ready[0].id} (`repertory status`)")
    try:
        yield running
    finally:
        await running.aclose()


def _next_line() -> str | None:
    """The next message; None at the end of input."""
    if sys.stdin.isatty():
        sys.stderr.write("\nyou> ")
        sys.stderr.flush()
    line = sys.stdin.buffer.readline(_LONGEST_MESSAGE)
    return line.decode("utf-8", "replace").strip() if line else None
