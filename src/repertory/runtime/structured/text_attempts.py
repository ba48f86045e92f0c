"""Attempts at text that passes an agent's own checks."""

from collections.abc import Callable

from repertory.engines.protocol import Engine
from repertory.runtime.structured.failures import FailureKind
from repertory.runtime.structured.judging import fail, make_record, note_cut
from repertory.runtime.structured.parse import clean_text
from repertory.runtime.structured.records import AttemptRecord
from repertory.runtime.structured.retry import Retry
from repertory.runtime.structured.stream import OnPart, Streamed, read_stream
from repertory.runtime.structured.watch import TextWatch

__all__ = ("TextAttempts",)


class TextAttempts:
    """What stays the same over the attempts of one call for text.

    Args:
        engine: The instance.
        check: Problems of a whole text, in words for the model.
        on_part: Hears every part of every stream.
        deadline: Monotonic seconds.

    Attributes:
        text: The last whole text, usable or not.
        partial: The last text that was broken off.
    """

    json = False

    def __init__(
        self, engine: Engine, *, check: Callable[[str], list[str]] | None, on_part: OnPart | None, deadline: float
    ) -> None:
        self.text: str | None = None
        self.partial = ""
        self._engine = engine
        self._check = check
        self._on_part = on_part
        self._deadline = deadline

    async def attempt(self, number: int, retry: Retry, records: list[AttemptRecord]) -> Streamed:
        """One try."""
        streamed = await read_stream(
            self._engine, retry.request, TextWatch(), on_part=self._on_part, attempt=number, deadline=self._deadline
        )
        if streamed.kind is None:
            note_cut(streamed, retry.request)
        text = clean_text(streamed.text).strip()
        problems: tuple[str, ...] = ()
        if streamed.kind is not None:
            self.partial = text
            problems = (streamed.reason or streamed.kind.value,)
        else:
            self.text = text
            if broken := self._check(text) if self._check is not None else []:
                problems = fail(streamed, FailureKind.CHECK_FAILED, broken)
        records.append(make_record(number, retry.request, streamed, problems))
        return streamed
