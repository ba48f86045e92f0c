"""Every field report is held by a test, and the page that says which is what the tests say now."""

from docs.field_reports import PAGE, held_by, load_rows, render

SECTIONS = {"A": 8, "B": 14, "C": 12, "D": 4, "E": 13, "F": 16, "G": 16, "H": 8}
"""How many rows each section has; a row does not go away because nobody tests it."""


def test_every_row_has_a_test() -> None:
    rows = [row for section in load_rows().values() for row, _, _ in section]
    counted = {letter: sum(row.startswith(letter) for row in rows) for letter in SECTIONS}
    assert counted == SECTIONS
    assert len(rows) == len(set(rows)) == sum(SECTIONS.values())
    tests = held_by()
    assert [row for row in rows if not tests.get(row)] == []


def test_no_test_names_a_row_that_is_not_there() -> None:
    rows = {row for section in load_rows().values() for row, _, _ in section}
    named = {row: tests for row, tests in held_by().items() if row[0] in SECTIONS}
    assert {row: tests for row, tests in named.items() if row not in rows} == {}


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(load_rows(), held_by()), "run python -m docs.field_reports"
