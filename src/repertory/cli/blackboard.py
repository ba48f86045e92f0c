"""`repertory blackboard`: a person's own data, to see, to trace, to correct, to take away, to erase."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.text import Text

from repertory.cli.blackboard_acts import register_acts
from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.safe_text import printable
from repertory.errors import StorageError, UsageError
from repertory.storage.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from repertory.storage.records import SectionVersion
    from repertory.storage.store import Store

    Items = Iterable[tuple[object, object]]

__all__ = ("print_blackboard", "register")

UserOption = Annotated[str, typer.Option("--user", metavar="U", help="Whose data.")]
TeamOption = Annotated[str | None, typer.Option("--team", metavar="T", help="With this team alone; all by default.")]
SectionOption = Annotated[str | None, typer.Option("--section", metavar="S", help="Only this section.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead of stdout.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        help="A person's own data: see it, trace it, correct it, take it away, erase it.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.add_typer(group, name="blackboard")

    @group.command("show")
    def show(user: UserOption = "me", team: TeamOption = None, as_json: JsonOption = False) -> None:
        """Show the latest sections, the commitments and the sessions."""
        _show(user, team, as_json=as_json)

    @group.command("history")
    def history(
        user: UserOption = "me", team: TeamOption = None, section: SectionOption = None, as_json: JsonOption = False
    ) -> None:
        """Show every version: who wrote it, in which turn, from which messages."""
        _history(user, team, section, as_json=as_json)

    @group.command("export")
    def export(
        user: UserOption = "me", team: TeamOption = None, output: OutputOption = None, as_json: JsonOption = False
    ) -> None:
        """Write everything that is kept as one JSON document (it is JSON with and without `--json`)."""
        _export(user, team, output, as_json=as_json)

    @group.command("erase")
    def erase(
        user: UserOption = "me", team: TeamOption = None, yes: YesOption = False, as_json: JsonOption = False
    ) -> None:
        """Delete everything that is kept, for good."""
        _erase(user, team, yes=yes, as_json=as_json)

    register_acts(group)


def _open(user: str, team: str | None) -> "tuple[Store | None, list[str]]":
    """The store, if there is one, and the teams that are asked for and keep something about the user."""
    from repertory.storage.store import Store

    check_id("user", user)
    if team is not None:
        check_id("team", team)
    store = Store.open_existing()
    if store is None:
        return None, []
    try:
        return store, [name for name in store.teams_of_user(user) if team in {None, name}]
    except BaseException:
        store.close()
        raise


def _show(user: str, team: str | None, *, as_json: bool) -> None:
    store, teams = _open(user, team)
    if store is None or not teams:
        if as_json:
            emit_json({"user": user, "teams": {}})
        else:
            _print_nothing(user, team)
        return
    with store:
        if as_json:
            emit_json({"user": user, "teams": {name: _team_document(store, user, name) for name in teams}})
            return
        out = screen()
        for name in teams:
            print_blackboard(store, user, name, out)


def _team_document(store: "Store", user: str, team: str) -> dict[str, Any]:
    sections = store.blackboard(team, user).all_latest()
    return {
        "sections": {name: _version_document(version) for name, version in sections.items()},
        "commitments": [
            {
                "id": commitment.id,
                "what": commitment.what,
                "when": commitment.when,
                "due": commitment.due.isoformat() if commitment.due else None,
                "p": commitment.p,
                "outcome": commitment.outcome,
            }
            for commitment in store.commitments.all(team, user)
        ],
        "sessions": [
            {"id": session.id, "number": session.number, "started_at": session.started_at.isoformat()}
            for session in store.sessions.all(team, user)
        ],
    }


def _version_document(version: "SectionVersion") -> dict[str, Any]:
    return {
        "section": version.section,
        "version": version.version,
        "turn": version.turn,
        "agent": version.agent,
        "evidence": list(version.evidence),
        "at": version.at.isoformat(),
        "value": version.value,
    }


def _print_nothing(user: str, team: str | None) -> None:
    with_team = f" with team {team!r}" if team else ""
    screen().print(printable(f"nothing is kept about user {user!r}{with_team}", one_line=True), markup=False)


def print_blackboard(store: "Store", user: str, team: str, out: "Console") -> None:
    """Print one team's blackboard of a user: latest sections, commitments, sessions."""
    out.print(Text(printable(f"{team}, user {user}", one_line=True), style="bold"))
    for name, version in store.blackboard(team, user).all_latest().items():
        out.print(Text(f"\n{printable(name, one_line=True)}", style="bold cyan"), Text(_origin(version), style="dim"))
        out.print(Text(_readable(version.value)))
    commitments = store.commitments.all(team, user)
    if commitments:
        out.print(Text("\ncommitments", style="bold cyan"))
    for commitment in commitments:
        when = f" ({commitment.when})" if commitment.when else ""
        p = "" if commitment.p is None else f", predicted {commitment.p:.0%}"
        words = f"{commitment.id} {commitment.what}{when}: {commitment.outcome}{p}"
        out.print(Text(f"  {printable(words, one_line=True)}"))
    sessions = store.sessions.all(team, user)
    if sessions:
        out.print(Text("\nsessions", style="bold cyan"))
    for session in sessions:
        words = printable(session.id, one_line=True)
        out.print(Text(f"  {session.number}  {words}  {session.started_at:%Y-%m-%d %H:%M} UTC"))


def _origin(version: "SectionVersion") -> str:
    evidence = f" from {', '.join(version.evidence)}" if version.evidence else ""
    place = f"in turn {version.turn}" if version.turn else "outside of a turn"
    words = f"version {version.version} by {version.agent} {place}{evidence}"
    return f"{printable(words, one_line=True)}, {version.at:%Y-%m-%d %H:%M} UTC"


def _readable(value: object) -> str:
    """A JSON value as an indented outline."""
    return "\n".join(f"  {line}" for line in _outline(value))


def _outline(value: object) -> list[str]:
    if isinstance(value, dict):
        parts = [(f"{printable(str(key), one_line=True)}:", item) for key, item in cast("Items", value.items())]
    elif isinstance(value, list):
        parts = [("-", item) for item in cast("list[object]", value)]
    elif isinstance(value, str):
        return printable(value).split("\n")
    else:
        return [json.dumps(value)]
    lines: list[str] = []
    for head, item in parts:
        below = _outline(item)
        if len(below) == 1 and not (isinstance(item, dict | list) and item):
            lines.append(f"{head} {below[0]}".rstrip())
        else:
            lines += [head, *(f"  {line}" for line in below)]
    return lines


def _history(user: str, team: str | None, section: str | None, *, as_json: bool) -> None:
    store, teams = _open(user, team)
    versions: dict[str, list[SectionVersion]] = {}
    if store is not None:
        with store:
            versions = {name: store.blackboard(name, user).history(section) for name in teams}
    if as_json:
        documents = {name: [_version_document(version) for version in found] for name, found in versions.items()}
        emit_json({"user": user, "teams": documents})
    elif not any(versions.values()):
        _print_nothing(user, team)
    else:
        _print_history(user, versions)


def _print_history(user: str, versions: "dict[str, list[SectionVersion]]") -> None:
    out = screen()
    for name, found in versions.items():
        out.print(Text(printable(f"{name}, user {user}", one_line=True), style="bold"))
        for version in found:
            title = Text(f"\n{printable(version.section, one_line=True)}", style="bold cyan")
            out.print(title, Text(_origin(version), style="dim"))
            out.print(Text(_readable(version.value)))


def _export(user: str, team: str | None, output: Path | None, *, as_json: bool) -> None:
    store, _ = _open(user, team)
    document: dict[str, Any] = {"format": "repertory-export-1", "user": user, "teams": {}}
    if team is None:
        document["agents"] = {}
    if store is not None:
        with store:
            document = store.export(user, team)
    if output is None:
        emit_json(document)
        return
    _write_whole(output, document)
    if as_json:
        emit_json({"user": user, "output": str(output), "teams": sorted(document["teams"])})
    else:
        side().print(f"written to {printable(str(output))}", markup=False)


def _write_whole(output: Path, document: object) -> None:
    """Write the document so that the file is either as it was or whole, and readable by its owner alone."""
    data = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False).encode("utf-8", "replace") + b"\n"
    try:
        handle, name = tempfile.mkstemp(prefix=".repertory-", dir=output.parent)
        draft = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(output)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"the file can not be written: {error.strerror or error}"
        raise StorageError(message, where=str(output)) from error


def _erase(user: str, team: str | None, *, yes: bool, as_json: bool) -> None:
    store, teams = _open(user, team)
    agents: list[str] = []
    counts: dict[str, int] = {}
    if store is not None:
        with store:
            agents = store.agents_of_user(user)
            if (teams or agents) and not yes and not _confirmed(user, teams, agents):
                side().print("nothing was erased")
                raise typer.Exit(1)
            # Also when nothing is kept: an erase that could not clean the file is made good by the next one.
            counts = store.erase(user, team)
    if as_json:
        emit_json({"user": user, "team": team, "teams": teams, "agents": agents, "erased": counts})
    elif not teams and not agents:
        _print_nothing(user, team)
    else:
        told = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in counts.items() if count)
        screen().print(printable(f"erased what was kept about user {user!r}: {told}", one_line=True), markup=False)


def _confirmed(user: str, teams: list[str], agents: list[str]) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("erasing is for good and must be confirmed", hint="add --yes")
    kept = [f"with {', '.join(teams)}"] * bool(teams) + [f"that the agents {', '.join(agents)} keep"] * bool(agents)
    question = printable(f"Erase everything about user {user!r} {' and '.join(kept)}, for good?", one_line=True)
    return typer.confirm(question, err=True)
