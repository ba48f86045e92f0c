"""HTTP routes of deployed agents: which one a request is for, and how request and response pass the sandbox as JSON.

The function gets one argument, `request`: `method`, `path`, `params` (of `{name}` parts of the path), `query`,
`headers` (names in lower case), `body` (text, or null when it is not UTF-8) and `body_base64`. It returns `status`, and
optionally `headers` and `body`: text as it is, anything else as JSON.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from repertory.registry.manifest import HttpRoute
from repertory.registry.result import CallResult

__all__ = ("FoundRoute", "HttpReply", "HttpRequest", "find_route", "read_reply", "request_document")

_MAX_BODY = 1024 * 1024
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,1000}")
# What says something of this one answer alone. Others would act on the whole host (a cookie, a demand for a password,
# another address for it, where its errors are reported) or on the proxy in front (a file to send in place of the body).
_ITS_OWN = frozenset(
    {
        "cache-control",
        "content-disposition",
        "content-language",
        "content-type",
        "etag",
        "expires",
        "last-modified",
        "retry-after",
        "vary",
    }
)
_FOR_PROXIES = ("x-accel-", "x-sendfile", "x-lighttpd-", "x-litespeed-", "x-reproxy-", "x-forwarded-", "x-frame-")


@dataclass(frozen=True)
class HttpRequest:
    """What came in, below the agent's own prefix."""

    method: str
    path: str
    query: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


@dataclass(frozen=True)
class HttpReply:
    """What goes out."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class FoundRoute(NamedTuple):
    """The function that a request is for, and the values of the path's named parts."""

    function: str
    parameters: dict[str, str]


def find_route(routes: Sequence[HttpRoute], request: HttpRequest) -> FoundRoute | HttpReply:
    """The route of a request, or the response when there is none (404, 405) or it is too large (413)."""
    if len(request.body) > _MAX_BODY:
        return _problem(413, f"a body may have {_MAX_BODY} bytes")
    others: set[str] = set()
    for route in routes:
        parameters = _match(route.path, request.path)
        if parameters is None:
            continue
        if route.method == request.method.upper():
            return FoundRoute(route.function, parameters)
        others.add(route.method)
    if others:
        reply = _problem(405, f"this path answers {', '.join(sorted(others))}")
        return HttpReply(reply.status, reply.body, {**reply.headers, "allow": ", ".join(sorted(others))})
    return _problem(404, "the agent has no such path")


def _match(template: str, path: str) -> dict[str, str] | None:
    wanted, given = template.split("/"), path.split("/")
    if len(wanted) != len(given):
        return None
    parameters: dict[str, str] = {}
    for part, value in zip(wanted, given, strict=True):
        if part.startswith("{") and part.endswith("}") and value:
            parameters[part[1:-1]] = value
        elif part != value:
            return None
    return parameters


def request_document(request: HttpRequest, parameters: Mapping[str, str]) -> dict[str, Any]:
    """The request as the function sees it. Credentials for the gateway are not in it."""
    try:
        text = request.body.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    hidden = ("authorization", "cookie", "proxy-authorization", "x-api-key")
    return {
        "method": request.method.upper(),
        "path": request.path,
        "params": dict(parameters),
        "query": {name: list(values) for name, values in request.query.items()},
        "headers": {name.lower(): value for name, value in request.headers.items() if name.lower() not in hidden},
        "body": text,
        "body_base64": base64.b64encode(request.body).decode(),
    }


def read_reply(result: CallResult) -> HttpReply:
    """The response that a function returned. It comes from foreign code, so it is checked."""
    if result.error is not None:
        status = 504 if result.error.type == "Timeout" else 500
        return _problem(status, f"the agent failed: {result.error.type}")
    if not isinstance(result.result, dict):
        return _problem(502, "the agent's response is not one")
    answer = cast("dict[str, Any]", result.result)
    status, headers = answer.get("status", 200), answer.get("headers", {})
    if type(status) is not int or not 200 <= status <= 599 or not isinstance(headers, dict):
        return _problem(502, "the agent's response is not one")
    kept: dict[str, str] = {}
    for name, value in cast("dict[str, object]", headers).items():
        plain = isinstance(value, str) and _HEADER_VALUE.fullmatch(value) and _HEADER_NAME.fullmatch(name)
        if not plain:
            return _problem(502, "the agent's response has a header that is not one")
        if _may_set(name.lower()):
            kept[name.lower()] = str(value)
    body = answer.get("body")
    if isinstance(body, str):
        kept.setdefault("content-type", "text/plain; charset=utf-8")
        return HttpReply(status, body.encode(), _safe(kept))
    kept["content-type"] = "application/json"
    return HttpReply(status, b"" if body is None else json.dumps(body, ensure_ascii=False).encode(), _safe(kept))


def _may_set(name: str) -> bool:
    return name in _ITS_OWN or (name.startswith("x-") and not name.startswith(_FOR_PROXIES))


def _safe(headers: dict[str, str]) -> dict[str, str]:
    """Keep what a model wrote from being run as a page of the gateway."""
    return {**headers, "content-security-policy": "sandbox; default-src 'none'", "x-content-type-options": "nosniff"}


def _problem(status: int, message: str) -> HttpReply:
    body = json.dumps({"error": {"message": message}}).encode()
    return HttpReply(status, body, {"content-type": "application/json"})
