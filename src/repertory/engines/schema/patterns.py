"""Regular expressions that users write: which are safe to run, and which may go into an engine's grammar.

One malformed or explosive pattern can take a whole engine down, or let it answer unconstrained, so a pattern is read by
this small parser before anything else sees it. It knows literals, classes, groups, `|` and the quantifiers
`? * + {m,n}`; what it does not know (look-around, back-references, lazy quantifiers, inline flags, Unicode classes) is
refused.
"""

from dataclasses import dataclass

__all__ = ("PatternCheck", "check_pattern")

_MAX_PATTERN = 400
_MAX_REPEAT = 1000
_OTHER = 128
"""Stands for every character outside ASCII in a set."""

_ALL = frozenset(range(_OTHER + 1))
_DIGITS = frozenset(range(48, 58))
_WORD = _DIGITS | frozenset(range(65, 91)) | frozenset(range(97, 123)) | {95}
_SPACE = frozenset(map(ord, " \t\n\r\f\v"))
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}
_CONTROLS = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11}
_PLAIN = frozenset(range(32, 127)) - {34, 92}
"""Characters that stand for themselves inside a JSON string."""

Chars = frozenset[int]


@dataclass(frozen=True)
class PatternCheck:
    """What is known of a pattern.

    Attributes:
        problem: Why it is refused; None when it is safe to run.
        note: Why it is checked by us and not by the engine's grammar; None when it may be sent.
        hint: What to write instead.
        grammar: The same pattern in the few forms that every engine reads; None when it must not be sent.
        longest: Length of the longest text it matches; None when there is no limit or the pattern is not anchored.
    """

    problem: str | None = None
    note: str | None = None
    hint: str = ""
    grammar: str | None = None
    longest: int | None = None


@dataclass(frozen=True)
class _Node:
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


_FORMS = "write it with classes, groups, `|` and the quantifiers `? * + {m,n}`"


class _RefusedError(ValueError):
    def __init__(self, message: str, hint: str = _FORMS) -> None:
        super().__init__(message)
        self.hint = hint


def check_pattern(pattern: str) -> PatternCheck:
    """Read a pattern and say whether it may be run, and whether it may go into a grammar."""
    if len(pattern) > _MAX_PATTERN:
        return PatternCheck(problem=f"the pattern is longer than {_MAX_PATTERN} characters", hint="make it simpler")
    anchored = len(pattern) > 1 and pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$")
    body = pattern[1:-1] if anchored else pattern
    if not anchored:
        body = body.removeprefix("^")
        body = body[:-1] if body.endswith("$") and not body.endswith("\\$") else body
    try:
        parser = _Parser(body)
        node = parser.parse()
    except _RefusedError as error:
        return PatternCheck(problem=f"the pattern is refused: {error}", hint=error.hint)
    if not anchored or parser.open_choice:
        return PatternCheck(
            note="the pattern is not of the form ^...$, so it is checked after the answer and not while it is written",
            hint="write ^ first, $ last, and ( ) around a choice",
        )
    if not node.chars <= _PLAIN:
        return PatternCheck(
            note="the pattern allows characters that JSON escapes, so it is checked after the answer",
            hint="name the allowed characters (no `.`, no [^...], only ASCII without quote and backslash)",
            longest=node.longest,
        )
    return PatternCheck(grammar=f"^{node.text}$", longest=node.longest)


class _Parser:
    def __init__(self, text: str) -> None:
        self.open_choice = False
        """Whether there is a `|` outside of all groups, so that ^ and $ bind only to the first and last branch."""
        self._text = text
        self._at = 0

    def parse(self) -> _Node:
        node = self._branches(depth=0)
        if self._at < len(self._text):
            raise _RefusedError("a `)` without its `(`")
        return node

    def _peek(self) -> str:
        return self._text[self._at] if self._at < len(self._text) else ""

    def _take(self) -> str:
        char = self._peek()
        if not char:
            raise _RefusedError("it ends too early")
        self._at += 1
        return char

    def _branches(self, depth: int) -> _Node:
        if depth > 8:
            raise _RefusedError("groups nested too deeply")
        branches = [self._sequence(depth)]
        while self._peek() == "|":
            self._take()
            branches.append(self._sequence(depth))
        if len(branches) == 1:
            return branches[0]
        self.open_choice = self.open_choice or depth == 0
        return _alternate(branches)

    def _sequence(self, depth: int) -> _Node:
        parts: list[_Node] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._quantified(self._atom(depth)))
        return _concatenate(parts)

    def _atom(self, depth: int) -> _Node:
        char = self._take()
        if char == "(":
            if self._text.startswith("?:", self._at):
                self._at += 2
            elif self._peek() == "?":
                raise _RefusedError("look-around, named groups and flags are not supported")
            inner = self._branches(depth + 1)
            if self._peek() != ")":
                raise _RefusedError("a `(` without its `)`")
            self._take()
            return _group(inner)
        if char == "[":
            return _single(*self._character_class())
        if char == ".":
            return _single(_ALL - {10}, ".")
        if char == "\\":
            return _single(*self._escape(in_class=False))
        if char in "^$":
            message = f"`{char}` inside the pattern"
            raise _RefusedError(message, "write ^ first and $ last only")
        if char in "?*+{":
            message = f"`{char}` with nothing to repeat"
            raise _RefusedError(message)
        return _single(frozenset({min(ord(char), _OTHER)}), char if char not in "]}" else "\\" + char)

    def _escape(self, *, in_class: bool) -> tuple[Chars, str]:
        char = self._take()
        if char in _CLASSES:
            inner = _class_text(_CLASSES[char])
            return _CLASSES[char], inner if in_class else f"[{inner}]"
        if char.upper() == char and char.lower() in _CLASSES:
            return _ALL - _CLASSES[char.lower()], f"\\{char}"
        if char in _CONTROLS:
            return frozenset({_CONTROLS[char]}), f"\\{char}"
        if char.isalnum():
            message = f"`\\{char}` is not supported"
            raise _RefusedError(message)
        return frozenset({min(ord(char), _OTHER)}), f"\\{char}"

    def _character_class(self) -> tuple[Chars, str]:
        negated = self._peek() == "^"
        if negated:
            self._take()
        chars: set[int] = set()
        text, first = "", True
        while first or self._peek() != "]":
            first = False
            low, shown = self._class_item()
            if self._peek() == "-" and not self._text.startswith("-]", self._at) and len(low) == 1:
                self._take()
                high, high_shown = self._class_item()
                start, end = min(low), min(high)
                if len(high) != 1 or start > end:
                    raise _RefusedError("a range in a class runs backwards")
                chars |= set(range(start, end + 1))
                text += f"{shown}-{high_shown}"
            else:
                chars |= low
                text += shown
        self._take()
        found = _ALL - chars if negated else frozenset(chars)
        return found, f"[{'^' if negated else ''}{text}]"

    def _class_item(self) -> tuple[Chars, str]:
        char = self._take()
        if char == "\\":
            return self._escape(in_class=True)
        if char == "[":
            raise _RefusedError("`[` inside a class", "write it as \\[")
        return frozenset({min(ord(char), _OTHER)}), "\\-" if char == "-" else char

    def _quantified(self, atom: _Node) -> _Node:
        char = self._peek()
        if char not in ("?", "*", "+", "{"):
            return atom
        self._take()
        low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}.get(char) or self._counts()
        if self._peek() in ("?", "*", "+", "{"):
            raise _RefusedError("lazy, possessive and doubled quantifiers are not supported")
        return _repeat(atom, low, high, char if char != "{" else _counts_text(low, high))

    def _counts(self) -> tuple[int, int | None]:
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at : end].partition(",") if end >= 0 else ("", "", "")
        if not low.isdecimal() or not (high == "" or high.isdecimal()):
            raise _RefusedError("`{` that is not a count", "write \\{ for the character")
        self._at = end + 1
        least = int(low)
        most = least if not comma else int(high) if high else None
        if max(least, most or 0) > _MAX_REPEAT or (most is not None and most < least):
            message = f"a count must rise and be at most {_MAX_REPEAT}"
            raise _RefusedError(message)
        return least, most


def _counts_text(low: int, high: int | None) -> str:
    if low == high:
        return f"{{{low}}}"
    return f"{{{low},{'' if high is None else high}}}"


def _class_text(chars: Chars) -> str:
    return {_DIGITS: "0-9", _WORD: "A-Za-z0-9_", _SPACE: " \\t\\n\\r\\f\\v"}[chars]


def _single(chars: Chars, text: str) -> _Node:
    return _Node(text, 1, 1, chars, chars, chars, leads=chars, trails=chars)


def _group(inner: _Node) -> _Node:
    return _Node(
        f"({inner.text})",
        inner.shortest,
        inner.longest,
        inner.chars,
        inner.first,
        inner.last,
        inner.varies,
        inner.leads,
        inner.trails,
    )


def _alternate(branches: list[_Node]) -> _Node:
    seen: set[int] = set()
    clear = True
    for branch in branches:
        clear = clear and branch.shortest > 0 and not seen & branch.first
        seen |= branch.first
    longest = [branch.longest for branch in branches]
    text = "|".join(branch.text for branch in branches)
    return _Node(
        text,
        min(branch.shortest for branch in branches),
        None if None in longest else max(length for length in longest if length is not None),
        frozenset[int]().union(*(branch.chars for branch in branches)),
        frozenset[int]().union(*(branch.first for branch in branches)),
        frozenset[int]().union(*(branch.last for branch in branches)),
        varies=not clear or any(branch.varies for branch in branches),
    )


def _concatenate(parts: list[_Node]) -> _Node:
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
    _refuse_neighbours(parts)
    longest = [part.longest for part in parts]
    head, tail = (parts[0], parts[-1]) if parts else (None, None)
    rest_of_head = frozenset[int]().union(*(part.chars for part in parts[1:]))
    rest_of_tail = frozenset[int]().union(*(part.chars for part in parts[:-1]))
    single_head = head is not None and head.shortest == head.longest == 1
    single_tail = tail is not None and tail.shortest == tail.longest == 1
    return _Node(
        "".join(part.text for part in parts),
        sum(part.shortest for part in parts),
        None if None in longest else sum(length for length in longest if length is not None),
        frozenset[int]().union(*(part.chars for part in parts)),
        first,
        last,
        varies=any(part.varies for part in parts),
        leads=head.chars if head is not None and single_head and not head.chars & rest_of_head else None,
        trails=tail.chars if tail is not None and single_tail and not tail.chars & rest_of_tail else None,
    )


def _refuse_neighbours(parts: list[_Node]) -> None:
    """Refuse two open repeats that can trade characters (`a*a*`): the work grows with a power of the text's length."""
    open_chars: Chars = frozenset()
    for part in parts:
        if part.longest is None:
            if open_chars & part.first:
                raise _RefusedError("two repeats side by side can match the same text", "join them into one")
            open_chars |= part.chars
        elif part.shortest and not open_chars & part.chars:
            open_chars = frozenset()


def _repeat(atom: _Node, low: int, high: int | None, text: str) -> _Node:
    many = high is None or high > 1
    if many and atom.varies and atom.leads is None and atom.trails is None:
        raise _RefusedError(
            "a repeat inside a repeat can take for ever on some texts",
            "put a separator that occurs nowhere else first or last in the repeated group",
        )
    if many and atom.shortest == 0:
        raise _RefusedError("a repeat of something that may be empty", "repeat the part that is never empty")
    return _Node(
        atom.text + text,
        atom.shortest * low,
        None if high is None or atom.longest is None else atom.longest * high,
        atom.chars,
        atom.first,
        atom.last,
        varies=atom.varies or low != high,
    )
