"""A client's request, with the few things read out of it that the gateway has to know."""

import re
from dataclasses import dataclass
from typing import cast

from repertory.serving.api_keys import OWN_USER, Caller
from repertory.serving.gateway.endpoints import Endpoint
from repertory.serving.gateway.request_fields import BodyError, RequestFields, read_fields
from repertory.serving.gateway.wire_errors import ApiShape, GatewayError

__all__ = ("Incoming", "read_incoming", "request_id")

_MAX_USER_CHARS = 200
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True)
class Incoming:
    """One request.

    Attributes:
        endpoint: Where it came.
        fields: Its body.
        model: The name it asks for.
        stream: Whether it wants events.
        user: The user it names, or the key's own.
        priority: Its own priority; lower goes first.
    """

    endpoint: Endpoint
    fields: RequestFields
    model: str
    stream: bool
    user: str
    priority: int

    @property
    def prefix(self) -> bytes:
        """The beginning of the prompt."""
        parts = (self.fields.raw(name) for name in self.endpoint.prompt)
        return b"".join(part[:4096] for part in parts if part)[:4096]


def read_incoming(endpoint: Endpoint, body: bytes, caller: Caller) -> Incoming:
    """Read what has to be known.

    Raises:
        GatewayError: The body is no request, or asks for what the caller may not have.
    """
    try:
        fields = read_fields(body)
        model = fields.value("model")
        stream = fields.value("stream")
        priority = fields.value("priority")
        user = _user(endpoint, fields)
    except BodyError as error:
        raise GatewayError(str(error), code="invalid_json") from None
    if not isinstance(model, str) or not model:
        raise GatewayError("the request names no model", code="model_missing", param="model")
    if stream is not None and not isinstance(stream, bool):
        raise GatewayError("`stream` must be true or false", code="invalid_value", param="stream")
    if priority is not None and (not isinstance(priority, int) or isinstance(priority, bool)):
        raise GatewayError("`priority` must be a whole number", code="invalid_value", param="priority")
    if priority is not None and priority < 0 and not caller.is_admin:
        message = "a priority below 0 goes before everybody else's requests and needs an admin key"
        raise GatewayError(message, status=403, code="priority_not_allowed", param="priority")
    if caller.user is not None and user not in {"", caller.user}:
        message = "this key speaks for one user, and the request names another"
        raise GatewayError(message, status=403, code="user_not_allowed", param="user")
    if user.startswith(OWN_USER) and user != caller.own_user and not caller.may_read(user):
        message = "the request names the user that another key has as its own"
        raise GatewayError(message, status=403, code="user_not_allowed", param="user")
    return Incoming(
        endpoint=endpoint,
        fields=fields,
        model=model,
        stream=stream is True and endpoint.streams,
        user=caller.user or user,
        priority=priority or 0,
    )


def _user(endpoint: Endpoint, fields: RequestFields) -> str:
    if endpoint.shape is ApiShape.ANTHROPIC:
        metadata = fields.value("metadata")
        user = cast("dict[str, object]", metadata).get("user_id") if isinstance(metadata, dict) else None
        name = "metadata.user_id"
    else:
        user, name = fields.value("user"), "user"
    if user is None:
        return ""
    if not isinstance(user, str) or len(user) > _MAX_USER_CHARS or _NOT_TEXT.search(user):
        message = f"`{name}` must be text of at most {_MAX_USER_CHARS} characters"
        raise GatewayError(message, code="invalid_value", param=name)
    return user


def request_id(given: bytes | None, fresh: bytes) -> bytes:
    """The request's id: the client's own if it is one, else a fresh one."""
    return given if given is not None and _REQUEST_ID.fullmatch(given) else fresh
