"""Deployed agents as members of teams: `agent: NAME` in a team file.

To the turn a member looks like the engine that it plays on, as every harness does; so its deadline, its place in the
schedule, its durable steps and its events are those of any other agent. It gets the prompt that the role would get, and
its reply is the role's text. What it keeps and what it may is its own package's business.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from repertory.engines.protocol import (
    Engine,
    FinishReason,
    GenerateRequest,
    Generation,
    StreamPart,
    TextDelta,
    TokenUsage,
)
from repertory.engines.stand_in import EngineStandIn
from repertory.errors import EngineError, HarnessError, RepertoryError
from repertory.registry.calls import AgentCalls
from repertory.registry.conversation import Conversations, Message, ReplyDone, ReplyText
from repertory.registry.registry import parse_label
from repertory.runtime.harness.interface import AgentRun, Harness
from repertory.runtime.harness.native import NativeHarness

__all__ = ("MemberHarness",)

_WITHIN_S = 600.0


class MemberHarness:
    """Lets deployed agents play the roles that name one; the others are left to another harness.

    Args:
        calls: Runs the agents' tools.
        others: Runs the roles that name none.
    """

    def __init__(self, calls: AgentCalls, others: Harness | None = None) -> None:
        self._calls = calls
        self._others = others or NativeHarness()

    def attach(self, run: AgentRun, engine: Engine) -> Engine:
        """What carries out a role's generations.

        Raises:
            UsageError: The harness can not run the agent here, or the name is none of an agent.
        """
        if run.agent.agent is None:
            return self._others.attach(run, engine)
        name, version = parse_label(run.agent.agent)
        return _Member(self._calls, name, version, run.user, engine)


class _Member(EngineStandIn):
    """A deployed agent in the place of an engine; see `repertory.engines.protocol.Engine`."""

    def __init__(self, calls: AgentCalls, name: str, version: int | None, user: str, engine: Engine) -> None:
        super().__init__(engine)
        self._calls = calls
        self._name = name
        self._version = version
        self._user = user

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        """Let the agent reply; the last part is a `Generation`.

        Raises:
            HarnessError: The agent can not answer, or gave no reply.
            EngineError: The engine that speaks for it failed.
        """
        conversations = Conversations(self._calls, self._source, within_s=request.deadline_s or _WITHIN_S)
        asked = "\n\n".join(message.content for message in request.messages if message.content.strip())
        said = [Message("user", asked)]
        words: list[str] = []
        done: ReplyDone | None = None
        try:
            reply = conversations.reply(self._name, said, version=self._version, user=self._user)
            async with aclosing(reply) as parts:
                async for part in parts:
                    if isinstance(part, ReplyText) and part.text:
                        words.append(part.text)
                        yield TextDelta(part.text)
                    elif isinstance(part, ReplyDone):
                        done = part
        except EngineError:
            raise
        except RepertoryError as error:
            message = f"the agent {self._name} can not answer: {error.message}"
            raise HarnessError(message, hint=error.hint) from None
        if done is None or done.status == "failed":
            message = f"the agent {self._name} gave no reply: {done.reason if done is not None else 'it has no end'}"
            raise HarnessError(message)
        usage = TokenUsage(done.prompt_tokens, done.output_tokens, done.cached_tokens)
        yield Generation(FinishReason.STOP, usage, "".join(words))

    async def _source(self) -> Engine:
        return self._engine
