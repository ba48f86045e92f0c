import pytest

from repertory.teams.engineering.knowledge import Note, all_notes, find_notes


@pytest.mark.parametrize("note", [note for note in all_notes() if note.code], ids=lambda note: note.about[0])
def test_the_code_of_a_note_runs(note: Note) -> None:
    exec(compile(note.code, note.about[0], "exec"), {})  # noqa: S102 - our own data


def test_notes_are_short_enough_for_a_prompt() -> None:
    assert all(len(str(note)) < 900 for note in all_notes())
    assert len(all_notes()) > 60


@pytest.mark.parametrize(
    ("request_text", "word"),
    [
        ("Turn blog titles into clean url slugs, accents to plain letters", "slug"),
        ("I paste a CSV and name a column, count the missing cells", "csv"),
        ("Track my habit: current streak and longest streak", "streak"),
        ("busiest pages of my web server log, p95 of slow requests", "log"),
        ("Which tasks can run first? They have dependencies, find a cycle", "graph"),
        ("verify the hmac signature of a webhook", "signature"),
    ],
)
def test_the_note_that_helps_is_among_the_first(request_text: str, word: str) -> None:
    assert any(word in note.about for note in find_notes(request_text))


def test_nothing_is_found_for_nothing() -> None:
    assert find_notes("") == []
    assert find_notes("zzz qqq") == []
