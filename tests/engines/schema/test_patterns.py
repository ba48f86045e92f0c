import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.engines.schema import check_pattern


@pytest.mark.parametrize(
    ("pattern", "grammar", "longest"),
    [
        (r"^m\d{1,6}$", "^m[0-9]{1,6}$", 7),
        (r"^\d{4}-\d{2}-\d{2}$", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", 10),
        (r"^[a-z][a-z0-9_]{0,39}$", "^[a-z][0-9_a-z]{0,39}$", 40),
        (r"^(?:yes|no)$", "^(yes|no)$", 3),
        (r"^[a-z]+(-[a-z]+)*$", "^[a-z]+(-[a-z]+)*$", None),
        (r"^\$\d+\.\d{2}$", r"^\$[0-9]+\.[0-9]{2}$", None),
        (r"^[\w-]{3}$", r"^[0-9A-Z_a-z-]{3}$", 3),
        (r"^a?b?$", "^a?b?$", 2),
        (r"^\/[\^\-][\]x\.\[]$", r"^/[-^][.\[\]x]$", 3),
    ],
)
def test_plain_anchored_patterns_may_be_sent(pattern: str, grammar: str, longest: int | None) -> None:
    checked = check_pattern(pattern)
    assert (checked.problem, checked.note) == (None, None)
    assert checked.grammar == grammar
    assert checked.longest == longest


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(a+)+$",
        r"^(a*)*$",
        r"^(a|a)*$",
        r"^(a|ab)+$",
        r"^([a-z]+\s?)+$",
        r"^(\d+,?)+$",
        r"^a*a*a*b$",
        r"^\w+\d+$",
        r"^(x?){20}$",
        "^" + "a?" * 30 + "b$",
        "^" + "a{0,9}" * 8 + "b$",
        "^(b?a?[a-z]b?a? )*x$",
        "^" + "(b?a?[a-z]b?a? )" * 8 + "x$",
        "^a{0,900}[a-c]{0,900}b$",
        "^(a|ab|b)(a|ab|b)" + "(a|ab|b)" * 12 + "$",
        r"^(a{1,20}){1,20}$",
    ],
)
def test_b15_catastrophic_patterns_are_refused(pattern: str) -> None:
    checked = check_pattern(pattern)
    assert checked.problem is not None
    assert checked.grammar is None
    assert checked.hint


@pytest.mark.parametrize(
    "pattern",
    [
        "^(?=a)b$",
        "^(?!a)b$",
        "^(?<=a)b$",
        "^(?P<x>a)$",
        r"^(a)\1$",
        "^(?i)a$",
        "^a+?$",
        "^a++$",
        r"^\p{L}+$",
        r"^\bx\b$",
        "^(a$",
        "^a)$",
        "^[a$",
        "^[z-a]$",
        "^a{2,1}$",
        "^a{1,99999}$",
        "^a{x}$",
        "^*$",
        "^a^b$",
        "^" + "(" * 20 + "a" + ")" * 20 + "$",
        "^" + "a" * 1000 + "$",
    ],
)
def test_b15_malformed_and_unknown_forms_are_refused(pattern: str) -> None:
    checked = check_pattern(pattern)
    assert checked.problem is not None
    assert checked.grammar is None


@pytest.mark.parametrize("pattern", ["foo", "^foo", "foo$", "", r"^foo\$", "^yes|no$"])
def test_b8_unanchored_patterns_are_checked_by_us_only(pattern: str) -> None:
    checked = check_pattern(pattern)
    assert checked.problem is None
    assert checked.note is not None
    assert checked.grammar is None


@given(st.text(alphabet="ab01[]()|?*+{},^$\\.-dwsn", max_size=24))
def test_what_is_accepted_compiles_means_the_same_and_is_quick(text: str) -> None:
    pattern = f"^{text}$"
    checked = check_pattern(pattern)
    if checked.problem is not None:
        return
    compiled = re.compile(pattern)
    began = time.process_time()
    for probe in ("a" * 400 + "!", "ab" * 200 + "!", "0" * 400 + "!", "a0" * 200 + "!"):
        compiled.match(probe)
    assert time.process_time() - began < 2.0
    if checked.grammar is not None:
        sent = re.compile(checked.grammar)
        for probe in ("", "a", "b", "ab", "aab", "0", "01", "a0", "aaaa", "-", "a-b", "{", "$", "d", "."):
            # What is sent may be narrower (\d is 0-9), never wider.
            assert not sent.search(probe) or compiled.search(probe)
            assert bool(sent.search(probe)) == bool(compiled.search(probe))
