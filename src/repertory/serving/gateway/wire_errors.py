"""What the gateway refuses or could not do, and how it is told in the two APIs' own shapes.

`type` is one of the names that both APIs share; `code` is stable and finer, for programs.
"""

import json
import math
from enum import StrEnum

from repertory.engines.failures import failure_code
from repertory.errors import (
    ContextBudgetError,
    EngineError,
    EngineRejectedError,
    EngineTimeoutError,
    EngineUnavailableError,
    RepertoryError,
    StreamError,
    UsageError,
)

__all__ = ("ApiShape", "GatewayError", "as_gateway_error", "error_body", "error_event")


class ApiShape(StrEnum):
    """Whose JSON an endpoint speaks."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


class GatewayError(RepertoryError):
    """A request that the gateway answers with an error.

    Args:
        message: What was wrong.
        status: The HTTP status.
        code: The stable short name.
        param: The field of the request that it is about.
        retry_after_s: When to come again.
        hint: What to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        code: str,
        param: str | None = None,
        retry_after_s: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.param = param
        self.retry_after_s = retry_after_s

    @property
    def kind(self) -> str:
        """The error's type in both APIs."""
        return _TYPES.get(self.status, "api_error")

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """Headers that go with it."""
        if self.retry_after_s is None:
            return []
        return [(b"retry-after", str(max(1, math.ceil(self.retry_after_s))).encode())]


def as_gateway_error(error: RepertoryError) -> GatewayError:
    """The answer to a failure of any other kind. The engine's address stays out of it: clients have no use for it."""
    if isinstance(error, GatewayError):
        return error
    code = failure_code(error)
    if isinstance(error, ContextBudgetError | EngineRejectedError | UsageError):
        return GatewayError(error.message, status=400, code=code if code != "internal" else "invalid_request")
    if isinstance(error, EngineTimeoutError):
        return GatewayError(error.message, status=504, code=code)
    if isinstance(error, EngineUnavailableError):
        return GatewayError("the instance does not answer now", status=503, code=code, retry_after_s=1.0)
    if isinstance(error, StreamError):
        return GatewayError("the instance broke off in the middle of the answer", status=502, code=code)
    if isinstance(error, EngineError):
        return GatewayError(error.message, status=502, code=code)
    return GatewayError("something failed inside the gateway; its log says what", status=500, code=code)


def error_body(error: GatewayError, shape: ApiShape) -> bytes:
    """The error as the JSON of an answer."""
    message = f"{error.message}; {error.hint}" if error.hint else error.message
    if shape is ApiShape.ANTHROPIC:
        document: dict[str, object] = {
            "type": "error",
            "error": {"type": error.kind, "message": message, "code": error.code},
        }
    else:
        fields = {"message": message, "type": error.kind, "param": error.param, "code": error.code}
        document = {"error": fields}
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def error_event(error: GatewayError, shape: ApiShape) -> bytes:
    """The error as the last event of a stream."""
    name = b"event: error\n" if shape is ApiShape.ANTHROPIC else b""
    return name + b"data: " + error_body(error, shape) + b"\n\n"
