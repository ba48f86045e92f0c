"""Who sends a request to the panel, and what they may see and do.

A program sends a bearer key. A browser signs in with one and holds a cookie from then on; so that no other page can
use the cookie, every unsafe request with it must also carry a token that only our own pages can read. Without keys
everybody on this machine is an administrator, and the token keeps other pages of the same browser out.
"""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Depends, Request

from repertory.server.panel.panel import Panel, panel_of
from repertory.serving.api_keys import LOCAL_CALLER, Caller
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("COOKIE", "CSRF_HEADER", "Admin", "Anyone", "Visitor", "cookie_of", "csrf_of", "still_valid", "visitor_of")

COOKIE = "repertory_session"
CSRF_HEADER = "x-csrf-token"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_SIGN_IN = "give a key as `Authorization: Bearer KEY`, or sign in with POST /api/session"


@dataclass(frozen=True)
class Visitor:
    """Who sends a request.

    Attributes:
        caller: The key, or this machine.
        by: How they were recognised.
        csrf: What their unsafe requests must carry; None where nothing is needed.
        expires_at: When the signing-in ends.
    """

    caller: Caller
    by: Literal["local", "bearer", "cookie"]
    csrf: str | None = None
    expires_at: datetime | None = None

    @property
    def user(self) -> str:
        """The user whose blackboards are their own."""
        return self.caller.own_user

    @property
    def is_admin(self) -> bool:
        """Whether the operator's endpoints are allowed."""
        return self.caller.is_admin

    def may_read(self, user: str) -> bool:
        """Whether they may read what a user wrote."""
        return self.caller.may_read(user)

    def may_use_team(self, team: str) -> bool:
        """Whether they may talk to a team and see its turns."""
        return self.caller.may_use("team", team)

    def may_use_agent(self, agent: str) -> bool:
        """Whether they may call a deployed agent."""
        return self.caller.may_use("deployed", f"agent:{agent}")

    def acts_for(self, user: str | None) -> str:
        """The user that they act for: their own where they name none.

        Raises:
            GatewayError: They may not act for that user.
        """
        if user is None or user == self.user:
            return self.user
        if self.by == "local" or (self.is_admin and self.may_read(user)):
            return user
        message = f"this key speaks for {self.user!r} alone"
        raise GatewayError(message, status=403, code="user_not_allowed")

    def check_reads(self, user: str) -> None:
        """See that they may read what a user wrote.

        Raises:
            GatewayError: They may not; whether there is such a user is not told.
        """
        if not self.may_read(user):
            hint = "an administrator's key reads other people's words only with the scope `reads-user:NAME`"
            message = "this key may not read that user's data"
            raise GatewayError(message, status=403, code="user_not_allowed", hint=hint if self.is_admin else None)

    def check_team(self, team: str) -> None:
        """See that they may use a team.

        Raises:
            GatewayError: They may not.
        """
        if not self.may_use_team(team):
            message = f"this key may not use the team {team[:200]!r}"
            raise GatewayError(message, status=403, code="team_not_allowed")


def cookie_of(request: Request) -> str | None:
    """What the browser holds since it signed in; None when it did not, or it can be none of ours."""
    held = request.cookies.get(COOKIE)
    return held if held and len(held) <= 200 and held.isascii() else None


def csrf_of(panel: Panel, cookie: str | None) -> str:
    """The token for unsafe requests: of a signing-in, or of this start of the server where no keys are needed."""
    secret = cookie.encode() if cookie is not None else panel.local_secret
    return hmac.new(secret, b"repertory csrf 1", hashlib.sha256).hexdigest()


async def visitor_of(request: Request, panel: Annotated[Panel, Depends(panel_of)]) -> Visitor:
    """Who sends a request.

    Raises:
        GatewayError: They gave no key, or the token is missing.
    """
    visitor = await find_visitor(request, panel)
    if visitor is None:
        raise GatewayError("this server wants a key", status=401, code="not_signed_in", hint=_SIGN_IN)
    if visitor.csrf is not None and request.method not in _SAFE:
        sent = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(sent.encode("utf-8", "replace"), visitor.csrf.encode()):
            message = "the request does not carry the token of this page"
            hint = "send `csrf` of GET /api/session as X-CSRF-Token; programs send a bearer key and need none"
            raise GatewayError(message, status=403, code="csrf", hint=hint)
    return visitor


async def find_visitor(request: Request, panel: Panel) -> Visitor | None:
    """Who sends a request, by key or cookie; None when they show neither.

    Raises:
        GatewayError: The key is not valid.
    """
    if not panel.access.needs_keys:
        return Visitor(LOCAL_CALLER, "local", csrf_of(panel, None))
    if "authorization" in request.headers or "x-api-key" in request.headers:
        return Visitor(await panel.access.caller(request.scope["headers"]), "bearer")
    cookie = cookie_of(request)
    if cookie is None:
        return None
    found = await panel.signings.find(cookie)
    return None if found is None else Visitor(found.caller, "cookie", csrf_of(panel, cookie), found.expires_at)


async def still_valid(request: Request, panel: Panel, visitor: Visitor) -> bool:
    """Whether a request that was let in would be let in again: keys are revoked and signings-in end."""
    try:
        now = await find_visitor(request, panel)
    except GatewayError:
        return False
    return now is not None and now.caller == visitor.caller


def _admin(visitor: Annotated[Visitor, Depends(visitor_of)]) -> Visitor:
    if not visitor.is_admin:
        raise GatewayError("this needs an admin key", status=403, code="admin_only")
    return visitor


Anyone = Annotated[Visitor, Depends(visitor_of)]
"""Whoever has a key, or is on this machine where none is needed."""

Admin = Annotated[Visitor, Depends(_admin)]
"""Whoever has an admin key, or is on this machine where none is needed."""
