"""Keys of the HTTP interface."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from repertory.server.panel.schema.base import Answer, Request

__all__ = ("CreateKey", "CreatedKey", "KeyList", "KeyRow")

_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Names = Annotated[list[_Name], Field(max_length=64)]


class KeyRow(Answer):
    """What is told of a key: never its secret."""

    id: str
    name: str
    scopes: list[str]
    """`admin`, `*`, `team:NAME`, `agent:TEAM/AGENT`, `model:NAME`, or `reads-user:NAME`."""
    user: str | None
    """The only user it speaks for; null lets requests to `/v1` name one."""
    requests_per_minute: int | None
    tokens_per_minute: int | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    state: Literal["in use", "expired", "revoked"]


class KeyList(Answer):
    """All keys, revoked ones too."""

    keys: list[KeyRow]


class CreateKey(Request):
    """A key to make. Without `teams`, `agents`, `models` and `admin` it may use every name."""

    name: _Name
    """What to call it."""
    teams: _Names = Field(default_factory=list)
    agents: _Names = Field(default_factory=list)
    """`TEAM/AGENT`, or `TEAM/*`."""
    models: _Names = Field(default_factory=list)
    admin: bool = False
    """Allow the operator's endpoints."""
    user: _Name | None = None
    """The only user that it speaks for."""
    reads_users: _Names = Field(default_factory=list)
    """Users whose blackboards and messages it may read beside its own; `*` is all of them."""
    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    tokens_per_minute: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    """Refuse it after so many days."""


class CreatedKey(Answer):
    """The new key; it is shown this once."""

    key: str
    about: KeyRow
