"""How a call of a deployed agent ended, in the form in which it is told to programs."""

from dataclasses import dataclass
from typing import Any

from repertory.sandbox import Ended, Outcome

__all__ = ("CallError", "CallResult", "result_of")

_OURS: dict[Ended, str] = {
    "wall_limit": "Timeout",
    "cpu_limit": "CpuLimit",
    "memory_limit": "MemoryLimit",
    "result_limit": "ResultTooLarge",
    "files_limit": "TooManyFiles",
    "not_json": "ResultNotJson",
    "crashed": "Crashed",
}


@dataclass(frozen=True)
class CallError:
    """Why a call has no result.

    Attributes:
        type: `InvalidArguments`, `InvalidResult`, `Timeout`, `CpuLimit`, `MemoryLimit`, `ResultTooLarge`,
            `TooManyFiles`, `ResultNotJson`, `Crashed`, `UserMissing` (what is kept per user needs one), `RecordsLost`
            (what the tool wrote could not be kept), or the class of the exception that the tool raised.
        message: In words.
        kinds: The exception's class and its base classes; empty when it is one of ours.
    """

    type: str
    message: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallResult:
    """The end of a call.

    Attributes:
        result: The JSON value, when there is no error.
        error: Why there is none.
        version: Who answered: `agent@version`.
        outcome: What the sandbox saw; None when the call did not get there.
    """

    result: Any = None
    error: CallError | None = None
    version: str = ""
    outcome: Outcome | None = None

    def document(self) -> dict[str, Any]:
        """The JSON document: `{"result"}` or `{"error": {"type", "message"}}`."""
        if self.error is None:
            return {"result": self.result}
        error: dict[str, Any] = {"type": self.error.type, "message": self.error.message}
        return {"error": {**error, **({"kinds": list(self.error.kinds)} if self.error.kinds else {})}}


def result_of(outcome: Outcome, version: str) -> CallResult:
    """The end of a call that the sandbox did."""
    if outcome.failure is None:
        return CallResult(outcome.value, None, version, outcome)
    failure = outcome.failure
    if outcome.ended == "raised":
        return CallResult(None, CallError(failure.type, failure.message, failure.kinds), version, outcome)
    kind = _OURS.get(outcome.ended, "Crashed")
    message = failure.message or "the tool ran out of memory"
    return CallResult(None, CallError(kind, message), version, outcome)
