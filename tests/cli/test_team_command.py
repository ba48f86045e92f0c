"""`repertory team`: exit codes, JSON documents and what is printed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from repertory.cli.team import register
from repertory.cli.team_view import draw_schedule
from repertory.errors import TeamError, UsageError
from repertory.runtime.schedule import derive_schedule
from repertory.runtime.team_file import parse_team, team_file_schema

EXAMPLES = Path(__file__).parents[2] / "examples"
FEEDBACK = str(EXAMPLES / "feedback.yaml")
DEBATE = str(EXAMPLES / "debate.yaml")


def run(*arguments: str) -> Result:
    app = typer.Typer()
    register(app)
    return CliRunner().invoke(app, ["team", *arguments])


def document(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.yaml"
    text = Path(FEEDBACK).read_text(encoding="utf-8").replace("critique: fresh", "critiqe: fresh")
    path.write_text(text.replace("maxLength", "maxLenght", 1), encoding="utf-8")
    return path


def test_check_a_good_file() -> None:
    result = run("check", FEEDBACK)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "feedback: 2 agents, 2 sections, no errors\n", "")


def test_check_prints_errors_and_warnings_with_their_lines(broken: Path) -> None:
    result = run("check", str(broken))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert re.search(rf"warning: {broken}:18:\d+: `maxLenght` is not a keyword", result.stderr)
    assert f"error: {broken}:44:13: agent `editor` reads section `critiqe`" in result.stderr
    assert "did you mean `critique`?" in result.stderr
    assert "Traceback" not in result.stderr


def test_check_as_json(broken: Path) -> None:
    result = run("check", str(broken), "--json")
    found = document(result)
    assert result.exit_code == 2
    assert (found["file"], found["valid"]) == (str(broken), False)
    (error,) = [problem for problem in found["problems"] if problem["severity"] == "error"]
    assert error == {
        "severity": "error",
        "message": "agent `editor` reads section `critiqe`, which does not exist",
        "where": f"{broken}:44:13",
        "line": 44,
        "column": 13,
        "path": ["agents", "editor", "reads", "critiqe"],
        "hint": "did you mean `critique`?",
    }


def test_check_a_good_file_as_json() -> None:
    result = run("check", FEEDBACK, "--json")
    assert result.exit_code == 0
    assert document(result) == {
        "file": FEEDBACK,
        "valid": True,
        "problems": [],
        "team": "feedback",
        "agents": ["critic", "editor"],
        "sections": ["critique", "answer"],
    }


def test_check_a_file_that_is_not_there_as_json() -> None:
    result = run("check", "nowhere/team.yaml", "--json")
    assert result.exit_code == 2
    assert document(result)["problems"][0]["message"] == "there is no such file"


def test_check_against_a_context() -> None:
    assert run("check", FEEDBACK, "--context", "4096").exit_code == 0
    result = run("check", FEEDBACK, "--context", "300")
    assert result.exit_code == 2
    assert "`max_output_tokens`" in result.stderr or "agent `critic`" in result.stderr


def test_warnings_alone_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "spare.yaml"
    text = Path(FEEDBACK).read_text(encoding="utf-8")
    path.write_text(text.replace("sections:\n", "sections:\n  spare: {text: true}\n"), encoding="utf-8")
    result = run("check", str(path))
    assert result.exit_code == 0
    assert result.stderr.startswith(f"warning: {path}:13:3: no agent writes or reads section `spare`")


def test_show() -> None:
    result = run("show", DEBATE)
    assert result.exit_code == 0
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[0] == "debate: Two sides, a fact checker and a judge on one question"
    assert any(line.split()[:2] == ["advocate", "pro"] and "contra" in line for line in lines)
    assert any("pro (90 s, else latest)" in line for line in lines)
    assert "first reply: opening" in lines
    assert lines[-8:] == [
        "",
        "step 1       step 2",
        "----------   -----------------------------",
        "host         judge * <- advocate, opponent",
        "advocate *",
        "opponent *",
        "",
        "critical (*): advocate -> judge",
    ]


def test_show_as_json() -> None:
    found = document(run("show", DEBATE, "--json"))
    assert found["schedule"] == {
        "steps": [["host", "advocate", "opponent"], ["judge"]],
        "critical_path": ["advocate", "judge"],
    }
    assert found["agents"]["judge"]["waits_for"] == ["advocate", "opponent"]
    assert found["agents"]["judge"]["reads"]["pro"] == {"mode": "fresh", "within_s": 90.0, "on_missing": "latest"}
    assert {name: agent["priority"] for name, agent in found["agents"].items()} == {
        "host": 0, "advocate": 1, "opponent": 1, "judge": 1,
    }  # fmt: skip
    assert found["sections"]["opening"] == {
        "kind": "text", "description": "What the question is really about", "by": "agent",
    }  # fmt: skip


@pytest.mark.parametrize("arguments", [("show", "coachng"), ("show", "nowhere.yaml")])
def test_show_what_does_not_exist(arguments: tuple[str, ...]) -> None:
    assert isinstance(run(*arguments).exception, UsageError)


def test_show_a_broken_file(broken: Path) -> None:
    error = run("show", str(broken)).exception
    assert isinstance(error, TeamError)
    assert [problem.line for problem in error.problems] == [44]


def test_the_schema_is_one_json_document() -> None:
    assert document(run("schema")) == team_file_schema()


def test_the_schedule_of_a_chain_is_drawn_from_left_to_right() -> None:
    chain = parse_team(
        "name: t\npreamble: '-'\nreply: c\nsections: {a: {text: true}, b: {text: true}, c: {text: true}}\nagents:\n"
        "  one: {writes: a, instructions: '-'}\n  aside: {writes: b, instructions: '-'}\n"
        "  three: {writes: c, instructions: '-', reads: {a: fresh, b: fresh}}\n"
    )
    assert draw_schedule(derive_schedule(chain)) == [
        "step 1    step 2",
        "-------   ---------------------",
        "one *     three * <- one, aside",
        "aside *",
        "",
        "critical (*): one -> three",
    ]
