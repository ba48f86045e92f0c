"""Regular expressions that users write: which are safe to run, and which may go into an engine's grammar.

One malformed or explosive pattern can take a whole engine down, or let it answer unconstrained, so a pattern is read by
this small parser before anything else sees it. It knows literals, classes, groups, `|` and the quantifiers
`? * + {m,n}`; what it does not know (look-around, back-references, lazy quantifiers, inline flags, Unicode classes) is
refused.
"""

from dataclasses import dataclass

from repertory.engines.schema.pattern_nodes import (
    ALL,
    CLASSES,
    CONTROLS,
    OTHER,
    PLAIN,
    Chars,
    Node,
    RefusedError,
    alternate,
    concatenate,
    group,
    repeat,
    single,
)

__all__ = ("PatternCheck", "check_pattern")

_MAX_PATTERN = 400
_MAX_REPEAT = 1000


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
    except RefusedError as error:
        return PatternCheck(problem=f"the pattern is refused: {error}", hint=error.hint)
    if not anchored or parser.open_choice:
        return PatternCheck(
            note="the pattern is not of the form ^...$, so it is checked after the answer and not while it is written",
            hint="write ^ first, $ last, and ( ) around a choice",
        )
    if not node.chars <= PLAIN:
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

    def parse(self) -> Node:
        node = self._branches(depth=0)
        if self._at < len(self._text):
            raise RefusedError("a `)` without its `(`")
        return node

    def _peek(self) -> str:
        return self._text[self._at] if self._at < len(self._text) else ""

    def _take(self) -> str:
        char = self._peek()
        if not char:
            raise RefusedError("it ends too early")
        self._at += 1
        return char

    def _branches(self, depth: int) -> Node:
        if depth > 8:
            raise RefusedError("groups nested too deeply")
        branches = [self._sequence(depth)]
        while self._peek() == "|":
            self._take()
            branches.append(self._sequence(depth))
        if len(branches) == 1:
            return branches[0]
        self.open_choice = self.open_choice or depth == 0
        return alternate(branches)

    def _sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._quantified(self._atom(depth)))
        return concatenate(parts)

    def _atom(self, depth: int) -> Node:
        char = self._take()
        if char == "(":
            if self._text.startswith("?:", self._at):
                self._at += 2
            elif self._peek() == "?":
                raise RefusedError("look-around, named groups and flags are not supported")
            inner = self._branches(depth + 1)
            if self._peek() != ")":
                raise RefusedError("a `(` without its `)`")
            self._take()
            return group(inner)
        if char == "[":
            return single(self._character_class())
        if char == ".":
            return single(ALL - {10})
        if char == "\\":
            return single(self._escape())
        if char in "^$":
            message = f"`{char}` inside the pattern"
            raise RefusedError(message, "write ^ first and $ last only")
        if char in "?*+{":
            message = f"`{char}` with nothing to repeat"
            raise RefusedError(message)
        return single(frozenset({min(ord(char), OTHER)}))

    def _escape(self) -> Chars:
        char = self._take()
        if char in CLASSES:
            return CLASSES[char]
        if char.upper() == char and char.lower() in CLASSES:
            return ALL - CLASSES[char.lower()]
        if char in CONTROLS:
            return frozenset({CONTROLS[char]})
        if char.isalnum():
            message = f"`\\{char}` is not supported"
            raise RefusedError(message)
        return frozenset({min(ord(char), OTHER)})

    def _character_class(self) -> Chars:
        negated = self._peek() == "^"
        if negated:
            self._take()
        chars: set[int] = set()
        first = True
        while first or self._peek() != "]":
            first = False
            low = self._class_item()
            if self._peek() == "-" and not self._text.startswith("-]", self._at) and len(low) == 1:
                self._take()
                high = self._class_item()
                start, end = min(low), min(high)
                if len(high) != 1 or start > end:
                    raise RefusedError("a range in a class runs backwards")
                chars |= set(range(start, end + 1))
            else:
                chars |= low
        self._take()
        return ALL - chars if negated else frozenset(chars)

    def _class_item(self) -> Chars:
        char = self._take()
        if char == "\\":
            return self._escape()
        if char == "[":
            raise RefusedError("`[` inside a class", "write it as \\[")
        return frozenset({min(ord(char), OTHER)})

    def _quantified(self, atom: Node) -> Node:
        char = self._peek()
        if char not in ("?", "*", "+", "{"):
            return atom
        self._take()
        low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}.get(char) or self._counts()
        if self._peek() in ("?", "*", "+", "{"):
            raise RefusedError("lazy, possessive and doubled quantifiers are not supported")
        return repeat(atom, low, high)

    def _counts(self) -> tuple[int, int | None]:
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at : end].partition(",") if end >= 0 else ("", "", "")
        if not low.isdecimal() or not (high == "" or high.isdecimal()):
            raise RefusedError("`{` that is not a count", "write \\{ for the character")
        self._at = end + 1
        least = int(low)
        most = least if not comma else int(high) if high else None
        if max(least, most or 0) > _MAX_REPEAT or (most is not None and most < least):
            message = f"a count must rise and be at most {_MAX_REPEAT}"
            raise RefusedError(message)
        return least, most
