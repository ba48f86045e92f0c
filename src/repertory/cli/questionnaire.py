"""The twenty statements on the terminal: reading answers, asking for them, and showing the traits they give."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from repertory.cli.output import emit_json, screen, side
from repertory.errors import UsageError

if TYPE_CHECKING:
    from repertory.teams.coaching.sections import PersonaSection

__all__ = ("ask_answers", "read_answers", "show_traits")


def read_answers(answers: str | None, file: Path | None) -> list[object] | None:
    """Answers from the option or the file; None when neither is given.

    Raises:
        UsageError: Both are given, or the file can not be read.
    """
    if answers is None and file is None:
        return None
    if answers is not None and file is not None:
        raise UsageError("answers are given twice", hint="use --answers or --file")
    text = answers or ""
    if file is not None:
        try:
            text = sys.stdin.read(10_000) if str(file) == "-" else file.read_text(encoding="utf-8")[:10_000]
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError("the answers can not be read", where=str(file)) from error
    parts = text.replace("[", " ").replace("]", " ").replace(",", " ").replace(";", " ").split()
    return [int(part) if part.isascii() and part.isdigit() and len(part) == 1 else part for part in parts]


def ask_answers() -> list[object]:
    """Ask the twenty questions on the terminal.

    Raises:
        UsageError: Nobody sits there.
    """
    from repertory.teams.coaching.questionnaire import ANSWERS, ITEMS

    if not sys.stdin.isatty():
        raise UsageError("nobody is there to ask", hint="give --answers or --file; --show prints the statements")
    out = side()
    out.print("How well does each describe you, as you generally are now?")
    out.print(", ".join(f"{number} {words}" for number, words in enumerate(ANSWERS, start=1)))
    answers: list[object] = []
    for number, item in enumerate(ITEMS, start=1):
        answer = 0
        while not 1 <= answer <= len(ANSWERS):
            answer = int(typer.prompt(f"{number:2}. I {item.text} (1-{len(ANSWERS)})", type=int, err=True))
        answers.append(answer)
    return answers


def show_traits(user: str, persona: "PersonaSection", *, as_json: bool) -> None:
    """Tell the traits as they now stand."""
    from repertory.teams.coaching.ocean import DOMAINS

    traits = {name: persona.ocean.trait(name) for name in DOMAINS}
    if as_json:
        emit_json({"user": user, "ocean": {name: trait.model_dump(mode="json") for name, trait in traits.items()}})
        return
    for name, trait in traits.items():
        screen().print(f"{name:18} {trait.score:5.1f}   between {trait.low:g} and {trait.high:g} ({trait.source})")
    screen().print("hypotheses, not facts: `repertory blackboard correct --trait NAME=SCORE` corrects one")
