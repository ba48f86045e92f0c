import json
import os
import pty
import stat
import subprocess
import sys
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from repertory.cli import blackboard
from repertory.errors import RepertoryError, StorageError, UsageError
from repertory.home import locate_home
from repertory.registry.records import AgentRecords
from repertory.storage.records import CommitmentChange
from repertory.storage.store import Store

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
HOSTILE = "a [bold]book[/bold] \x1b]0;taken over\x07 [/]"


def _app() -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None)
    blackboard.register(app)
    return app


def _run(*arguments: str) -> Result:
    result = CliRunner().invoke(_app(), ["blackboard", *arguments], catch_exceptions=True)
    if isinstance(result.exception, RepertoryError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def _json(*arguments: str) -> Any:
    return json.loads(_run(*arguments, "--json").stdout)


@pytest.fixture
def data() -> Generator[None]:
    with Store.open() as store:
        for user in ("me", "bob"):
            session = store.sessions.start("coaching", user, "monday", NOW)
            for n in range(2):
                turn = store.turns.begin_turn(session, at=NOW)
                message = store.messages.append_message(session, "person", f"{user} wants a book", turn.id, NOW)
                store.blackboard("coaching", user).commit_agent_result(
                    "shadow",
                    {"stated_goal": HOSTILE, "of": f"{user} {n}", "evidence": [message.id]},
                    turn=turn.id,
                    agent="shadow",
                    evidence=(message.id,),
                    commitments=(CommitmentChange(what=f"write {HOSTILE}", when="tomorrow", p=0.4),),
                    message=message.id,
                    at=NOW,
                )
        yield


@pytest.mark.parametrize("command", ["show", "history", "export"])
def test_looking_at_nothing_makes_no_file(command: str) -> None:
    assert _json(command)["teams"] == {}
    assert _run(command).exit_code == 0
    assert not locate_home().root.exists()


@pytest.mark.usefixtures("data")
def test_show_as_json() -> None:
    document = _json("show")
    assert document["user"] == "me"
    team = document["teams"]["coaching"]
    shadow = team["sections"]["shadow"]
    assert (shadow["version"], shadow["agent"], shadow["evidence"]) == (2, "shadow", ["m2"])
    assert shadow["value"]["of"] == "me 1"
    assert [(row["id"], row["outcome"], row["p"]) for row in team["commitments"]] == [
        ("k1", "open", 0.4),
        ("k2", "open", 0.4),
    ]
    assert [session["id"] for session in team["sessions"]] == ["monday"]


@pytest.mark.usefixtures("data")
def test_show_in_words_lets_nothing_through_to_the_terminal() -> None:
    shown = _run("show").stdout
    assert "stated_goal: a [bold]book[/bold] ]0;taken over [/]" in shown
    assert "me 1" in shown
    assert "bob" not in shown
    assert "k1 write a [bold]book" in shown
    assert "\x1b" not in shown


@pytest.mark.usefixtures("data")
def test_history_tells_every_version_with_its_origin() -> None:
    versions = _json("history")["teams"]["coaching"]
    assert [(version["version"], version["value"]["of"]) for version in versions] == [(1, "me 0"), (2, "me 1")]
    assert _json("history", "--section", "persona")["teams"]["coaching"] == []
    words = _run("history", "--section", "shadow").stdout
    assert "version 1 by shadow in turn t" in words
    assert "from m1, 2026-12-01 09:30 UTC" in words


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(("team", "teams"), [("coaching", ["coaching"]), ("other", [])])
def test_a_team_narrows_it(team: str, teams: list[str]) -> None:
    for command in ("show", "history", "export"):
        assert list(_json(command, "--team", team)["teams"]) == teams
    assert f"user 'me' with team {team!r}" in _run("show", "--team", team).stdout or teams


@pytest.mark.usefixtures("data")
def test_export_writes_json_with_and_without_the_option() -> None:
    document = _json("export")
    assert json.loads(_run("export").stdout) == document
    assert [message["text"] for message in document["teams"]["coaching"]["messages"]] == ["me wants a book"] * 2


@pytest.mark.usefixtures("data")
def test_export_to_a_file_is_private_and_whole(tmp_path: Path) -> None:
    output = tmp_path / "mine.json"
    output.write_text("old")
    assert _json("export", "--output", str(output))["teams"] == ["coaching"]
    assert json.loads(output.read_text(encoding="utf-8")) == _json("export")
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    assert [file for file in tmp_path.iterdir() if file.name.startswith(".")] == []
    with pytest.raises(StorageError, match="can not be written"):
        _run("export", "--output", str(tmp_path / "none" / "mine.json"))


@pytest.mark.usefixtures("data")
def test_erase_must_be_confirmed() -> None:
    with pytest.raises(UsageError) as error:
        _run("erase")
    assert error.value.hint == "add --yes"
    assert _json("export")["teams"]


@pytest.mark.usefixtures("data")
def test_erase_tells_what_it_erased() -> None:
    erased = _json("erase", "--yes")
    assert erased["teams"] == ["coaching"]
    assert (erased["erased"]["messages"], erased["erased"]["section_versions"]) == (2, 2)
    assert _json("export")["teams"] == {}
    assert _json("export", "--user", "bob")["teams"]
    assert "nothing is kept about user 'me'" in _run("erase", "--yes").stdout
    assert "2 messages" in _run("erase", "--yes", "--user", "bob").stdout


def test_erase_is_also_of_what_agents_keep_and_asks_for_that_alone() -> None:
    records = AgentRecords(locate_home().agents / "diary" / "records.sqlite")
    for user in ("me", "bob"):
        call = records.begin(user)
        call.functions()["records_put"]("secret", f"swordfish of {user}")
        assert call.end(keep=True)
    with Store.open():
        pass
    with pytest.raises(UsageError):
        _run("erase")
    erased = _json("erase", "--yes")
    assert (erased["teams"], erased["agents"], erased["erased"]["agent_records"]) == ([], ["diary"], 1)
    assert list(records.export()["users"]) == ["bob"]


_ON_A_TERMINAL = """
import typer
from repertory.cli import blackboard
app = typer.Typer()
blackboard.register(app)
app()
"""


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(("answer", "left"), [(b"n\n", ["coaching"]), (b"y\n", [])])
def test_erase_asks_on_a_terminal(answer: bytes, left: list[str]) -> None:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        done = subprocess.run(
            [sys.executable, "-c", _ON_A_TERMINAL, "blackboard", "erase", "--json"],
            stdin=theirs,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert "Erase everything about user 'me' with coaching" in done.stderr
    assert list(_json("export")["teams"]) == left
    assert done.returncode == (1 if left else 0)


@pytest.mark.parametrize("user", ["", "x" * 201])
def test_an_id_that_is_none_is_bad_usage(user: str) -> None:
    with pytest.raises(UsageError):
        _run("show", "--user", user)
