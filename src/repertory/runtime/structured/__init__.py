"""Calls to a model whose answers can be trusted: watched while they stream, validated, repaired once."""

from repertory.runtime.structured.call import OnAttempt, structured_call, text_call
from repertory.runtime.structured.failures import FailureKind
from repertory.runtime.structured.health import GrammarHealth
from repertory.runtime.structured.parse import AnswerSyntaxError, parse_answer
from repertory.runtime.structured.records import AttemptRecord, StructuredResult, TextResult
from repertory.runtime.structured.stream import OnPart
from repertory.runtime.structured.watch import Finding, JsonWatch, TextWatch

__all__ = (
    "AnswerSyntaxError",
    "AttemptRecord",
    "FailureKind",
    "Finding",
    "GrammarHealth",
    "JsonWatch",
    "OnAttempt",
    "OnPart",
    "StructuredResult",
    "TextResult",
    "TextWatch",
    "parse_answer",
    "structured_call",
    "text_call",
)
