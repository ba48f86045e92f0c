"""The deployed agents of a server, for all of its faces: which there are, and what they reply."""

import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from anyio import to_thread

from repertory.errors import PackageError, RegistryError, SandboxError
from repertory.registry.calls import AgentCalls
from repertory.registry.conversation import Conversations, EngineSource, Message, ReplyDone, ReplyPart, ReplyText
from repertory.registry.registry import Loaded, Registry
from repertory.serving.gateway.turns import TurnDone, TurnPart, TurnRequest, TurnText
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("PREFIX", "ServedAgents")

PREFIX = "agent:"
"""Comes before an agent's name where models are named."""
_FRESH_S = 1.0
"""How old the list of agents may be: a promoted one is listed, a retired one refused, within this time."""


class ServedAgents:
    """Deployed agents behind the server's faces.

    Args:
        registry: Where they are.
        calls: Runs their tools and routes.
        engine: Gives the instance that speaks for them.
    """

    def __init__(self, registry: Registry, calls: AgentCalls, engine: EngineSource) -> None:
        self.calls = calls
        self._registry = registry
        self._conversations = Conversations(calls, engine)
        self._replies = 0
        self._names: tuple[str, ...] = ()
        self._read_at = float("-inf")

    @property
    def busy(self) -> bool:
        """Whether a reply is under way."""
        return self._replies > 0

    async def names(self) -> Sequence[str]:
        """The names in requests, `agent:NAME`, of the agents that answer now."""
        if time.monotonic() - self._read_at > _FRESH_S:
            names = await to_thread.run_sync(self._registry.live_names)
            self._names = tuple(f"{PREFIX}{name}" for name in names)
            self._read_at = time.monotonic()
        return self._names

    async def answering(self, name: str) -> Loaded:
        """The version that answers for an agent.

        Raises:
            GatewayError: There is none, or it can not answer.
        """
        if f"{PREFIX}{name}" not in await self.names():
            message = f"there is no agent {name[:80]!r} that answers"
            raise GatewayError(message, status=404, code="agent_not_found", hint="`repertory agents list` shows them")
        try:
            return await self.calls.answering(name)
        except (RegistryError, PackageError) as error:
            raise unavailable(name, error) from None

    async def reply(self, name: str, messages: Sequence[Message], user: str) -> AsyncGenerator[ReplyPart]:
        """Reply to the last message; the last part is a `ReplyDone`.

        Raises:
            GatewayError: The agent can not answer.
            RepertoryError: What `Conversations.reply` raises.
        """
        self._replies += 1
        try:
            async with aclosing(self._conversations.reply(name, messages, user=user)) as parts:
                async for part in parts:
                    yield part
        except (RegistryError, PackageError, SandboxError) as error:
            raise unavailable(name, error) from None
        finally:
            self._replies -= 1

    async def turn(self, request: TurnRequest) -> AsyncGenerator[TurnPart]:
        """Carry one message to a deployed agent; the last part is a `TurnDone`.

        Raises:
            RepertoryError: There is no reply to be had.
        """
        name, said = request.team.removeprefix(PREFIX), _messages(request.messages)
        async with aclosing(self.reply(name, said, request.user)) as parts:
            async for part in parts:
                if isinstance(part, ReplyText):
                    yield TurnText(part.text)
                elif isinstance(part, ReplyDone):
                    yield _done(part, request.session)

    async def drain(self) -> None:
        """Nothing runs that no request waits for."""


def unavailable(name: str, error: RegistryError | PackageError | SandboxError) -> GatewayError:
    """The answer when an agent is there but can not answer."""
    message = f"{name} can not answer now: {error.message}"
    return GatewayError(message, status=503, code="agent_unavailable", retry_after_s=10)


def _messages(messages: Sequence[tuple[str, str]]) -> list[Message]:
    """The conversation, all of it as the person's words but the agent's own.

    What a client sends as its system's message is no exception: nobody who talks to an agent replaces its instructions.
    """
    return [Message("assistant" if role == "assistant" else "user", text) for role, text in messages if text.strip()]


def _done(done: ReplyDone, session: str | None) -> TurnDone:
    number = secrets.token_hex(8)
    return TurnDone(
        turn=f"reply-{number}",
        session=session or f"agent-{number}",
        status=done.status,
        reason=done.reason,
        prompt_tokens=done.prompt_tokens,
        cached_tokens=done.cached_tokens,
        output_tokens=done.output_tokens,
    )
