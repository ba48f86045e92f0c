"""What went wrong, as the panel's one shape of errors: `{"error": {"type", "message", "hint"}}`."""

import re

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from repertory.errors import (
    EngineError,
    EngineTimeoutError,
    EngineUnavailableError,
    ModelStoreError,
    PackageError,
    RegistryError,
    RepertoryError,
    SandboxError,
    StorageError,
    UsageError,
    VersionConflictError,
)
from repertory.server.panel.schema.base import ErrorAnswer, ErrorBody
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("FAILURE", "error_body", "failure", "handle_failures", "is_panel", "not_found")

FAILURE: dict[int | str, dict[str, object]] = {"default": {"model": ErrorAnswer, "description": "What went wrong"}}
"""For `responses` of routers."""

_STATUS: tuple[tuple[type[RepertoryError], int], ...] = (
    (VersionConflictError, 409), (UsageError, 400), (PackageError, 422), (RegistryError, 409), (SandboxError, 503),
    (StorageError, 500), (ModelStoreError, 502), (EngineTimeoutError, 504), (EngineUnavailableError, 503),
    (EngineError, 502),
)  # fmt: skip
_MOST_PROBLEMS = 5
_TYPES = {
    400: "usage",
    404: "not_found",
    405: "method_not_allowed",
    408: "body_timeout",
    413: "too_large",
    415: "not_json",
}


def is_panel(path: str) -> bool:
    """Whether a path is the panel's."""
    return path == "/api" or path.startswith("/api/") or path == "/v1/events"


def not_found(what: str, name: str) -> GatewayError:
    """The error for something that is not there, or not for the caller: which of these is not told."""
    message = f"there is no {what} {name[:200]!r}"
    return GatewayError(message, status=404, code="not_found")


def failure(error: RepertoryError) -> JSONResponse:
    """The answer to an error of ours."""
    body = ErrorAnswer(error=error_body(error)).model_dump()
    if isinstance(error, GatewayError):
        return JSONResponse(body, error.status, {name.decode(): value.decode() for name, value in error.headers})
    return JSONResponse(body, next((status for kind, status in _STATUS if isinstance(error, kind)), 500))


def error_body(error: RepertoryError) -> ErrorBody:
    """What is told of an error of ours. Places on this machine stay out of it."""
    if isinstance(error, GatewayError):
        return ErrorBody(type=error.code, message=error.message, hint=error.hint)
    name = type(error).__name__.removesuffix("Error")
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return ErrorBody(type=kind, message=error.message, hint=error.hint)


def handle_failures(app: FastAPI) -> None:
    """Let an application tell the panel's errors in the panel's shape; those of other paths stay as they are."""

    @app.exception_handler(RequestValidationError)
    async def refused(_: Request, error: RequestValidationError) -> JSONResponse:
        problems = [
            f"{'.'.join(str(step) for step in item['loc'])}: {item['msg']}" for item in error.errors()[:_MOST_PROBLEMS]
        ]
        return _answer(422, "invalid_request", "; ".join(problems), None)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        headers = dict(error.headers or {})
        if not is_panel(request.url.path):
            return JSONResponse({"detail": error.detail}, error.status_code, headers)
        kind = _TYPES.get(error.status_code, "invalid_request" if error.status_code < 500 else "internal")
        return _answer(error.status_code, kind, str(error.detail), None, headers)

    @app.exception_handler(Exception)
    async def mistake(_: Request, _error: Exception) -> JSONResponse:
        return _answer(500, "internal", "a mistake in the server; its log says more", None)

    del refused, http, mistake  # registered by the decorators


def _answer(
    status: int, kind: str, message: str, hint: str | None, headers: dict[str, str] | None = None
) -> JSONResponse:
    body = ErrorAnswer(error=ErrorBody(type=kind, message=message, hint=hint))
    return JSONResponse(body.model_dump(), status, headers)
