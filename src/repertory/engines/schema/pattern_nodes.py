"""The parts of a parsed pattern: what each matches, how it is written for an engine, and what makes it explosive."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = (
    "ALL",
    "CLASSES",
    "CONTROLS",
    "OTHER",
    "PLAIN",
    "Chars",
    "Node",
    "RefusedError",
    "alternate",
    "concatenate",
    "group",
    "repeat",
    "single",
)

Chars = frozenset[int]

OTHER = 128
"""Stands for every character outside ASCII in a set."""

ALL = frozenset(range(OTHER + 1))
_DIGITS = frozenset(range(48, 58))
_WORD = _DIGITS | frozenset(range(65, 91)) | frozenset(range(97, 123)) | {95}
CLASSES = {"d": _DIGITS, "w": _WORD, "s": frozenset(map(ord, " \t\n\r\f\v"))}
CONTROLS = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11}
PLAIN = frozenset(range(32, 127)) - {34, 92}
"""Characters that stand for themselves inside a JSON string."""

_LONG_TEXT = 400
"""Characters of a long text, for what a repeat without an upper count can cost."""
_MAX_WAYS = 50_000
_SPECIAL = frozenset("^$.[]()|{}*+?")
"""Characters that are escaped outside of a class."""


@dataclass(frozen=True)
class Node:
    """A parsed part: its canonical text, lengths, sets of characters, and what matters for backtracking."""

    text: str
    shortest: int
    longest: int | None
    chars: Chars
    first: Chars
    last: Chars
    varies: bool = False
    """Whether it can match texts of several lengths, or has several branches."""
    leads: Chars | None = None
    """The set of a mandatory single first character that occurs nowhere else in the part."""
    trails: Chars | None = None
    """The same for the last character."""
    ways: int = 1
    """Upper bound of the ways in which it can match the beginnings of one text: what a failed match has to try."""
    ambiguous: bool = False
    """Whether it may match one and the same text in several ways; repeated, these multiply."""


_FORMS = "write it with classes, groups, `|` and the quantifiers `? * + {m,n}`"


class RefusedError(ValueError):
    """A pattern that must not be run; the message says why."""

    def __init__(self, message: str, hint: str = _FORMS) -> None:
        super().__init__(message)
        self.hint = hint


def _counts_text(low: int, high: int | None) -> str:
    if (low, high) == (0, 1):
        return "?"
    if high is None and low <= 1:
        return "+" if low else "*"
    if low == high:
        return f"{{{low}}}"
    return f"{{{low},{'' if high is None else high}}}"


def single(chars: Chars) -> Node:
    """One character of a set."""
    if not chars:
        raise RefusedError("a class that matches nothing")
    return Node(_written(chars), 1, 1, chars, chars, chars, leads=chars, trails=chars)


def _written(chars: Chars) -> str:
    """One character or a class, in the forms that the grammars of all engines read.

    llama.cpp takes an escape that it does not know (a backslash before `-`) for a broken grammar, answers HTTP 200 and
    lets the model write what it likes. So nothing is escaped that need not be: `-` stands last and `^` not first.
    """
    if len(chars) == 1:
        (char,) = map(chr, chars)
        return f"\\{char}" if char in _SPECIAL else char
    text = "".join(_run(run) for run in _runs(chars - {45, 94}))
    if text:
        return f"[{text}{'^' if 94 in chars else ''}{'-' if 45 in chars else ''}]"
    return "[-^]"


def _runs(chars: Iterable[int]) -> list[list[int]]:
    """Neighbouring characters together; only letters and digits make runs."""
    runs: list[list[int]] = []
    for code in sorted(chars):
        if runs and runs[-1][-1] == code - 1 and chr(code).isalnum() and chr(code - 1).isalnum():
            runs[-1].append(code)
        else:
            runs.append([code])
    return runs


def _run(run: list[int]) -> str:
    first, last = chr(run[0]), chr(run[-1])
    if len(run) > 2:
        return f"{first}-{last}"
    return "".join(f"\\{char}" if char in "[]" else char for char in map(chr, run))


def group(inner: Node) -> Node:
    """A part in brackets."""
    return Node(
        f"({inner.text})",
        inner.shortest,
        inner.longest,
        inner.chars,
        inner.first,
        inner.last,
        inner.varies,
        inner.leads,
        inner.trails,
        inner.ways,
        inner.ambiguous,
    )


def alternate(branches: list[Node]) -> Node:
    """One of several parts."""
    seen: set[int] = set()
    clear = True
    for branch in branches:
        clear = clear and branch.shortest > 0 and not seen & branch.first
        seen |= branch.first
    longest = [branch.longest for branch in branches]
    text = "|".join(branch.text for branch in branches)
    return Node(
        text,
        min(branch.shortest for branch in branches),
        None if None in longest else max(length for length in longest if length is not None),
        frozenset[int]().union(*(branch.chars for branch in branches)),
        frozenset[int]().union(*(branch.first for branch in branches)),
        frozenset[int]().union(*(branch.last for branch in branches)),
        varies=not clear or any(branch.varies for branch in branches),
        ways=max(branch.ways for branch in branches) if clear else sum(branch.ways for branch in branches),
        ambiguous=not clear or any(branch.ambiguous for branch in branches),
    )


def concatenate(parts: list[Node]) -> Node:
    """Several parts, one after the other.

    Raises:
        RefusedError: Two of them can trade characters.
    """
    if len(parts) == 1:
        return parts[0]
    first: Chars = frozenset()
    last: Chars = frozenset()
    for part in parts:
        first |= part.first
        if part.shortest:
            break
    for part in reversed(parts):
        last |= part.last
        if part.shortest:
            break
    ways, ambiguous = _ways(parts)
    longest = [part.longest for part in parts]
    head, tail = (parts[0], parts[-1]) if parts else (None, None)
    rest_of_head = frozenset[int]().union(*(part.chars for part in parts[1:]))
    rest_of_tail = frozenset[int]().union(*(part.chars for part in parts[:-1]))
    single_head = head is not None and head.shortest == head.longest == 1
    single_tail = tail is not None and tail.shortest == tail.longest == 1
    return Node(
        "".join(part.text for part in parts),
        sum(part.shortest for part in parts),
        None if None in longest else sum(length for length in longest if length is not None),
        frozenset[int]().union(*(part.chars for part in parts)),
        first,
        last,
        varies=any(part.varies for part in parts),
        leads=head.chars if head is not None and single_head and not head.chars & rest_of_head else None,
        trails=tail.chars if tail is not None and single_tail and not tail.chars & rest_of_tail else None,
        ways=ways,
        ambiguous=ambiguous,
    )


def _ways(parts: list[Node]) -> tuple[int, bool]:
    """The ways in which neighbours can share a text between them (`a*a*`, `a?a?a?`), and whether they can at all.

    A part that must be there and begins with a character that nothing before it can match starts anew; the ways of what
    came before still count when they are ways to match the same text.
    """
    most = sealed = running = 1
    shared = ambiguous = False
    open_chars: Chars = frozenset()
    for part in parts:
        overlaps = bool(open_chars & part.first)
        if part.ways == 1 and part.shortest and not overlaps:
            sealed *= running if shared else 1
            running, shared, open_chars = 1, False, frozenset[int]()
            continue
        if part.ways > 1:
            shared = shared or part.ambiguous or (overlaps and running > 1)
            running = running * part.ways if overlaps or part.ambiguous else max(running, part.ways)
        if part.ways > 1 or overlaps:
            open_chars |= part.chars
        ambiguous = ambiguous or shared
        most = max(most, sealed * running)
        if most > _MAX_WAYS:
            raise RefusedError("neighbouring repeats can match the same text in too many ways", "join them into one")
    return most, ambiguous


def repeat(atom: Node, low: int, high: int | None) -> Node:
    """A part, from `low` to `high` times.

    Raises:
        RefusedError: It could take for ever on some texts.
    """
    many = high is None or high > 1
    separated = (atom.leads is not None or atom.trails is not None) and not atom.ambiguous
    if many and atom.varies and not separated:
        raise RefusedError(
            "a repeat inside a repeat can take for ever on some texts",
            "put a separator that occurs nowhere else first or last in the repeated group",
        )
    if many and atom.shortest == 0:
        raise RefusedError("a repeat of something that may be empty", "repeat the part that is never empty")
    return Node(
        atom.text + _counts_text(low, high),
        atom.shortest * low,
        None if high is None or atom.longest is None else atom.longest * high,
        atom.chars,
        atom.first,
        atom.last,
        varies=atom.varies or low != high,
        ways=_repeated_ways(atom, low, high),
        ambiguous=atom.ambiguous,
    )


def _repeated_ways(atom: Node, low: int, high: int | None) -> int:
    counts = (_LONG_TEXT if high is None else high) - low + 1
    if atom.leads is not None or atom.trails is not None:
        return max(counts, atom.ways)
    return counts * atom.ways ** min(high or 1, 10)
