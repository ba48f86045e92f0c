"""What a call hands back: the answer, every attempt at it, and if there is none, why."""

from dataclasses import dataclass
from typing import Any

from repertory.engines.protocol import FinishReason, TokenUsage
from repertory.errors import OutputError
from repertory.runtime.structured.failures import FailureKind

__all__ = ("AttemptRecord", "StructuredResult", "TextResult")


@dataclass(frozen=True)
class AttemptRecord:
    """One request and what came of it.

    Attributes:
        number: 1 for the first try, 2 for the retry. A request that was sent again because the engine refused its
            schema keeps its number.
        kind: What was wrong; None when the answer is usable.
        reason: The same in one sentence.
        problems: The rules and checks that the answer broke, for a repair prompt.
        usage: Tokens, estimated where the stream was closed early; None when the engine never began.
        finish: Why the engine ended; None when it did not.
        grammar: Whether a schema was sent to constrain the answer.
        max_output_tokens: The cap.
        temperature: The sampling temperature.
        text: What the model wrote, usable or not. It belongs into no history.
        misrouted: The answer stood in the field for thinking and was taken from there.
        seconds: From sending to the end.
    """

    number: int
    kind: FailureKind | None
    reason: str | None
    problems: tuple[str, ...]
    usage: TokenUsage | None
    finish: FinishReason | None
    grammar: bool
    max_output_tokens: int
    temperature: float
    text: str = ""
    misrouted: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class _Result:
    attempts: tuple[AttemptRecord, ...]
    problems: tuple[str, ...]
    """Empty exactly when the answer is usable."""
    failure: FailureKind | None
    reason: str | None
    """Why there is no usable answer, in one sentence."""

    @property
    def usable(self) -> bool:
        """Whether the answer may be used as it is."""
        return self.failure is None

    def _raise(self) -> None:
        if self.failure is not None:
            raise OutputError(
                f"no usable answer ({self.failure.value}): {self.reason}",  # noqa: EM102 - the one place that raises it
                hint="; ".join(self.problems) or None,
            )


@dataclass(frozen=True)
class StructuredResult(_Result):
    """The outcome of a structured call.

    Attributes:
        value: The answer; when the call failed, the last answer that was valid for its schema, or None.
        notes: What was treated differently from how the schema was written.
    """

    value: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()

    def require(self) -> dict[str, Any]:
        """The usable answer.

        Raises:
            OutputError: There is none.
        """
        self._raise()
        return self.value or {}


@dataclass(frozen=True)
class TextResult(_Result):
    """The outcome of a call for text.

    Attributes:
        text: The text; when the call failed, the last whole text (one that failed its checks), or None.
        partial: The last text that was broken off, for those who have shown it already.
    """

    text: str | None = None
    partial: str = ""

    def require(self) -> str:
        """The usable text.

        Raises:
            OutputError: There is none.
        """
        self._raise()
        return self.text or ""
