"""Whatever a file holds, reading it gives a team or a `TeamError`, and every problem has a place in the file."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertory.runtime.team_file import inspect_team_file, inspect_team_text

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
TEXTS = [path.read_text(encoding="utf-8") for path in EXAMPLES]

SPLINTERS = (
    "\t", "\0", "\r", "\u2028", "\x85", "\ufeff", ": ", "- ", "? ", "{", "}", "[", "]", ",", "&a ", "*a", "*case",
    "!!int ", "!x ", "%YAML 9.9\n", "---\n", "...\n", "|", ">", "|9\n", '"', "'", "\\",
    '"\\U00110000"', '"\\ud800"', "<<: *case",
    "null", "~", "true", "1e999", "-0", "0x", "9" * 400, "#", "@", "`", "schema: ", "reads: ", "agents: ", "reply: x\n",
    "replies: ", "$ref: '#'", "$ref: '#/$defs/x'", "pattern: '(a+)+$'", "properties: ", "items: ", "enum: []",
    "anyOf: [", "fresh", "latest", "within_s: .nan", "\N{PILE OF POO}", "a" * 2000,
)  # fmt: skip


def check(text: str) -> None:
    team, problems = inspect_team_text(text)
    errors = [problem for problem in problems if problem.severity == "error"]
    assert (team is None) == bool(errors)
    lines = text.removeprefix("\ufeff").split("\n")
    for problem in problems:
        assert problem.line is not None
        assert problem.column is not None
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
        assert problem.message
        assert all(character.isprintable() or character == "\n" for character in str(problem))


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    team, problems = inspect_team_file(path)
    assert team is None
    assert problems


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text(text: str) -> None:
    check(text)


@settings(deadline=None)
@given(st.text(alphabet="ab:-?{}[],&*!|>'\"%@`# \n\t\\0", max_size=60))
def test_any_yaml_punctuation(text: str) -> None:
    check(text)


@settings(deadline=None)
@given(st.sampled_from(TEXTS), st.integers(min_value=0), st.integers(1, 6))
def test_mutated_files(text: str, seed: int, changes: int) -> None:
    dice = random.Random(seed)
    for _ in range(changes):
        text = mutate(text, dice)
    check(text)


def mutate(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text) + 1)
    end = min(len(text), at + dice.randrange(1, 30))
    lines = text.split("\n")
    line = dice.randrange(len(lines))
    other = dice.randrange(len(lines))
    match dice.randrange(6):
        case 0:
            return text[:at] + dice.choice(SPLINTERS) + text[at:]
        case 1:
            return text[:at] + text[end:]
        case 2:
            return "\n".join(lines[:line] + lines[line + 1 :])
        case 3:
            return "\n".join([*lines[:line], lines[other], *lines[line:]])
        case 4:
            lines[line] = " " * dice.randrange(9) + lines[line].strip()
            return "\n".join(lines)
        case _:
            words = text.split(" ")
            words[dice.randrange(len(words))] = dice.choice([*SPLINTERS, dice.choice(words)])
            return " ".join(words)
