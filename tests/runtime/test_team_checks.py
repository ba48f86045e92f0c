"""The same rules for a team that is built in Python: the place is a path inside the team."""

import pytest

from repertory.errors import TeamError
from repertory.runtime.harness.settings import HarnessSettings
from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team
from repertory.runtime.team_checks import check_team, require_team
from repertory.runtime.team_dump import dump_team
from repertory.runtime.team_file import parse_team

FRESH = Read(mode=ReadMode.FRESH)
TALLY = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}}, "required": ["n"]}


def agent(writes: str, **reads: Read) -> Agent:
    return Agent(instructions="-", writes=writes, reads=reads)


def team(agents: dict[str, Agent], **sections: Section) -> Team:
    every = {"answer": Section(text=True), **sections}
    return Team(name="t", preamble="-", sections=every, agents=agents, replies=Replies(full="answer"))


def told(found: Team, code_sections: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    return [(problem.severity, problem.where, problem.message) for problem in check_team(found, code_sections)]


def test_a_good_team_has_no_problem() -> None:
    good = team({"a": agent("answer", notes=FRESH), "b": agent("notes")}, notes=Section(text=True))
    assert check_team(good) == []
    assert require_team(good) is good


def test_the_place_is_a_path() -> None:
    assert told(team({"a": agent("answer", shadwo=FRESH)}, shadow=Section(text=True))) == [
        ("warning", "sections.shadow", "no agent writes or reads section `shadow`"),
        ("error", "agents.a.reads.shadwo", "agent `a` reads section `shadwo`, which does not exist"),
    ]


def test_a_read_that_nobody_writes() -> None:
    assert told(team({"a": agent("answer", notes=Read())}, notes=Section(text=True))) == [
        ("error", "agents.a.reads.notes", "agent `a` reads section `notes`, which no agent writes")
    ]


def test_three_writers_are_two_problems_that_point_at_the_first() -> None:
    problems = check_team(team({name: agent("answer") for name in "abc"}))
    assert [(problem.path, problem.related) for problem in problems] == [
        (("agents", "b", "writes"), (("agents", "a", "writes"),)),
        (("agents", "c", "writes"), (("agents", "a", "writes"),)),
    ]


def test_two_cycles_are_both_told() -> None:
    sections = {name: Section(text=True) for name in ("sb", "sc", "sd")}
    waiting = {
        "a": agent("answer", sb=FRESH), "b": agent("sb", answer=FRESH), "c": agent("sc", sd=FRESH),
        "d": agent("sd", sc=FRESH),
    }  # fmt: skip
    assert told(team(waiting, **sections)) == [
        ("error", "agents.a.reads.sb", "these agents wait for each other: a -> b -> a"),
        ("error", "agents.c.reads.sd", "these agents wait for each other: c -> d -> c"),
    ]


def test_sections_that_code_fills() -> None:
    agents = {"a": agent("answer", ledger=Read(), log=FRESH), "b": agent("log")}
    declared = {"ledger": Section(json_schema=TALLY)}
    assert told(team(agents, **declared), ("ledger", "log")) == [
        ("error", "agents.a.reads.log", "agent `a` waits for section `log`, which code fills at the end of the turn"),
        ("error", "agents.b.writes", "agent `b` writes section `log`, which the team's code fills"),
    ]
    assert told(team({"a": agent("answer", ledger=Read())}, **declared), ("ledger",)) == []


def test_a_reply_that_code_writes_is_a_reply() -> None:
    assert told(team({"a": agent("notes")}, notes=Section(text=True)), ("answer",)) == []


def test_a_draft_stands_in_for_the_schema_of_its_section() -> None:
    drafting = Agent(instructions="-", writes="notes", draft_schema=TALLY)
    agents = {"a": agent("answer", notes=FRESH), "b": drafting}
    assert told(team(agents, notes=Section())) == []
    (problem,) = check_team(team(agents | {"b": agent("notes")}, notes=Section()))
    assert (problem.where, problem.message) == (
        "sections.notes",
        "section `notes` has neither `text: true` nor a schema",
    )


def test_a_bad_draft_schema_is_told_at_its_path() -> None:
    bad = {"type": "object", "properties": {"n": {"type": "whole"}}}
    drafting = Agent(instructions="-", writes="notes", draft_schema=bad)
    found = check_team(team({"a": agent("answer", notes=FRESH), "b": drafting}, notes=Section()))
    assert [problem.where for problem in found] == ["agents.b.draft_schema.properties.n.type"]


def test_what_only_code_writes_need_not_suit_an_engine() -> None:
    """`not` is JSON Schema, but no engine's grammar has it."""
    only_stored = Section(json_schema={"not": {"type": "string"}})
    drafting = Agent(instructions="-", writes="notes", draft_schema=TALLY)
    assert told(team({"a": agent("answer", notes=FRESH), "b": drafting}, notes=only_stored)) == []
    generated = team({"a": agent("answer", notes=FRESH), "b": agent("notes")}, notes=only_stored)
    assert [problem.severity for problem in check_team(generated)] == ["error"]


def test_require_team_raises_all_errors_and_no_warning() -> None:
    bad = team({"a": agent("answer", notes=Read(within_s=3)), "b": agent("nots")}, notes=Section(text=True))
    with pytest.raises(TeamError) as caught:
        require_team(bad)
    assert [problem.where for problem in caught.value.problems] == ["agents.a.reads.notes", "agents.b.writes"]
    assert caught.value.exit_code == 2
    assert "did you mean `notes`?" in str(caught.value)


@pytest.mark.parametrize(
    ("harness", "place", "message"),
    [
        ({"kind": "command"}, "agents.a.harness", "is run by a command, but none is given"),
        ({"kind": "native", "tools": True}, "agents.a.harness.tools", "`native` has no setting `tools`"),
        ({"kind": "claude-code", "program": "opencode"}, "agents.a.harness.program", "has no setting `program`"),
        ({"kind": "acp", "context": "json"}, "agents.a.harness.context", "`acp` has no setting `context`"),
        (
            {"kind": "acp", "program": "opencode", "command": ["opencode", "acp"]},
            "agents.a.harness.program",
            "names both a `program` and a `command`",
        ),
    ],
)
def test_settings_that_a_harness_does_not_have(harness: dict[str, object], place: str, message: str) -> None:
    run_so = agent("answer").model_copy(update={"harness": HarnessSettings.model_validate(harness)})
    [(severity, where, said)] = told(team({"a": run_so}))
    assert (severity, where) == ("error", place)
    assert message in said


def test_a_harness_is_a_word_or_a_mapping_and_is_written_as_it_is_read() -> None:
    def run_by(harness: object) -> Team:
        return team({"a": Agent.model_validate({"instructions": "-", "writes": "answer", "harness": harness})})

    for given in ("claude-code", {"kind": "command", "command": ["python3", "/a.py"], "tools": True, "timeout_s": 9}):
        assert parse_team(dump_team(run_by(given))) == run_by(given)
    assert "harness: claude-code" in dump_team(run_by("claude-code"))
