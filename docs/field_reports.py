"""Write docs/field-reports.md: `python -m docs.field_reports` (`--check` only compares).

The rows stand in field_reports.toml; which tests hold them is read off the tests. A test names its rows at the
beginning of its name (`test_a1_a4_...`) or in its docstring (`(field report G18)`).
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ("Row", "held_by", "load_rows", "render")

PAGE = Path(__file__).with_name("field-reports.md")
DATA = Path(__file__).with_name("field_reports.toml")
TESTS = Path(__file__).parent.parent / "tests"
_NAME = re.compile(r"test(?P<rows>(?:_[a-j]\d{1,2})+)(?=_)")
_DOCSTRING = re.compile(r"\(field reports? (?P<rows>[A-J]\d{1,2}(?:, [A-J]\d{1,2})*)\)")
_HEAD = """# Field reports

What users of other systems ran into, as their public issue trackers tell it, and what Repertory does instead. Every row
is held by the tests named in it; the page is made from them, and a test fails when a row has none.

"""

Row = tuple[str, str, str]
"""What happened elsewhere, and what happens here, under an id."""


def load_rows() -> dict[str, list[Row]]:
    """All rows, by the title of their section."""
    sections = tomllib.loads(DATA.read_text(encoding="utf-8"))
    return {
        f"{letter}. {section['title']}": [
            (f"{letter}{number}", *words) for number, words in section.items() if number != "title"
        ]
        for letter, section in sections.items()
    }


def held_by() -> dict[str, list[str]]:
    """The tests of every row, as `path::name`."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        place = path.relative_to(TESTS.parent).as_posix()
        for name, rows in _tests(ast.parse(path.read_text(encoding="utf-8"))):
            for row in rows:
                found.setdefault(row, []).append(f"{place}::{name}")
    return found


def _tests(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            named, told = _NAME.match(node.name), _DOCSTRING.search(" ".join((ast.get_docstring(node) or "").split()))
            rows = named["rows"].upper().strip("_").split("_") if named else []
            yield node.name, [*rows, *(told["rows"].split(", ") if told else [])]


def render(rows: Mapping[str, list[Row]], tests: Mapping[str, list[str]]) -> str:
    """The page."""
    parts = [_HEAD]
    for title, section in rows.items():
        parts.append(f"## {title}\n\n| | elsewhere | here | tests |\n| --- | --- | --- | --- |\n")
        for row, elsewhere, here in section:
            named = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in tests.get(row, ()))
            parts.append(f"| {row} | {elsewhere} | {here} | {named or '**none**'} |\n")
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"


def main() -> None:
    page = render(load_rows(), held_by())
    if "--check" in sys.argv:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
            sys.exit("docs/field-reports.md is out of date; run `python -m docs.field_reports`")
        return
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
