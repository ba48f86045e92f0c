"""`/api/session`: who one is, signing in, signing out."""

from importlib import metadata
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from repertory.server.panel.failures import FAILURE
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.session import SessionInfo, SignIn
from repertory.server.panel.signings import SIGNED_IN_FOR
from repertory.server.panel.visitor import COOKIE, Anyone, Visitor, cookie_of, csrf_of, find_visitor
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("router",)

router = APIRouter(prefix="/api/session", tags=["session"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]


@router.get("", operation_id="get_session")
async def get_session(request: Request, panel: _PanelOf) -> SessionInfo:
    """Who sends this request; also answered when nobody is signed in."""
    try:
        visitor = await find_visitor(request, panel)
    except GatewayError:
        visitor = None
    return _info(panel, visitor)


@router.post("", operation_id="sign_in")
async def sign_in(body: SignIn, request: Request, response: Response, panel: _PanelOf) -> SessionInfo:
    """Sign in with a key. The browser gets a cookie that no script can read; the key itself is not kept in it.

    After too many keys that are not valid, 429 says when to come again.
    """
    if not panel.access.needs_keys:
        return _info(panel, await find_visitor(request, panel))
    was_right = panel.sign_in_limits.admit(request.client.host if request.client else None, body.key)
    begun = await panel.signings.begin(body.key)
    if begun is None:
        raise GatewayError("the key is not valid", status=401, code="invalid_api_key")
    was_right()
    secret, signed_in = begun
    before = cookie_of(request)
    if before is not None:
        await panel.signings.end(before)
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(SIGNED_IN_FOR.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path="/",
    )
    return _info(panel, Visitor(signed_in.caller, "cookie", csrf_of(panel, secret), signed_in.expires_at))


@router.delete("", operation_id="sign_out", status_code=204)
async def sign_out(request: Request, response: Response, panel: _PanelOf, _: Anyone) -> None:
    """Sign out: the cookie is worth nothing any more."""
    cookie = cookie_of(request)
    if cookie is not None:
        await panel.signings.end(cookie)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")


def _info(panel: Panel, visitor: Visitor | None) -> SessionInfo:
    teams = [name for name in panel.teams if visitor is not None and visitor.may_use_team(name)]
    return SessionInfo(
        signed_in=visitor is not None,
        needs_keys=panel.access.needs_keys,
        version=metadata.version("repertory"),
        csrf=visitor.csrf if visitor is not None else None,
        user=visitor.user if visitor is not None else None,
        name=visitor.caller.name if visitor is not None else None,
        is_admin=visitor is not None and visitor.is_admin,
        reads_users=list(visitor.caller.reads_users) if visitor is not None else [],
        teams=teams,
        expires_at=visitor.expires_at if visitor is not None else None,
    )
