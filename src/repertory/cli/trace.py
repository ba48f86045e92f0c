"""`repertory trace`: a turn as a timeline."""

from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.safe_text import printable
from repertory.errors import UsageError

if TYPE_CHECKING:
    from repertory.storage.records import Turn
    from repertory.storage.store import Store

__all__ = ("register",)

TurnArgument = Annotated[
    str | None, typer.Argument(metavar="[TURN]", help="A turn's id or the beginning of it; the last turn by default.")
]
UserFilter = Annotated[str | None, typer.Option("--user", metavar="U", help="Only turns of this user.")]
TeamFilter = Annotated[str | None, typer.Option("--team", metavar="T", help="Only turns of this team.")]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("trace")
    def trace(
        turn: TurnArgument = None,
        user: UserFilter = None,
        team: TeamFilter = None,
        as_json: JsonOption = False,
    ) -> None:
        """Show a turn as a timeline: who waited for whom, tokens computed and cached, cuts, repairs."""
        from repertory.storage.store import Store

        store = Store.open_existing()
        found = None
        if store is not None:
            with store:
                found = store.turns.find_turn(turn, team, user) if turn else store.turns.latest_turn(team, user)
                if found is not None:
                    _show(store, found, as_json=as_json)
        if found is None:
            message = f"there is no turn {turn!r}" if turn else "there is no turn yet"
            raise UsageError(message, hint="make one with `repertory run coaching --message TEXT`")


def _show(store: "Store", turn: "Turn", *, as_json: bool) -> None:
    from repertory.cli.timeline_view import render_timeline
    from repertory.runtime.trace import read_trace

    trace = read_trace(store, turn)
    if as_json:
        emit_json(trace.document())
        return
    timeline = trace.timeline
    out = screen()
    reason = f" ({timeline.reason})" if timeline.reason else ""
    head = f"turn {turn.id}: {turn.team}, user {turn.user}, session {turn.session}, {turn.status}{reason}"
    out.print(printable(head, one_line=True), markup=False, style="bold")
    out.print(f"begun {turn.started_at:%Y-%m-%d %H:%M:%S} UTC", style="dim")
    if turn.status == "interrupted":
        out.print(f"it was cut off; `repertory resume {turn.id}` completes it", style="yellow", markup=False)
    out.print(render_timeline(timeline, out.width))
    if trace.unread:
        words = f"{trace.unread} events could not be read: another version of Repertory wrote them"
        side().print(words, style="yellow")
