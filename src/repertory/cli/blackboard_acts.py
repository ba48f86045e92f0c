"""`repertory blackboard correct | settle | questionnaire | forget | why | predictions`: acting on one's own data."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.questionnaire import ask_answers, read_answers, show_traits
from repertory.cli.safe_text import printable
from repertory.clock import system_clock
from repertory.errors import StorageError, UsageError
from repertory.storage.ids import check_id

if TYPE_CHECKING:
    from repertory.storage.store import Store
    from repertory.teams.coaching.calibration import Calibration

__all__ = ("register_acts",)

UserOption = Annotated[str, typer.Option("--user", metavar="U", help="Whose data.")]
TeamOption = Annotated[str, typer.Option("--team", metavar="T", help="With this team.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]

_COACHING = "coaching"


def register_acts(group: typer.Typer) -> None:
    """Add the commands to the group `blackboard`."""

    @group.command("predictions")
    def predictions(user: UserOption = "me", as_json: JsonOption = False) -> None:
        """Show how good the predictions of commitments were: Brier score, its parts, skill and calibration."""
        _predictions(user, as_json=as_json)

    @group.command("settle")
    def settle(
        commitment: Annotated[str, typer.Argument(metavar="COMMITMENT", help="Its id, such as k1.")],
        outcome: Annotated[str, typer.Argument(metavar="OUTCOME", help="done, partly, not, dropped or open.")],
        user: UserOption = "me",
        as_json: JsonOption = False,
    ) -> None:
        """Say what became of a commitment; it stands above what was read from messages."""
        _settle(user, commitment, outcome, as_json=as_json)

    @group.command("correct")
    def correct(
        trait: Annotated[
            list[str] | None,
            typer.Option(
                "--trait", metavar="NAME=SCORE", help="A trait from 0 to 100, such as openness=70; `-` withdraws."
            ),
        ] = None,
        fact: Annotated[
            list[str] | None,
            typer.Option(
                "--fact",
                metavar="NAME=TEXT",
                help="goal, priority or growth-edge; an empty text says that it is not as it was said.",
            ),
        ] = None,
        user: UserOption = "me",
        as_json: JsonOption = False,
    ) -> None:
        """Correct a trait or a fact. What you say stands above what models say, and is seen in the history."""
        _correct(user, trait or [], fact or [], as_json=as_json)

    @group.command("questionnaire")
    def questionnaire(
        answers: Annotated[
            str | None, typer.Option("--answers", metavar="LIST", help="Twenty numbers from 1 to 5, with commas.")
        ] = None,
        file: Annotated[
            Path | None, typer.Option("--file", metavar="FILE", help="Read the answers from a file; `-` is stdin.")
        ] = None,
        show: Annotated[bool, typer.Option("--show", help="Only show the statements.")] = False,
        user: UserOption = "me",
        as_json: JsonOption = False,
    ) -> None:
        """Answer twenty statements about yourself (Mini-IPIP, public domain): a better source than text."""
        _questionnaire(user, answers, file, show=show, as_json=as_json)

    @group.command("forget")
    def forget(
        what: Annotated[
            str,
            typer.Argument(metavar="WHAT", help="A message (m3), a commitment (k1), or words that a message holds."),
        ],
        user: UserOption = "me",
        team: TeamOption = _COACHING,
        yes: YesOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """Forget what you wrote, and all that was derived from it, for good."""
        _forget(user, team, what, yes=yes, as_json=as_json)

    @group.command("why")
    def why(
        what: Annotated[
            str,
            typer.Argument(metavar="WHAT", help="A sentence of a reply, a claim (c1, of the last turn), or a trait."),
        ],
        user: UserOption = "me",
        team: TeamOption = _COACHING,
        as_json: JsonOption = False,
    ) -> None:
        """Show what something rests on: the claim, who made it, and what you wrote."""
        _why(user, team, what, as_json=as_json)


def _open(user: str, team: str = _COACHING) -> "Store":
    """The store, when it keeps something about this person."""
    from repertory.storage.store import Store

    check_id("user", user)
    check_id("team", team)
    store = Store.open_existing()
    if store is not None and team in store.teams_of_user(user):
        return store
    if store is not None:
        store.close()
    message = f"nothing is kept about user {user!r} with team {team!r}"
    raise StorageError(message, hint=f"`repertory chat {team}` begins")


def _predictions(user: str, *, as_json: bool) -> None:
    from repertory.storage.store import Store
    from repertory.teams.coaching.calibration import calibration_of

    check_id("user", user)
    store = Store.open_existing()
    commitments = []
    if store is not None:
        with store:
            commitments = store.commitments.all(_COACHING, user)
    scored = calibration_of(commitments)
    kinds = sorted({item.kind for item in commitments})
    by_kind = {kind: calibration_of(item for item in commitments if item.kind == kind) for kind in kinds}
    if as_json:
        told = {kind: one.model_dump(mode="json") for kind, one in by_kind.items()}
        emit_json({"user": user, **scored.model_dump(mode="json"), "kinds": told})
        return
    _show_calibration(scored, by_kind)


def _show_calibration(scored: "Calibration", by_kind: "dict[str, Calibration]") -> None:
    out = screen()
    out.print(scored.note)
    if scored.brier is None:
        return
    skill = "" if scored.skill is None else f", skill against the base rate {scored.skill:+.2f}"
    out.print(
        f"Brier score {scored.brier:.3f} = reliability {scored.reliability:.3f} - resolution {scored.resolution:.3f} "
        f"+ uncertainty {scored.uncertainty:.3f} + within bins {scored.within_bins:.3f}{skill}"
    )
    out.print(f"kept {scored.base_rate:.0%}; log loss {scored.log_loss:.3f}\n")
    table = Table(box=None, pad_edge=False)
    for name in ("predicted", "n", "said", "kept"):
        table.add_column(name, justify="left" if name == "predicted" else "right")
    table.add_column("")
    for one in scored.bins:
        said = "" if one.forecast is None else f"{one.forecast:.0%}"
        kept = "" if one.kept is None else f"{one.kept:.0%}"
        bar = "" if one.kept is None else "#" * round(20 * one.kept)
        table.add_row(f"{one.low:.0%} to {one.high:.0%}", str(one.n), said, kept, bar)
    out.print(table)
    for kind, one in by_kind.items():
        if one.brier is not None:
            words = f"{kind}: {one.n} settled, kept {one.base_rate:.0%}, Brier score {one.brier:.3f}"
            out.print(Text(printable(words, one_line=True)))


def _settle(user: str, commitment: str, outcome: str, *, as_json: bool) -> None:
    from repertory.teams.coaching.person_acts import OUTCOMES, settle

    meant = OUTCOMES.get(outcome.strip().lower())
    if meant is None:
        message = f"{outcome!r} is no outcome"
        raise UsageError(message, hint="say done, partly, not, dropped or open")
    with _open(user) as store:
        settled = settle(store, user, commitment, meant, system_clock())
    if as_json:
        emit_json({"user": user, "id": settled.id, "what": settled.what, "p": settled.p, "outcome": settled.outcome})
    else:
        screen().print(Text(printable(f"{settled.id} {settled.what}: {settled.outcome}", one_line=True)))


def _pairs(options: list[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in options:
        name, separator, value = text.partition("=")
        if not separator or not name.strip():
            message = f"{option} {text!r} is not NAME=VALUE"
            raise UsageError(message, hint="such as --trait openness=70 or --fact goal='run a marathon'")
        found[name.strip()] = value.strip()
    return found


def _score(text: str) -> float | None:
    if text == "-":
        return None
    try:
        score = float(text)
    except ValueError:
        message = f"{text!r} is no score"
        raise UsageError(message, hint="a trait is a number from 0 to 100, or - to withdraw a correction") from None
    return score


def _correct(user: str, traits: list[str], facts: list[str], *, as_json: bool) -> None:
    from repertory.teams.coaching.person_acts import Correction, correct

    if not traits and not facts:
        raise UsageError("nothing is corrected", hint="give --trait NAME=SCORE or --fact NAME=TEXT")
    scores = {name: _score(value) for name, value in _pairs(traits, "--trait").items()}
    with _open(user) as store:
        stands = correct(store, user, Correction(scores, _pairs(facts, "--fact")), system_clock())
    if as_json:
        emit_json({"user": user, "corrections": stands.model_dump(mode="json")})
        return
    out = screen()
    for name, trait in stands.traits.items():
        out.print(f"{name}: {trait.score:g}, as you say")
    for name, fact in stands.facts.items():
        out.print(Text(printable(f"{name}: {fact.text or '(not so)'}, as you say", one_line=True)))


def _questionnaire(user: str, answers: str | None, file: Path | None, *, show: bool, as_json: bool) -> None:
    from repertory.storage.store import Store
    from repertory.teams.coaching.person_acts import answer_questionnaire
    from repertory.teams.coaching.questionnaire import ANSWERS, ITEMS, check_answers

    if show:
        if as_json:
            items = [{"number": n, "text": f"I {item.text}"} for n, item in enumerate(ITEMS, start=1)]
            emit_json({"items": items, "answers": list(ANSWERS)})
        else:
            for number, item in enumerate(ITEMS, start=1):
                screen().print(f"{number:2}  I {item.text}")
        return
    given = read_answers(answers, file)
    if given is None:
        given = ask_answers()
    check_answers(given)
    check_id("user", user)
    with Store.open() as store:
        persona = answer_questionnaire(store, user, given, system_clock())
    show_traits(user, persona, as_json=as_json)


def _forget(user: str, team: str, what: str, *, yes: bool, as_json: bool) -> None:
    from repertory.teams.coaching.person_acts import forget, messages_meant

    with _open(user, team) as store:
        found = messages_meant(store, user, team, what)
        if not found:
            message = f"no message holds {what!r}"
            raise UsageError(message, hint="`repertory blackboard export` has all messages with their ids")
        if not yes and not _confirmed(found):
            side().print("nothing was forgotten")
            raise typer.Exit(1)
        counts = forget(store, user, team, [name for name, _ in found], system_clock())
    if as_json:
        emit_json({"user": user, "team": team, "forgotten": [name for name, _ in found], "changed": counts})
    else:
        screen().print(f"forgotten: {', '.join(name for name, _ in found)}, and what was derived from it")


def _confirmed(found: list[tuple[str, str]]) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("forgetting is for good and must be confirmed", hint="add --yes")
    for name, text in found:
        side().print(Text(printable(f"{name}  {text[:200]}", one_line=True)))
    return typer.confirm(f"Forget {len(found)} of your messages and what was derived from them, for good?", err=True)


def _why(user: str, team: str, what: str, *, as_json: bool) -> None:
    from repertory.teams.coaching.why import reasons_for

    with _open(user, team) as store:
        reasons = reasons_for(store, team, user, what)
    if as_json:
        emit_json({"user": user, "what": what, "reasons": [_reason_document(reason) for reason in reasons]})
        return
    out = screen()
    if not reasons:
        out.print("nothing that was said rests on this; fixed words and greetings rest on nothing")
    for reason in reasons:
        out.print(Text(printable(reason.what, one_line=True), style="bold"))
        out.print(Text(printable(f"  by {reason.by}, {reason.where}; {reason.note}", one_line=True), style="dim"))
        for name, text in reason.evidence.items():
            out.print(Text(printable(f"  {name}  {text or '(forgotten, or not a message)'}", one_line=True)))


def _reason_document(reason: Any) -> dict[str, Any]:
    return {
        "what": reason.what,
        "by": reason.by,
        "where": reason.where,
        "note": reason.note,
        "evidence": [{"message": name, "text": text} for name, text in reason.evidence.items()],
    }
