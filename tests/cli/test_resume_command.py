"""`repertory resume`, and what `run` does about turns that were cut off before it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from repertory.cli import compact, resume, run, trace
from repertory.engines.profile import EngineKind
from repertory.errors import UsageError
from repertory.storage.records import Session
from repertory.storage.store import Store
from repertory.testing import ScriptedEngine
from repertory.testing.obliging import obliging

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
TEAM = """\
name: pair
preamble: You are two.
sections:
  hello: {text: true}
  ending: {text: true}
agents:
  quick: {instructions: Greet., writes: hello}
  closer: {instructions: Close., writes: ending, reads: {hello: fresh}}
replies: {first: hello, full: ending}
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[ScriptedEngine]:
    with ScriptedEngine(reply=obliging("I hear you."), kind=EngineKind.VLLM).in_thread() as running:
        yield running


@pytest.fixture
def team(tmp_path: Path) -> str:
    path = tmp_path / "pair.yaml"
    path.write_text(TEAM)
    return str(path)


def cut_off(user: str = "me", team: str = "pair", text: str = "I will call Mia.") -> str:
    """A turn whose process ended before its agents had done anything."""
    with Store.open() as store:
        session = Session(id="s1", team=team, user=user, number=1, started_at=NOW, memory="")
        _, turn, _ = store.taking_up.begin(session, text, memory="", safety="none", at=NOW)
        store.turns.interrupt(turn.id)
    return turn.id


def repertory(*arguments: str) -> Result:
    app = typer.Typer()
    for command in (run, resume, compact, trace):
        command.register(app)
    return CliRunner().invoke(app, arguments)


def messages(user: str = "me") -> list[str]:
    with Store.open() as store:
        session = store.sessions.find("pair", user, "s1")
        assert session is not None
        return [message.text for message in store.messages.messages(session)]


def test_a_turn_is_completed_by_the_beginning_of_its_id(engine: ScriptedEngine, team: str) -> None:
    turn = cut_off()
    done = repertory("resume", turn[:-2], "--team", team, "--engine-url", engine.url, "--json")
    assert done.exit_code == 0, done.output
    (document,) = json.loads(done.stdout)["turns"]
    assert (document["turn"], document["status"], document["reply"]) == (turn, "complete", "I hear you.")
    assert messages() == ["I will call Mia.", "I hear you.\n\nI hear you."]
    again = repertory("resume", turn, "--team", team, "--engine-url", engine.url)
    assert isinstance(again.exception, UsageError)
    assert "nothing to resume" in str(again.exception)


def test_without_an_id_all_are_completed_of_one_user_or_all(engine: ScriptedEngine, team: str) -> None:
    cut_off("ada")
    cut_off("bob")
    done = repertory("resume", "--user", "ada", "--team", team, "--engine-url", engine.url, "--json")
    assert [one["user"] for one in json.loads(done.stdout)["turns"]] == ["ada"]
    done = repertory("resume", "--team", team, "--engine-url", engine.url, "--json")
    assert [one["user"] for one in json.loads(done.stdout)["turns"]] == ["bob"]
    done = repertory("resume", "--team", team, "--engine-url", engine.url)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "there is nothing to resume" in done.stderr


def test_run_completes_the_users_own_turns_first_and_prints_only_its_own(engine: ScriptedEngine, team: str) -> None:
    cut_off("me")
    cut_off("bob")
    done = repertory("run", team, "-m", "And now?", "--session", "s1", "--engine-url", engine.url, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["status"] == "complete"
    assert messages() == ["I will call Mia.", "I hear you.\n\nI hear you.", "And now?", "I hear you.\n\nI hear you."]
    assert messages("bob") == ["I will call Mia."]
    assert "which was cut off" in done.stderr


def test_a_turn_that_is_cut_off_again_and_again_is_left_for_its_user(engine: ScriptedEngine, team: str) -> None:
    turn = cut_off()
    with Store.open() as store:
        for _ in range(3):
            store.taking_up.resume(turn)
            store.turns.interrupt(turn)
    done = repertory("run", team, "-m", "And now?", "--session", "s2", "--engine-url", engine.url)
    assert "was cut off 3 times" in " ".join(done.stderr.split())
    assert messages() == ["I will call Mia."]
    assert repertory("resume", turn, "--team", team, "--engine-url", engine.url).exit_code == 0
    assert len(messages()) == 2


def test_a_team_file_has_to_be_named(engine: ScriptedEngine) -> None:
    turn = cut_off()
    done = repertory("resume", turn, "--engine-url", engine.url)
    assert isinstance(done.exception, UsageError)
    assert "--team FILE" in str(done.exception.hint)
    # It keeps no other turn from being completed.
    done = repertory("resume", "--engine-url", engine.url)
    assert done.exit_code == 0
    assert "which is not built in" in " ".join(done.stderr.split())


@pytest.mark.parametrize("turn", ["nonsense", "t9", "%", "'; --"])
def test_a_turn_that_is_not_there_is_bad_usage(turn: str) -> None:
    cut_off()
    done = repertory("resume", turn)
    assert isinstance(done.exception, UsageError)
    assert "there is no turn" in str(done.exception)


def test_the_trace_says_what_completes_a_turn() -> None:
    turn = cut_off()
    shown = repertory("trace").stdout
    assert "interrupted" in shown
    assert f"repertory resume {turn}" in " ".join(shown.split())
    assert json.loads(repertory("trace", "--json").stdout)["status"] == "interrupted"


def test_sessions_are_compacted_and_the_messages_stay(engine: ScriptedEngine, team: str) -> None:
    for session in ("s1", "s2"):
        repertory("run", team, "-m", "My sister is called Mia.", "--session", session, "--engine-url", engine.url)
    done = repertory("compact", team, "--engine-url", engine.url, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["sessions"] == 1
    assert messages()[0] == "My sister is called Mia."
