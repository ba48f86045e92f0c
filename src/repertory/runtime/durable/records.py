"""Steps as JSON. What does not validate is damage, not data: it is refused, never guessed at."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from repertory.engines.protocol import FinishReason, Generation, GenerationNote, TokenUsage, ToolCall
from repertory.errors import StorageError
from repertory.runtime.rules import Merge
from repertory.storage.records import Step

__all__ = ("CallRecord", "OutcomeRecord", "read_call", "read_outcome")


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Usage(_Record):
    prompt: int
    output: int
    cached: int | None = None
    estimated: bool = False


class _ToolCall(_Record):
    id: str
    name: str
    arguments: dict[str, Any]


class CallRecord(_Record):
    """One finished call of an engine.

    `finish_reason` is None for a call that was closed early because its answer was already known to be unusable, or
    was whole. `team` is the fingerprint of the team that asked: another team's question has another answer.
    """

    team: str
    finish_reason: Literal["stop", "length", "tool_calls"] | None
    text: str
    reasoning: str = ""
    usage: _Usage | None = None
    tool_calls: tuple[_ToolCall, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, team: str, generation: Generation) -> "CallRecord":
        """The record of a generation that ended properly."""
        usage = generation.usage
        return cls(
            team=team,
            finish_reason=generation.finish_reason.value,
            text=generation.text,
            reasoning=generation.reasoning,
            usage=_Usage(prompt=usage.prompt, output=usage.output, cached=usage.cached, estimated=usage.estimated),
            tool_calls=tuple(
                _ToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in generation.tool_calls
            ),
            notes=tuple(note.value for note in generation.notes),
        )

    def tokens(self) -> TokenUsage | None:
        """What the call cost."""
        return TokenUsage(**self.usage.model_dump()) if self.usage is not None else None

    def generation(self) -> Generation | None:
        """The end of the stream, as the engine gave it; None where the stream was closed before its end."""
        usage = self.tokens()
        if self.finish_reason is None or usage is None:
            return None
        return Generation(
            finish_reason=FinishReason(self.finish_reason),
            usage=usage,
            text=self.text,
            reasoning=self.reasoning,
            tool_calls=tuple(ToolCall(call.id, call.name, call.arguments) for call in self.tool_calls),
            notes=tuple(GenerationNote(note) for note in self.notes),
        )


class OutcomeRecord(_Record):
    """How an agent ended whose section is on the blackboard.

    Attributes:
        status: Whether the section is the agent's own or the team's code stepped in.
        reason: Why it is not the agent's own whole answer.
        added: Commitments that came with the section.
        settled: Commitments that were open before it.
        merge: For the full reply, what it was written from.
    """

    status: Literal["done", "fallback"]
    reason: str | None = None
    added: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    merge: Merge | None = None


def read_call(step: Step) -> CallRecord:
    """The call that a step keeps.

    Raises:
        StorageError: It is damaged.
    """
    try:
        return CallRecord.model_validate_json(step.body)
    except ValidationError as error:
        raise _damaged(step) from error


def read_outcome(step: Step) -> OutcomeRecord:
    """The outcome that a step keeps.

    Raises:
        StorageError: It is damaged.
    """
    try:
        return OutcomeRecord.model_validate_json(step.body)
    except ValidationError as error:
        raise _damaged(step) from error


def _damaged(step: Step) -> StorageError:
    message = f"step {step.number} of agent {step.agent} is damaged or was written by another version of Repertory"
    return StorageError(message, hint="nothing of it was used; put a copy of the database back")
