"""Every mistake in a team file is told at its line and column, with what to do about it."""

from pathlib import Path

import pytest

from repertory.errors import TeamError, TeamProblem
from repertory.runtime.team_file import MAX_BYTES, inspect_team_file, inspect_team_text, load_team, parse_team

GOOD = """\
name: duo
preamble: Be brief.
reply: answer
sections:
  notes:
    schema:
      type: object
      properties:
        mood: {type: string, maxLength: 20}
      required: [mood]
  answer:
    text: true
agents:
  first:
    writes: notes
    instructions: Note the mood.
  second:
    reads: {notes: fresh}
    writes: answer
    instructions: Answer.
"""

SCHEMA = GOOD[GOOD.index("    schema:") : GOOD.index("  answer:")]

# (what is replaced, by what, line:column, a part of the message, a part of the hint)
SYNTAX = [
    ("  first:\n", "\tfirst:\n", "14:1", "a tab can not be used here", "indent with spaces"),
    ("reply: answer", "reply: [answer", "3:8", "a `,` or `]` is missing", "close the list"),
    ("{notes: fresh}", "{notes: fresh", "18:12", "a `,` or `}` is missing", "close the mapping"),
    ("Be brief.", "'Be brief.", "2:11", "the quote is not closed", "closing quote"),
    ("Be brief.", "Note: be brief.", "2:15", "a `:` is not allowed here", "quote the text"),
    ("Be brief.", '"Be \\q"', "2:16", "an escape that YAML does not have", "for one backslash"),
    ("Be brief.", '"Be \\ud800"', "2:11", "the character U+D800", "take it out"),
    ("Be brief.", "Be \x07 brief.", "2:14", "`U+0007` is not allowed", "remove it"),
    ("Be brief.", "@brief", "2:11", "no plain text can start with", "quote the text"),
    ("Be brief.", "!!str 3", "2:11", "a YAML tag is not allowed", "remove it"),
    ("Be brief.", "!python/object:os.system x", "2:11", "a YAML tag is not allowed", "remove it"),
    ("Be brief.", "*other", "2:11", "the alias `*other` has no anchor", "put `&other` before it"),
    ("Be brief.", "&a [*a]", "2:15", "the alias `*a` stands inside what it names", ""),
    ("Be brief.", ".inf", "2:11", "`.inf` is not a finite number", "quote it"),
    ("Be brief.", "9" * 5000, "2:11", "is too large a number", "quote it"),
    ("name: duo", "%YAML 1.1\n---\nname: duo", "1:1", "a YAML directive is not allowed", "starts with `%`"),
    ("agents:", "---\nagents:", "13:1", "a second document starts here", "remove `---`"),
    ("Be brief.", "[" * 80 + "]" * 80, "2:74", "nested deeper than 64 levels", "flatter"),
    ("    text: true", "   text: true\n     x: 1", "13:7", "a `:` is not allowed here", "a line of its own"),
    ("  answer:\n    text: true", "  answer:\n      text: true\n    x: 1", "13:5", "indentation", "neighbours"),
]  # fmt: skip

SHAPE = [
    ("writes: notes", "writes: notes\n    writes: notes", "16:5", "key `writes` stands here twice (first in line 15)",
     "remove or rename"),
    ("sections:\n", "sections:\n  1: {text: true}\n", "5:3", "a key must be text", 'write "1"'),
    ("agents:\n", "agents:\n  <<: {}\n", "14:3", "`<<` does not merge", "no merge keys"),
    ("reply: answer", "repyl: answer", "3:1", "the key `repyl` is unknown", "did you mean `reply`?"),
    ("sections:", "blackboard:", "4:1", "the key `blackboard` is unknown", "did you mean `sections`?"),
    ("    schema:", "    shcema:", "6:5", "the key `shcema` is unknown", "did you mean `schema`?"),
    ("    schema:", "    json_schema:", "6:5", "the key `json_schema` is unknown", "did you mean `schema`?"),
    ("    instructions: Answer.", "    prompt: Answer.", "20:5", "`prompt` is unknown", "did you mean `instructions`?"),
    ("writes: answer", "writes: answer\n    max_tokens: 5", "20:5", "`max_tokens`", "`max_output_tokens`?"),
    ("writes: answer", "writes: answer\n    model: qwen", "20:5", "`model` is unknown", "does not name its models"),
    ("writes: answer", "writes: answer\n    zzz: 1", "20:5", "the key `zzz` is unknown", "known here: instructions"),
    ("{notes: fresh}", "{notes: {mode: fresh, whitin_s: 3}}", "18:34", "`whitin_s` is unknown", "`within_s`?"),
    ("reply: answer", "replies: {ful: answer}", "3:11", "the key `ful` is unknown", "did you mean `full`?"),
    ("name: duo\n", "", "1:1", "the team has no `name`", "add `name: my_team`"),
    ("preamble: Be brief.\n", "", "1:1", "the team has no `preamble`", "every agent's prompt"),
    ("reply: answer\n", "", "1:1", "the team has no `replies`", "add `reply:`"),
    ("    writes: answer\n", "", "17:3", "agent `second` has no `writes`", "writes: answer"),
    ("    instructions: Answer.\n", "", "17:3", "agent `second` has no `instructions`", "what this agent does"),
    ("name: duo", "name: 7", "1:7", "`name` must be text, not the number 7", "quote it"),
    ("name: duo", "name: My Team", "1:7", "`My Team` can not be a name", "lower-case"),
    ("Be brief.", "''", "2:11", "`preamble` is empty", "every agent's prompt"),
    ("Be brief.", "", "2:1", "`preamble` must be text, not nothing", "every agent's prompt"),
    ("  second:\n", "  Second One:\n", "17:3", "`Second One` can not be a name", "lower-case"),
    ("text: true", "text: yes", "12:11", "must be true or false, not the text `yes`", "no yes, no, on or off"),
    ("text: true", "text: 1", "12:11", "must be true or false, not the number 1", "without quotes"),
    ("writes: answer", 'writes: answer\n    max_output_tokens: "40"', "20:24",
     "must be a whole number, not the text `40`", "without quotes"),
    ("writes: answer", "writes: answer\n    max_output_tokens: 4.5", "20:24", "must be a whole number", "decimals"),
    ("writes: answer", "writes: answer\n    max_output_tokens: true", "20:24", "a whole number, not true", "quotes"),
    ("writes: answer", "writes: answer\n    max_output_tokens: 0", "20:24", "is 0, but must be at least 1", ""),
    ("writes: answer", "writes: answer\n    temperature: 3", "20:18", "is 3, but must be at most 2", "0.2 suits"),
    (
        "writes: answer",
        "writes: answer\n    harness: claude",
        "20:14",
        "`harness` can not be `claude`",
        "did you mean `claude-code`?",
    ),
    (
        "writes: answer",
        "writes: answer\n    harness: {kind: command, comand: [a]}",
        "20:30",
        "the key `comand` is unknown",
        "`command`",
    ),
    (
        "writes: answer",
        "writes: answer\n    harness: {kind: acp, program: opencoder}",
        "20:35",
        "`program` can not be `opencoder`",
        "`opencode`",
    ),
    (
        "writes: answer",
        "writes: answer\n    harness: {kind: command, command: ./agent}",
        "20:39",
        "`command` must be a list of texts",
        "[first, second]",
    ),
    ("{notes: fresh}", "{notes: frsh}", "18:20", "`mode` can not be `frsh`", "did you mean `fresh`?"),
    ("{notes: fresh}", "{notes: {on_missing: ignore}}", "18:33", "`on_missing` can not be `ignore`", "`skip`"),
    ("{notes: fresh}", "{notes: {mode: fresh, within_s: 0}}", "18:44", "is 0, but must be more than 0", ""),
    ("{notes: fresh}", "{notes: 3}", "18:13", "`notes` must be a mapping", "{mode: fresh, within_s: 30}"),
    ("{notes: fresh}", "[notes]", "18:5", "`reads` must be a mapping of keys to values, not a list", "critique"),
    ("reply: answer", "reply: [answer]", "3:1", "must be text, not a list", "one text section"),
    ("reply: answer", "reply: answer\nreplies: {full: answer}", "3:1", "both `reply` and `replies`", "keep one"),
    ("    text: true\n", "", "11:3", "`answer` must be a mapping of keys to values, not nothing", "`text: true`"),
    (SCHEMA, "    schema: short\n", "6:13", "`schema` must be a mapping", "write a JSON Schema"),
]  # fmt: skip

RULES = [
    ("writes: answer", "writes: anwser", "19:13", "`second` writes section `anwser`, which does not exist",
     "did you mean `answer`?"),
    ("{notes: fresh}", "{note: fresh}", "18:13", "reads section `note`, which does not exist", "mean `notes`?"),
    ("{notes: fresh}", "{weather: latest}", "18:13", "which does not exist", "the sections are: notes, answer"),
    ("reply: answer", "reply: answr", "3:8", "the full reply is section `answr`", "did you mean `answer`?"),
    ("reply: answer", "reply: notes", "3:8", "section `notes`, which is not text (see also 5:3)", "are: answer"),
    ("reply: answer", "replies: {first: spare}", "3:18", "`spare`, which does not exist", "are: notes, answer"),
    ("sections:\n", "sections:\n  old: {text: true}\n", "5:3", "no agent writes or reads section `old`", "remove it"),
    ("{notes: fresh}", "{notes: fresh, old: latest}\n", "18:27", "`old`, which does not exist", "the sections are"),
    ("{notes: fresh}", "{notes: fresh, answer: fresh}", "18:27", "`second` waits for its own section", "`latest`"),
    ("writes: notes", "writes: notes\n    reads: {answer: fresh}", "16:13",
     "wait for each other: first -> second -> first (see also 19:13)", "make one of these reads `latest`"),
    ("    text: true", "    text: true\n    schema: {type: object}", "13:5", "is text and has a schema", "leave out"),
    ("    text: true", "    description: words", "11:3", "neither `text: true` nor a schema", "JSON Schema"),
    ("{type: string, maxLength: 20}", "{type: sting}", "9:22", "`sting` is not a type", "the types are object"),
    ("required: [mood]", "required: mood", "10:17", "`required` must be array", "a list of field names"),
    ("required: [mood]", "required: [moody]", "10:7", "`moody` is required but not described", "`properties`"),
    ("{notes: fresh}", "{notes: {mode: latest, within_s: 9}}", "18:45", "`within_s` has no effect", "`fresh`"),
    ("{notes: fresh}", "{notes: {on_missing: skip}}", "18:33", "`on_missing` has no effect", "`fresh`"),
    ("{notes: fresh}", "{notes: {mode: fresh, within_s: 900}}", "18:44", "not before the turn's own deadline (600 s)",
     "shorter than `deadline_s`"),
    ("reply: answer", "replies: {first: answer}", "3:18", "the first reply is not at once: `second` waits for `first`",
     "make this the full reply"),
    ("reply: answer", "replies: {first: answer, full: answer}", "3:32", "are the same section `answer`", "leave one"),
    ("reply: answer", "replies: {}", "3:1", "the person is shown no reply", "reply: answer"),
    ("    writes: answer", "    writes: notes", "19:13",
     "two agents write section `notes`: `first` and `second` (see also 15:13)", "a section of its own"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "place", "message", "hint"), [*SYNTAX, *SHAPE, *RULES])
def test_a_mistake_is_told_at_its_place(old: str, new: str, place: str, message: str, hint: str) -> None:
    assert GOOD.count(old) >= 1
    text = GOOD.replace(old, new, 1)
    problems = inspect_team_text(text, file="t.yaml").problems
    here = [problem for problem in problems if f"{problem.line}:{problem.column}" == place]
    told = "\n".join(map(str, problems))
    assert any(message in problem.message and hint in (problem.hint or "") for problem in here), told
    for problem in problems:
        assert problem.where == f"t.yaml:{problem.line}:{problem.column}"
        assert caret_is_right(problem, text)


def caret_is_right(problem: TeamProblem, text: str) -> bool:
    """The excerpt is that line, and the caret stands below that column."""
    if problem.source is None or problem.line is None or problem.column is None:
        return problem.source is None
    shown, caret = problem.source.split("\n")
    line = text.split("\n")[problem.line - 1]
    under = shown[len(caret) - 1 : len(caret)]
    wanted = line[problem.column - 1 : problem.column].replace("\t", " ")
    return under == wanted or not wanted.strip() or not wanted.isprintable()


def test_the_good_file_is_good() -> None:
    assert inspect_team_text(GOOD).problems == []


def test_each_line_of_the_error() -> None:
    with pytest.raises(TeamError) as caught:
        parse_team(GOOD.replace("notes: fresh", "note: fresh"), file="duo.yaml")
    assert str(caught.value) == (
        "duo.yaml:18:13: agent `second` reads section `note`, which does not exist\n"
        "        reads: {note: fresh}\n"
        "                ^\n"
        "  did you mean `notes`?"
    )


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    text = GOOD
    for old, new in [
        ("reply:", "repyl:"), ("maxLength: 20", "maxLenght: 20"), ("text: true", "text: true\n    colour: red"),
        ("{notes: fresh}", "{nots: fresh}"), ("writes: answer", "wrties: answr"), ("Answer.", "''"),
    ]:  # fmt: skip
        text = text.replace(old, new)
    with pytest.raises(TeamError) as caught:
        parse_team(text)
    problems = [(problem.line, problem.message.partition(",")[0]) for problem in caught.value.problems]
    assert problems == [
        (3, "the key `repyl` is unknown"),
        (3, "the full reply is section `answer`"),
        (13, "the key `colour` is unknown"),
        (19, "agent `second` reads section `nots`"),
        (20, "the key `wrties` is unknown"),
        (20, "agent `second` writes section `answr`"),
        (21, "`instructions` is empty"),
    ]
    assert "7 problems" in str(caught.value)


def test_an_alias_bomb_is_refused() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{after}: &{after} [{', '.join(f'*{before}' for _ in range(9))}]\n"
        for before, after in zip("abcdefgh", "bcdefghi", strict=True)
    )
    (problem,) = inspect_team_text(bomb).problems
    assert problem.message == "more than 20000 values, each alias counted in full"
    assert problem.line == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("   \n# nothing\n", "the file is empty"),
        ("---\n", "the file is empty"),
        ("- a\n- b\n", "a team file is a mapping of keys to values"),
        ("just words\n", "a team file is a mapping of keys to values"),
    ],
)
def test_what_is_no_team_at_all(text: str, message: str) -> None:
    (problem,) = inspect_team_text(text).problems
    assert problem.message == message
    assert problem.hint


def test_a_terminal_is_not_steered_by_a_file() -> None:
    text = GOOD.replace("text: true", '"x\\e[31m": 1 # \N{RIGHT-TO-LEFT OVERRIDE}')
    (problem,) = [p for p in inspect_team_text(text).problems if p.line == 12]
    assert "\x1b" not in str(problem)
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in str(problem)


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    write(tmp_path / "team.yaml", b"")
    with pytest.raises(TeamError) as caught:
        load_team(tmp_path / "taem.yaml")
    assert caught.value.where == str(tmp_path / "taem.yaml")
    assert caught.value.message == "there is no such file"
    assert caught.value.hint == "in that folder: team.yaml"


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(TeamError, match="this is a folder"):
        load_team(tmp_path)


def test_a_device_is_not_read() -> None:
    with pytest.raises(TeamError, match="not a regular file"):
        load_team("/dev/zero")


def test_a_path_that_can_not_be() -> None:
    with pytest.raises(TeamError, match="can not be read"):
        load_team("a\0b.yaml")


def test_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    path = write(tmp_path / "latin.yaml", GOOD.replace("Be brief.", "Sois bréf.").encode("latin-1"))
    with pytest.raises(TeamError) as caught:
        load_team(path)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (2, 18)
    assert problem.message == "the file is not UTF-8: byte 0xE9 does not fit"
    assert problem.where == f"{path}:2:18"


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = write(tmp_path / "large.yaml", b"#" * (MAX_BYTES + 1))
    with pytest.raises(TeamError, match="the file is larger than 1024 KiB"):
        load_team(path)


def test_budgets_are_checked_against_a_known_context(tmp_path: Path) -> None:
    text = GOOD.replace("writes: notes", "writes: notes\n    max_output_tokens: 5000")
    text = text.replace("writes: answer", "writes: answer\n    max_input_tokens: 4000")
    path = write(tmp_path / "team.yaml", text.encode())
    assert inspect_team_file(path).problems == []
    first, second = inspect_team_file(path, context_tokens=4096).problems
    assert (first.line, first.message) == (16, "`max_output_tokens` of 5000 leaves no room in a context of 4096 tokens")
    assert second.line == 21
    assert "add up to 4400, more than the context of 4096 tokens" in second.message
