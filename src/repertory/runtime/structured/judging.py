"""What the attempts at both kinds of answer share: noticing a cut, naming what is wrong, writing the record."""

from collections.abc import Sequence

from repertory.engines.protocol import FinishReason, GenerateRequest
from repertory.runtime.structured.failures import FailureKind
from repertory.runtime.structured.records import AttemptRecord
from repertory.runtime.structured.stream import Streamed

__all__ = ("fail", "make_record", "note_cut", "syntax_kind")


def note_cut(streamed: Streamed, sent: GenerateRequest) -> None:
    """Notice an answer that was cut at its cap, or is not there at all. A cut answer is never read as if whole."""
    used = f"{streamed.usage.output} of at most {sent.cap} tokens" if streamed.usage else "its tokens"
    empty = not streamed.text.strip()
    if streamed.finish is FinishReason.LENGTH and empty:
        streamed.kind = FailureKind.REASONING_EXHAUSTED
        streamed.reason = f"the model spent {used} and wrote no answer"
    elif streamed.finish is FinishReason.LENGTH:
        streamed.kind, streamed.reason = FailureKind.TRUNCATED, f"the answer was cut after {used}"
    elif empty:
        thought = "thought, but wrote no answer" if streamed.reasoning.strip() else "wrote nothing"
        streamed.kind, streamed.reason = FailureKind.EMPTY, f"the model {thought}"


def syntax_kind(streamed: Streamed, sent: GenerateRequest) -> FailureKind:
    """A text that does not parse and has used its whole cap was cut, whatever the engine says."""
    usage = streamed.usage
    at_cap = usage is not None and not usage.estimated and usage.output >= sent.cap
    return FailureKind.TRUNCATED if at_cap else FailureKind.NOT_JSON


def fail(streamed: Streamed, kind: FailureKind, problems: Sequence[str]) -> tuple[str, ...]:
    """Mark a stream whose answer is not usable; returns the problems."""
    streamed.kind, streamed.reason = kind, "; ".join(problems[:3])
    return tuple(problems)


def make_record(
    number: int, sent: GenerateRequest, streamed: Streamed, problems: tuple[str, ...], *, misrouted: bool = False
) -> AttemptRecord:
    """The record of one request."""
    return AttemptRecord(
        number=number,
        kind=streamed.kind,
        reason=streamed.reason,
        problems=problems,
        usage=streamed.usage,
        finish=streamed.finish,
        grammar=sent.json_schema is not None,
        max_output_tokens=sent.max_output_tokens,
        temperature=sent.temperature,
        text=streamed.text,
        misrouted=misrouted,
        seconds=streamed.seconds,
    )
