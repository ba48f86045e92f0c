import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from repertory.cli import blackboard, questionnaire
from repertory.errors import RepertoryError, StorageError, UsageError
from repertory.home import locate_home
from repertory.storage.records import CommitmentChange
from repertory.storage.store import Store

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
ANSWERS = "5,4,3,2,5,1,2,3,4,1,5,4,3,2,1,1,2,3,4,1"


def _run(*arguments: str, text: str | None = None) -> Result:
    app = typer.Typer(rich_markup_mode=None)
    blackboard.register(app)
    result = CliRunner().invoke(app, ["blackboard", *arguments], input=text, catch_exceptions=True)
    if isinstance(result.exception, RepertoryError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def _json(*arguments: str, text: str | None = None) -> Any:
    return json.loads(_run(*arguments, "--json", text=text).stdout)


@pytest.fixture
def data() -> None:
    with Store.open() as store:
        session = store.sessions.start("coaching", "me", "monday", NOW, "Goals: the zeppelin")
        turn = store.turns.begin_turn(session, at=NOW)
        message = store.messages.append_message(
            session, "person", "I'll fix the zeppelin [bold]\x1b]0;x\x07", turn.id, NOW
        )
        claim = {
            "id": "c1",
            "agent": "shadow",
            "topic": "goal",
            "text": "What you want: fix the zeppelin.",
            "evidence": ["m1"],
            "confidence": None,
        }
        changes = [CommitmentChange(what="fix it", kind="once", p=p, evidence=message.id) for p in (0.5, 0.7, 0.4)]
        store.commitments.apply("coaching", "me", changes, message.id, NOW)
        store.turns.finish_turn(turn.id, "complete", {"merge": {"claims": [claim], "reply": []}}, at=NOW)
    return


@pytest.mark.usefixtures("data")
def test_outcomes_and_their_predictions() -> None:
    assert _json("predictions")["brier"] is None
    assert _json("settle", "k1", "done")["outcome"] == "kept"
    assert _json("settle", "k2", "partly")["outcome"] == "partly"
    assert _json("settle", "k3", "not")["outcome"] == "missed"
    scored = _json("predictions")
    assert (scored["n"], scored["base_rate"]) == (3, 0.3333)
    assert scored["brier"] == pytest.approx((0.25 + 0.49 + 0.16) / 3, abs=1e-4)
    assert scored["kinds"]["once"]["n"] == 3
    shown = _run("predictions").stdout
    assert "Brier score 0.300 = reliability" in shown
    assert "too few" in shown
    with pytest.raises(UsageError, match="no outcome"):
        _run("settle", "k1", "perhaps")
    with pytest.raises(UsageError, match="no commitment"):
        _run("settle", "k9", "done")


@pytest.mark.usefixtures("data")
def test_corrections() -> None:
    document = _json("correct", "--trait", "openness=70", "--fact", "goal=build a [red]kite")
    assert document["corrections"]["traits"]["openness"]["score"] == 70
    assert document["corrections"]["facts"]["goal"]["text"] == "build a red kite"
    history = _json("history", "--section", "corrections")["teams"]["coaching"]
    assert [(item["agent"], item["turn"]) for item in history] == [("person", "")]
    assert _json("correct", "--trait", "openness=-")["corrections"]["traits"] == {}
    assert "build a red kite, as you say" in _run("correct", "--trait", "e=40").stdout
    for arguments in (
        (),
        ("--trait", "openness"),
        ("--trait", "openness=high"),
        ("--trait", "luck=3"),
        ("--fact", "age=3"),
        ("--trait", "openness=nan"),
    ):
        with pytest.raises(UsageError):
            _run("correct", *arguments)


@pytest.mark.parametrize("where", ["option", "file", "stdin"])
def test_the_questionnaire_without_a_terminal(where: str, tmp_path: Path) -> None:
    file = tmp_path / "answers.txt"
    file.write_text(f"[{ANSWERS.replace(',', ', ')}]\n")
    given = {"option": ("--answers", ANSWERS), "file": ("--file", str(file)), "stdin": ("--file", "-")}[where]
    ocean = _json("questionnaire", *given, text=ANSWERS if where == "stdin" else None)["ocean"]
    assert {name: trait["source"] for name, trait in ocean.items()} == dict.fromkeys(ocean, "questionnaire")
    assert (ocean["extraversion"]["score"], ocean["neuroticism"]["score"]) == (100, 25)


def test_answers_that_are_none() -> None:
    for arguments in (
        ("--answers", "1,2"),
        ("--answers", ANSWERS + ",x"),
        ("--file", "/absent"),
        (),
        ("--answers", ANSWERS.replace("5", "9")),
    ):
        with pytest.raises(UsageError):
            _run("questionnaire", *arguments)
    assert not locate_home().database.exists()
    assert len(_json("questionnaire", "--show")["items"]) == 20


@pytest.mark.usefixtures("data")
def test_why_and_forget() -> None:
    [reason] = _json("why", "c1")["reasons"]
    assert reason["by"] == "shadow"
    assert [item["message"] for item in reason["evidence"]] == ["m1"]
    assert "\x1b" not in _run("why", "You want to fix the zeppelin").stdout
    with pytest.raises(UsageError, match="must be confirmed"):
        _run("forget", "zeppelin")
    with pytest.raises(UsageError, match="no message"):
        _run("forget", "submarine", "--yes")
    assert _json("forget", "k1", "--yes")["forgotten"] == ["m1"]
    assert "zeppelin" not in _run("export").stdout
    assert "nothing that was said" in _run("why", "fix the zeppelin").stdout


def test_nothing_is_kept_about_a_stranger() -> None:
    for arguments in (
        ("settle", "k1", "done"),
        ("correct", "--trait", "o=1"),
        ("forget", "m1", "--yes"),
        ("why", "c1"),
    ):
        with pytest.raises(StorageError, match="nothing is kept"):
            _run(*arguments)
    assert _json("predictions")["n"] == 0
    assert not locate_home().root.exists()


def test_asked_on_a_terminal_until_every_answer_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter([7, 0, *([3] * 20)])
    asked: list[str] = []

    def prompt(text: str, **_: Any) -> int:
        asked.append(text)
        return next(given)

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(typer, "prompt", prompt)
    assert questionnaire.ask_answers() == [3] * 20
    assert len(asked) == 22
    assert "life of the party" in asked[0]
