"""`repertory keys`: who may use the HTTP interface."""

from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.safe_text import printable

if TYPE_CHECKING:
    from repertory.storage.keys import StoredKey

__all__ = ("register",)

_Names = list[str]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        help="Keys of the HTTP interface (`repertory serve --keys`).", no_args_is_help=True, rich_markup_mode=None
    )
    group.command("create")(_create)
    group.command("list")(_list)
    group.command("revoke")(_revoke)
    app.add_typer(group, name="keys")


def _create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.")],
    team: Annotated[_Names, typer.Option("--team", metavar="T", help="Allow the turns of this team; repeatable.")] = [],  # noqa: B006 - Typer copies it
    agent: Annotated[
        _Names,
        typer.Option(
            "--agent",
            metavar="T/A",
            help="Allow this agent's instance, `T/*` all of a team, or a deployed agent by its name; repeatable.",
        ),
    ] = [],  # noqa: B006 - as above
    model: Annotated[_Names, typer.Option("--model", metavar="M", help="Allow this model; repeatable.")] = [],  # noqa: B006 - as above
    admin: Annotated[bool, typer.Option("--admin", help="Allow everything, metrics included.")] = False,
    user: Annotated[
        str | None, typer.Option("--user", metavar="U", help="Let it speak for this user alone. Default: any.")
    ] = None,
    reads_user: Annotated[
        _Names,
        typer.Option(
            "--reads-user",
            metavar="U",
            help="Let it read what this user wrote, in the dashboard; repeatable, `*` is all. --admin alone does not.",
        ),
    ] = [],  # noqa: B006 - as above
    requests: Annotated[int | None, typer.Option("--requests-per-minute", metavar="N", help="Limit.")] = None,
    tokens: Annotated[
        int | None, typer.Option("--tokens-per-minute", metavar="N", help="Limit, prompt and answer together.")
    ] = None,
    days: Annotated[int | None, typer.Option("--days", min=1, metavar="N", help="Refuse it after N days.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key and show it, once. Without --team, --agent, --model and --admin it may use every name."""
    from repertory.serving.api_keys import ADMIN, ALL_MODELS, READS_USER, new_key, scope_of
    from repertory.storage.store import Store
    from repertory.teams import built_in_teams

    scopes = [ADMIN] if admin else []
    for kind, names in (("team", team), ("agent", agent), ("model", model)):
        scopes += [scope_of(kind, item) for item in names]
    scopes = [*(scopes or [ALL_MODELS]), *(scope_of(READS_USER, item) for item in reads_user)]
    key, kept = new_key(
        name,
        scopes,
        user=user,
        requests_per_minute=requests,
        tokens_per_minute=tokens,
        valid_days=days,
    )
    with Store.open() as store:
        store.keys.add(kept)
    if as_json:
        emit_json({**_document(kept), "key": key})
        return
    screen().print(key, markup=False)
    side().print("keep it now: it is not stored and can not be shown again", style="yellow", markup=False)
    for unknown in [item for item in team if item not in built_in_teams()]:
        words = f"note: '{printable(unknown)}' is no built-in team; a server must run one of that name"
        side().print(words, style="dim", markup=False)


def _list(as_json: JsonOption = False) -> None:
    """List the keys, revoked ones too. The keys themselves are not stored and can not be shown."""
    from rich.table import Table
    from rich.text import Text

    from repertory.storage.store import Store

    store = Store.open_existing()
    keys: list[StoredKey] = []
    if store is not None:
        with store:
            keys = store.keys.all()
    if as_json:
        emit_json({"keys": [_document(key) for key in keys]})
        return
    if not keys:
        side().print("there is no key; `repertory keys create NAME` makes one", markup=False)
        return
    table = Table("id", "name", "may use", "user", "limits per minute", "made", "state", box=None, pad_edge=False)
    for key in keys:
        limits = [
            f"{count:,} {what}"
            for count, what in ((key.requests_per_minute, "requests"), (key.tokens_per_minute, "tokens"))
            if count is not None
        ]
        words = (key.name, " ".join(key.scopes), key.user or "any", ", ".join(limits) or "none")
        made = key.created_at.date().isoformat()
        table.add_row(key.id, *(Text(printable(word)) for word in words), made, _state(key))
    screen().print(table)


def _revoke(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Its id or name.")], as_json: JsonOption = False
) -> None:
    """Refuse a key from now on; a server that runs does so within a second."""
    from repertory.clock import system_clock
    from repertory.storage.store import Store

    with Store.open() as store:
        revoked = store.keys.revoke(key, system_clock())
    if as_json:
        emit_json(_document(revoked))
    else:
        screen().print(printable(f"revoked {revoked.id} ({revoked.name})"), markup=False)


def _state(key: "StoredKey") -> str:
    from repertory.clock import system_clock

    return key.state(system_clock())


def _document(key: "StoredKey") -> dict[str, object]:
    """What is told of a key: never its digest."""
    return {
        "id": key.id,
        "name": key.name,
        "scopes": list(key.scopes),
        "user": key.user,
        "requests_per_minute": key.requests_per_minute,
        "tokens_per_minute": key.tokens_per_minute,
        "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
        "state": _state(key),
    }
