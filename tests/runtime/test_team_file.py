"""Team files that are right: reading, short forms, writing, and the JSON Schema for editors."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from repertory.errors import TeamError
from repertory.runtime.team import Agent, OnMissing, Read, ReadMode, Replies, Section, Team
from repertory.runtime.team_checks import check_team
from repertory.runtime.team_file import (
    dump_team,
    inspect_team_file,
    load_team,
    parse_team,
    team_file_schema,
)

EXAMPLES = Path(__file__).parents[2] / "examples"

SMALL = """\
name: small
preamble: Be brief.
reply: answer
sections:
  answer: {text: true}
agents:
  solo: {writes: answer, instructions: Answer., reads: {answer: latest}}
"""


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_the_examples_are_valid_without_a_warning(path: Path) -> None:
    team, problems = inspect_team_file(path)
    assert team is not None
    assert problems == []
    assert parse_team(dump_team(team)) == team


def test_a_file_is_the_team_built_in_python() -> None:
    assert parse_team(SMALL) == Team(
        name="small",
        preamble="Be brief.",
        sections={"answer": Section(text=True)},
        agents={"solo": Agent(writes="answer", instructions="Answer.", reads={"answer": Read()})},
        replies=Replies(full="answer"),
    )


def test_reads_in_short_and_in_long() -> None:
    team = load_team(EXAMPLES / "debate.yaml")
    assert team.agents["advocate"].reads == {"contra": Read(mode=ReadMode.LATEST)}
    late = Read(mode=ReadMode.FRESH, within_s=90, on_missing=OnMissing.LATEST)
    assert team.agents["judge"].reads == {"pro": late, "contra": late}
    assert team.replies == Replies(first="opening", full="verdict")
    assert team.sections["pro"].json_schema == team.sections["contra"].json_schema  # an alias


@pytest.mark.parametrize("start", ["\N{ZERO WIDTH NO-BREAK SPACE}", "---\n", "# a comment\n\n"])
def test_what_may_stand_before_the_first_key(start: str) -> None:
    assert parse_team(start + SMALL) == parse_team(SMALL)


def test_line_ends_of_windows() -> None:
    assert parse_team(SMALL.replace("\n", "\r\n")) == parse_team(SMALL)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("2026-12-01", "2026-12-01"), ("1_000", "1_000"), ("012", 12),
        ("0o17", 15), ("0x1F", 31), ("1e3", 1000.0), ("-.5", -0.5), ("12:30:00", "12:30:00"), ("~", None),
        ("TRUE", True), ('"true"', "true"), ("0b11", "0b11"), ("+7", 7), (".", "."), ("=", "="),
    ],
)  # fmt: skip
def test_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    schema = f"  facts: {{schema: {{type: object, properties: {{a: {{default: {text}}}}}}}}}\n"
    team = parse_team(SMALL.replace("agents:", schema + "agents:"))
    found = team.sections["facts"].json_schema
    assert found is not None
    default: Any = found["properties"]["a"]["default"]
    assert default == value
    assert type(default) is type(value)


def test_warnings_do_not_keep_a_team_from_loading(tmp_path: Path) -> None:
    file = tmp_path / "team.yaml"
    file.write_text(SMALL.replace("agents:", "  spare: {text: true}\nagents:"), encoding="utf-8")
    assert load_team(file).name == "small"
    (warning,) = inspect_team_file(file).problems
    assert (warning.severity, warning.line, warning.column) == ("warning", 6, 3)
    assert warning.message == "no agent writes or reads section `spare`"


def test_code_sections_are_known() -> None:
    text = SMALL.replace("reads: {answer: latest}", "reads: {tally: latest}")
    with pytest.raises(TeamError, match="reads section `tally`, which does not exist"):
        parse_team(text)


# ---- writing

names = st.from_regex(r"[a-z][a-z0-9_]{0,39}", fullmatch=True)
# All that a file can hold: no lone surrogates, no control characters but tab and line ends.
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], include_characters="\t\n"), max_size=60)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | texts | st.sampled_from(["yes", "null", "1e3", "0x1f", "- a", "a: b", "# c", "", " x", "x ", "|", "'", "*a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
schemas = st.none() | st.dictionaries(texts, json_values, max_size=4)
reads = st.builds(
    Read,
    mode=st.sampled_from(ReadMode),
    within_s=st.none() | st.floats(min_value=1e-6, allow_infinity=False),
    on_missing=st.sampled_from(OnMissing),
)
agents = st.builds(
    Agent,
    instructions=texts.filter(bool),
    writes=names,
    reads=st.dictionaries(names, reads, max_size=3),
    draft_schema=schemas,
    max_output_tokens=st.integers(1, 10**6),
    max_input_tokens=st.none() | st.integers(1, 10**6),
    temperature=st.floats(0, 2),
    thinking=st.booleans(),
)
teams = st.builds(
    Team,
    name=names,
    description=texts,
    preamble=texts.filter(bool),
    sections=st.dictionaries(
        names,
        st.builds(Section, description=texts, text=st.booleans(), json_schema=schemas),
        max_size=3,
    ),
    agents=st.dictionaries(names, agents, min_size=1, max_size=3),
    replies=st.builds(Replies, first=st.none() | names, full=st.none() | names),
    deadline_s=st.floats(min_value=1e-3, allow_infinity=False),
)


@settings(deadline=None)
@given(teams)
def test_a_team_written_and_read_is_the_same(team: Team) -> None:
    """The shape survives for any team; where the team has errors, reading tells them and no others."""
    errors = [problem.message for problem in check_team(team) if problem.severity == "error"]
    text = dump_team(team)
    if not errors:
        assert parse_team(text) == team
        return
    with pytest.raises(TeamError) as caught:
        parse_team(text)
    told = [problem.message.split(" (see also")[0] for problem in caught.value.problems]
    assert sorted(told) == sorted(errors)


def test_what_yaml_can_not_say_is_an_error() -> None:
    team = parse_team(SMALL).model_copy(update={"sections": {"answer": Section(json_schema={"default": object()})}})
    with pytest.raises(TeamError, match="can not be written as YAML"):
        dump_team(team)


# ---- the schema for editors

SCHEMA: Any = jsonschema.Draft202012Validator(team_file_schema())


def valid(text: str) -> bool:
    reader: Any = YAML(typ="safe", pure=True)
    return SCHEMA.is_valid(reader.load(text))


def test_the_schema_takes_every_valid_file() -> None:
    jsonschema.Draft202012Validator.check_schema(team_file_schema())
    assert valid(SMALL)
    for harness in ("claude-code", "{kind: acp, program: opencode, tools: true}"):
        assert valid(SMALL.replace("instructions: Answer.", f"instructions: Answer., harness: {harness}", 1))
    assert all(valid(path.read_text(encoding="utf-8")) for path in EXAMPLES.glob("*.yaml"))


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("name: small\n", ""),
        ("reply: answer", "replys: answer"),
        ("reply: answer", "reply: answer\nreplies: {full: answer}"),
        ("text: true", "text: 'true'"),
        ("answer: latest", "answer: fersh"),
        ("writes: answer", "writes: Answer"),
        ("instructions: Answer.", "instructions: ''"),
        ("instructions: Answer.", "instructions: Answer., harness: claude"),
        ("instructions: Answer.", "instructions: Answer., harness: {kind: acp, programme: opencode}"),
    ],
)
def test_the_schema_finds_mistakes_of_shape(good: str, bad: str) -> None:
    assert not valid(SMALL.replace(good, bad, 1))
