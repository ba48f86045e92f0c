"""A team is found by the name of a built-in one, or by the path of its file."""

from pathlib import Path

import pytest

from repertory.errors import TeamError, UsageError
from repertory.runtime.rules import TeamRules
from repertory.teams import built_in_teams, find_team

EXAMPLES = Path(__file__).parents[2] / "examples"

PYTHON = """\
from repertory import Agent, Section, Team, TeamRules
from repertory.runtime.team import Replies

class Rules(TeamRules):
    code_sections = ("ledger",)

def make():
    return Team(name="py", preamble="-", sections={"answer": Section(text=True)},
                agents={"a": Agent(writes="answer", instructions="-")}, replies=Replies(full="answer"))

"""


@pytest.mark.parametrize("name", built_in_teams())
def test_built_in_teams(name: str) -> None:
    team, rules = find_team(name)
    assert team.name == name
    assert isinstance(rules, TeamRules)


def test_a_yaml_file_has_the_plain_rules() -> None:
    team, rules = find_team(str(EXAMPLES / "feedback.yaml"))
    assert team.name == "feedback"
    assert type(rules) is TeamRules


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="no team is called `coachng`") as caught:
        find_team("coachng")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("did you mean `coaching`? built-in teams: ")


@pytest.mark.parametrize("name", ["nope.yaml", "some/where", "nope.py", "a\0b", "a\0b.yaml", "x" * 5000, ""])
def test_what_is_neither_a_team_nor_a_file(name: str) -> None:
    with pytest.raises(UsageError):
        find_team(name)


def test_a_file_without_an_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "duo").write_bytes((EXAMPLES / "feedback.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert find_team("duo")[0].name == "feedback"


@pytest.mark.parametrize(
    ("ending", "rules"),
    [("open_team = make\n", "TeamRules"), ("def open_team():\n    return make(), Rules()\n", "Rules")],
)
def test_a_python_file(tmp_path: Path, ending: str, rules: str) -> None:
    path = tmp_path / "py.py"
    path.write_text(PYTHON + ending, encoding="utf-8")
    team, found = find_team(str(path))
    assert (team.name, type(found).__name__) == ("py", rules)


@pytest.mark.parametrize(
    ("code", "where", "message"),
    [
        ("x = 1\n", "", "the file has no function `open_team`"),
        ("def open_team():\n    return 3\n", "", "`open_team` does not return a team"),
        ("def open_team(:\n", ":1:", "SyntaxError"),
        ("import nothing_like_this\n", ":1", "ModuleNotFoundError"),
        ("def open_team():\n    return 1 / 0\n", ":2", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_python_file_that_is_wrong(tmp_path: Path, code: str, where: str, message: str) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(code, encoding="utf-8")
    with pytest.raises(TeamError) as caught:
        find_team(str(path))
    assert message in caught.value.message
    assert (caught.value.where or "").startswith(f"{path}{where}")
