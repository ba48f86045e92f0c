"""Conversations with deployed agents: a model speaks for the agent, and its tools run in the sandbox."""

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from repertory.engines.protocol import ChatMessage, Engine
from repertory.errors import ContextBudgetError, UsageError
from repertory.registry.calls import AgentCalls
from repertory.registry.conversation.parts import Message, ReplyDone, ReplyPart, ReplyText, ToolUse
from repertory.registry.conversation.prompt import ask_reply, is_form, may_be_form, opening, told_use
from repertory.registry.conversation.steps import ModelSteps, Written
from repertory.registry.conversation.written_call import WrittenCall, read_written_call
from repertory.registry.registry import Loaded
from repertory.runtime.structured import GrammarHealth

__all__ = ("Conversations", "EngineSource")

EngineSource = Callable[[], Awaitable[Engine]]
"""Gives the instance that speaks for an agent; asked only when a model is needed."""

_MOST_CALLS = 8
"""Tools that one reply may call."""
_REPLY_TOKENS = 1024
_WITHIN_S = 600.0


@dataclass(frozen=True)
class CallTerms:
    """What holds for every tool that one reply calls.

    Attributes:
        watched: Whether its end counts for or against the version.
        user: Who it is for.
    """

    watched: bool
    user: str | None


@dataclass
class Conversations:
    """Replies of deployed agents.

    Args:
        calls: Runs their tools.
        engine: Gives the instance that speaks for them.
        within_s: How long one reply may take.
        most_calls: How many tools one reply may call.
    """

    calls: AgentCalls
    engine: EngineSource
    within_s: float = _WITHIN_S
    most_calls: int = _MOST_CALLS
    _health: dict[str, GrammarHealth] = field(default_factory=dict[str, GrammarHealth])

    async def reply(
        self, name: str, messages: Sequence[Message], *, version: int | None = None, user: str | None = None
    ) -> AsyncGenerator[ReplyPart]:
        """Reply to the last message; the last part is a `ReplyDone`.

        A message that is a tool call written as JSON is carried out as it stands, without a model. Closing the
        generator ends the generation; a tool that runs ends by its own limits.

        Args:
            name: The agent.
            messages: The conversation so far, the person's newest message last.
            version: A version; None takes the one that answers.
            user: Who the agent talks with, for what it keeps per user.

        Raises:
            UsageError: There is no such agent, version or tool, or nothing was said.
            RegistryError: None is live.
            PackageError: Its package is not what was signed.
            SandboxError: This host can not isolate.
            ContextBudgetError: The message does not fit the model's context.
            EngineError: The engine could not be had, or can not count.
        """
        if not messages or messages[-1].role != "user" or not messages[-1].text.strip():
            raise UsageError("there is no message to reply to", hint="say something")
        loaded = await self.calls.answering(name, version)
        terms = CallTerms(watched=version is None, user=user)
        written = read_written_call(messages[-1].text, loaded.package.manifest)
        if written is not None:
            async for part in self._carry_out(loaded, written, terms):
                yield part
            return
        engine = await self.engine()
        health = self._health.setdefault(engine.model, GrammarHealth())
        reply = _Reply(self, loaded, engine, health, terms)
        async with aclosing(reply.parts(messages)) as parts:
            async for part in parts:
                yield part

    async def _carry_out(self, loaded: Loaded, call: WrittenCall, terms: CallTerms) -> AsyncGenerator[ReplyPart]:
        use = await self.use(loaded, call.tool, call.arguments, terms)
        yield use
        error = use.result.error
        yield ReplyText(json.dumps(use.result.document() if error else use.result.result, ensure_ascii=False))
        reason = f"{error.type}: {error.message}" if error else None
        yield ReplyDone(loaded.version.label, "partial" if error else "complete", reason)

    async def use(self, loaded: Loaded, tool: str, arguments: dict[str, object], terms: CallTerms) -> ToolUse:
        """Call a tool in the sandbox."""
        version = loaded.version
        result = await self.calls.call(
            version.agent, tool, arguments, version.version, watched=terms.watched, user=terms.user
        )
        return ToolUse(tool, arguments, result)


class _Reply:
    """One reply that a model makes."""

    def __init__(
        self, conversations: Conversations, loaded: Loaded, engine: Engine, health: GrammarHealth, terms: CallTerms
    ) -> None:
        self._conversations = conversations
        self._terms = terms
        self._loaded = loaded
        self._engine = engine
        deadline = time.monotonic() + conversations.within_s
        reply_tokens = min(_REPLY_TOKENS, engine.context_tokens // 4)
        self._steps = ModelSteps(engine, loaded.package.manifest, deadline, health, reply_tokens)
        self._uses: list[ToolUse] = []
        self._problem: str | None = None
        self._said = False
        self._question = ""

    async def parts(self, messages: Sequence[Message]) -> AsyncGenerator[ReplyPart]:
        self._question = messages[-1].text.strip()
        prompt = await self._fitting(messages)
        steps = self._native(prompt) if self._steps.native else self._constrained(prompt)
        async with aclosing(steps) as parts:
            async for part in parts:
                self._said = self._said or (isinstance(part, ReplyText) and bool(part.text.strip()))
                yield part
        status = "failed" if not self._said else "partial" if self._problem else "complete"
        reason = self._problem or (None if self._said else "the model wrote nothing")
        yield ReplyDone(self._loaded.version.label, status, reason, tuple(self._steps.usage))

    async def _constrained(self, prompt: list[ChatMessage]) -> AsyncGenerator[ReplyPart]:
        """Tools chosen by schema, one after the other, then the reply."""
        while self._loaded.package.manifest.tools and self._may_call():
            chosen = await self._steps.choose(prompt, self._question, self._uses)
            self._problem = self._problem or chosen.problem
            if chosen.tool is None or self._repeats(chosen.tool, chosen.arguments):
                break
            use = await self._use(prompt, chosen.tool, dict(chosen.arguments))
            yield use
        if self._uses:
            prompt = [*prompt, ChatMessage("user", ask_reply(self._question))]
        for last in (False, True):
            held = ""
            async with aclosing(self._steps.write(prompt, with_tools=False)) as texts:
                async for text in texts:
                    if isinstance(text, Written):
                        self._problem = self._problem or text.problem
                    elif self._said or not self._uses or not may_be_form(held + text):
                        yield ReplyText(held + text)
                        held = ""
                    else:
                        held += text
            if not is_form(held):
                yield ReplyText(held)
                return
            if last or time.monotonic() >= self._steps.deadline:
                # Two times a form instead of words: the person gets what the tools returned, which is what they asked.
                yield ReplyText(_results(self._uses))
                return

    async def _native(self, prompt: list[ChatMessage]) -> AsyncGenerator[ReplyPart]:
        """Tools called in the engine's own way, until the model only writes."""
        more, with_tools = True, True
        while more:
            more, asked = False, False
            async with aclosing(self._steps.write(prompt, with_tools=with_tools and self._may_call())) as texts:
                async for text in texts:
                    if isinstance(text, str):
                        yield ReplyText(text)
                        continue
                    self._problem = self._problem or text.problem
                    asked = bool(text.calls)
                    for call in text.calls:
                        if self._may_call() and self._knows(call.name) and not self._repeats(call.name, call.arguments):
                            more = True
                            yield await self._use(prompt, call.name, dict(call.arguments))
            if asked and not more and with_tools:  # nothing of it can be called: it is led to its reply
                prompt.append(ChatMessage("user", ask_reply(self._question)))
                more, with_tools = True, False

    async def _use(self, prompt: list[ChatMessage], tool: str, arguments: dict[str, object]) -> ToolUse:
        use = await self._conversations.use(self._loaded, tool, arguments, self._terms)
        self._uses.append(use)
        prompt.append(told_use(use))
        return use

    def _may_call(self) -> bool:
        return len(self._uses) < self._conversations.most_calls and time.monotonic() < self._steps.deadline

    def _repeats(self, tool: str, arguments: Mapping[str, object]) -> bool:
        """Whether a call was made already: a model that goes in circles is led to its reply."""
        return any(use.tool == tool and dict(use.arguments) == dict(arguments) for use in self._uses)

    def _knows(self, tool: str) -> bool:
        known = self._loaded.package.manifest.tool(tool) is not None
        if not known:
            self._problem = self._problem or "the model asked for a tool that there is not"
        return known

    async def _fitting(self, messages: Sequence[Message]) -> list[ChatMessage]:
        """The prompt with as much of the conversation as the model can read, the oldest left out first."""
        engine, kept = self._engine, list(messages)
        room = engine.context_tokens - self._steps.reply_tokens - engine.context_tokens // 8
        while True:
            prompt = opening(self._loaded.package.manifest, kept)
            tokens = await engine.count_tokens(prompt)
            if tokens <= room:
                return prompt
            if len(kept) == 1:
                message = f"the message and the agent's instructions have {tokens} tokens; {room} fit"
                hint = "write a shorter message, or serve the agent on an instance with more context"
                raise ContextBudgetError(message, where=self._loaded.version.label, hint=hint)
            # By halves, so that a long conversation does not cost a count for every message.
            kept = kept[max(1, len(kept) // 2) :]


def _results(uses: Sequence[ToolUse]) -> str:
    """The results of tools without a model's words."""
    told = (use.result.document() for use in uses)
    shown = (document.get("result", document.get("error")) for document in told)
    return "\n".join(
        f"{use.tool}: {json.dumps(value, ensure_ascii=False)}" for use, value in zip(uses, shown, strict=True)
    )
