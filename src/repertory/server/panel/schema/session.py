"""Signing in with a key, and who one is then."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from repertory.server.panel.schema.base import Answer, Request

__all__ = ("SessionInfo", "SignIn")


class SignIn(Request):
    """A key to sign in with."""

    key: Annotated[str, Field(min_length=1, max_length=200)]
    """A key of `repertory keys create`."""


class SessionInfo(Answer):
    """Who sends the request, and what they may do."""

    signed_in: bool
    """False when this server needs keys and none was given: sign in first."""
    needs_keys: bool
    """Whether this server asks for keys; without, everybody on this machine is an administrator."""
    version: str
    """Version of Repertory."""
    csrf: str | None
    """Send it as `X-CSRF-Token` with every POST, PUT and DELETE; null for callers with a bearer key, who need none."""
    user: str | None
    """The user whose blackboards are this caller's own; null when not signed in."""
    name: str | None
    """What people call the key."""
    is_admin: bool
    """Whether the operator's endpoints are allowed."""
    reads_users: list[str]
    """Users beside `user` whose blackboards and messages may be read; `*` is all of them."""
    teams: list[str]
    """The served teams that this caller may talk to."""
    expires_at: datetime | None
    """When the signing-in ends; null when it does not, or with a bearer key."""
