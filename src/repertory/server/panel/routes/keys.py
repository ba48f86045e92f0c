"""`/api/keys`: who may use the HTTP interface."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends

from repertory.clock import system_clock
from repertory.errors import UsageError
from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.keys import CreatedKey, CreateKey, KeyList, KeyRow
from repertory.server.panel.visitor import Admin
from repertory.serving.api_keys import ADMIN, ALL_MODELS, OWN_USER, READS_USER, new_key, scope_of
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.storage.keys import StoredKey
from repertory.storage.store import Store

__all__ = ("router",)

router = APIRouter(prefix="/api/keys", tags=["keys"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]


@router.get("", operation_id="list_keys")
async def list_keys(panel: _PanelOf, _: Admin) -> KeyList:
    """All keys, revoked ones too; never their secrets."""
    return KeyList(keys=[_row(key) for key in await asyncio.to_thread(panel.store.keys.all)])


@router.post("", operation_id="create_key", status_code=201)
async def create_key(body: CreateKey, panel: _PanelOf, visitor: Admin) -> CreatedKey:
    """Make a key; it is shown this once. Without names and `admin` it may use every name."""
    wider = [user for user in body.reads_users if not visitor.may_read(user)]
    if wider:
        message = f"this key may not read {', '.join(wider)[:200]}, so it can not allow that to another"
        raise GatewayError(message, status=403, code="user_not_allowed", hint="`repertory keys create` on the server")
    if body.user is not None and not visitor.may_read(body.user):
        await asyncio.to_thread(_check_is_nobody_else, panel.store, body.user)
    scopes = [ADMIN] if body.admin else []
    for kind, names in (("team", body.teams), ("agent", body.agents), ("model", body.models)):
        scopes += [scope_of(kind, name) for name in names]
    scopes = scopes or [ALL_MODELS]
    scopes += [scope_of(READS_USER, name) for name in body.reads_users]
    key, kept = new_key(
        body.name,
        scopes,
        user=body.user,
        requests_per_minute=body.requests_per_minute,
        tokens_per_minute=body.tokens_per_minute,
        valid_days=body.days,
    )
    try:
        await asyncio.to_thread(panel.store.keys.add, kept)
    except UsageError as error:
        raise GatewayError(error.message, status=409, code="name_taken", hint=error.hint) from None
    return CreatedKey(key=key, about=_row(kept))


@router.delete("/{key}", operation_id="revoke_key")
async def revoke_key(key: str, panel: _PanelOf, _: Admin) -> KeyRow:
    """Refuse a key (by its id) from now on; this server does so within a second, and ends who signed in with it."""

    def act() -> StoredKey:
        if all(kept.id != key for kept in panel.store.keys.all()):
            raise not_found("key", key)
        return panel.store.keys.revoke(key, system_clock())

    return _row(await asyncio.to_thread(act))


def _check_is_nobody_else(store: Store, user: str) -> None:
    """See that a key for a user opens nobody's data: what they wrote is read with it. Blocks.

    Raises:
        GatewayError: Something is kept about them, or another key speaks for them.
    """
    taken = user.startswith(OWN_USER) or store.teams_of_user(user) or store.agents_of_user(user)
    if taken or any(key.user == user for key in store.keys.all()):
        message = f"{user[:200]!r} is somebody already, and this key may not read what they wrote"
        hint = "`repertory keys create` on the server, or a key with the scope `reads-user:NAME`"
        raise GatewayError(message, status=403, code="user_not_allowed", hint=hint)


def _row(key: StoredKey) -> KeyRow:
    return KeyRow.model_validate(
        {
            "id": key.id,
            "name": key.name,
            "scopes": list(key.scopes),
            "user": key.user,
            "requests_per_minute": key.requests_per_minute,
            "tokens_per_minute": key.tokens_per_minute,
            "created_at": key.created_at,
            "expires_at": key.expires_at,
            "revoked_at": key.revoked_at,
            "state": key.state(system_clock()),
        }
    )
