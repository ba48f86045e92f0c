"""The one door to the YAML scanner: typed events, and its errors in our words.

Only the scanner and parser of ruamel.yaml are used. What a scalar means is decided in `repertory.runtime.team_yaml`,
so that no YAML 1.1 rule and no constructor of Python objects can get in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from ruamel.yaml import YAML
from ruamel.yaml import events as ruamel
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from repertory.spelling import printable, quoted

__all__ = ("YamlEvent", "YamlProblem", "YamlSyntaxError", "read_events")

_Kind = Literal["document", "scalar", "list", "mapping", "alias", "end"]


@dataclass(frozen=True)
class YamlProblem:
    """Something wrong at one character of the text; `related` is the index of another place that takes part."""

    index: int
    message: str
    hint: str | None = None
    related: int | None = None


class YamlSyntaxError(Exception):
    """The text can not be read any further than this problem."""

    def __init__(self, index: int, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.problem = YamlProblem(index, message, hint)


@dataclass(frozen=True)
class YamlEvent:
    """One event of the parser.

    Attributes:
        kind: What begins, ends or stands here; `end` closes the innermost list or mapping.
        start: Index of its first character in the text.
        end: Index after its last character.
        text: A scalar's text.
        plain: Whether a scalar stands without quotes and is not a block.
        anchor: The name after `&`, or of an alias the one after `*`.
        tag: The explicit tag, if any.
        directives: For a document: whether a `%` line stands before it.
    """

    kind: _Kind
    start: int
    end: int
    text: str = ""
    plain: bool = False
    anchor: str | None = None
    tag: str | None = None
    directives: bool = False


def read_events(text: str) -> Iterator[YamlEvent]:
    """The events of `text`, without those of stream and document ends.

    Raises:
        YamlSyntaxError: The text is not YAML.
    """
    # ruamel.yaml declares no types for what it yields; everything is given one here.
    reader: Any = YAML(typ="safe", pure=True)
    at = 0
    try:
        for event in reader.parse(text):
            translated = _translate(event)
            at = int(event.end_mark.index)
            if translated is not None:
                yield translated
    except ReaderError as error:
        raise _unreadable(error) from None
    except MarkedYAMLError as error:
        raise _in_our_words(error) from None
    except (YAMLError, ValueError, OverflowError, LookupError, AttributeError, TypeError, AssertionError):
        # The scanner fails with bare Python errors on escapes of characters that do not exist and broken directives.
        message = "not valid YAML from here on: an escape or a directive that means nothing"
        raise YamlSyntaxError(at, message, r"write `\\` for one backslash") from None


_KINDS: tuple[tuple[type[Any], _Kind], ...] = (
    (ruamel.DocumentStartEvent, "document"),
    (ruamel.ScalarEvent, "scalar"),
    (ruamel.SequenceStartEvent, "list"),
    (ruamel.MappingStartEvent, "mapping"),
    (ruamel.AliasEvent, "alias"),
    (ruamel.SequenceEndEvent, "end"),
    (ruamel.MappingEndEvent, "end"),
)


def _translate(event: Any) -> YamlEvent | None:
    kind: _Kind | None = next((kind for kind_type, kind in _KINDS if isinstance(event, kind_type)), None)
    if kind is None:
        return None
    tag, anchor = getattr(event, "tag", None), getattr(event, "anchor", None)
    return YamlEvent(
        kind=kind,
        start=int(event.start_mark.index),
        end=int(event.end_mark.index),
        text=str(event.value) if kind == "scalar" else "",
        plain=kind == "scalar" and not event.style,
        anchor=None if anchor is None else str(anchor),
        tag=None if tag is None else str(tag),
        directives=kind == "document" and bool(event.version or event.tags),
    )


_WORDS: tuple[tuple[str, str, str], ...] = (
    ("character '\\t'", "a tab can not be used here", "indent with spaces"),
    ("mapping values are not allowed here", "a `:` is not allowed here",
     "quote the text if the `:` belongs to it; else put the key on a line of its own"),
    ("could not find expected ':'", "a `:` is missing after the key", "write `key: value`"),
    ("unexpected end of stream", "the quote is not closed", "add the closing quote"),
    ("found unknown escape character", "an escape that YAML does not have", r"write `\\` for one backslash"),
    ("expected <block end>", "the indentation does not fit the lines above",
     "indent it like its neighbours, with spaces"),
    ("expected ',' or ']'", "a `,` or `]` is missing", "close the list with `]`"),
    ("expected ',' or '}'", "a `,` or `}` is missing", "close the mapping with `}`"),
    ("cannot start any token", "a character that no plain text can start with", "quote the text"),
    ("undefined tag handle", "a YAML tag is not allowed", "remove it; quote text that starts with `!`"),
)  # fmt: skip
"""What the YAML scanner says, what we say, and the hint."""

_OPENED = ("unexpected end", "expected ',' or")
"""Said where the reading stopped; where the quote or bracket was opened is what helps."""


def _in_our_words(error: MarkedYAMLError) -> YamlSyntaxError:
    details = cast("Any", error)
    stopped, opened = details.problem_mark, details.context_mark
    said = str(details.problem or details.context or "unreadable")
    index = int((stopped or opened).index) if stopped or opened else 0
    for part, message, hint in _WORDS:
        if part in said:
            return YamlSyntaxError(int(opened.index) if opened and part.startswith(_OPENED) else index, message, hint)
    return YamlSyntaxError(index, f"not valid YAML: {printable(said[:160])}")


def _unreadable(error: ReaderError) -> YamlSyntaxError:
    details = cast("Any", error)
    code = details.character if isinstance(details.character, int) else ord(str(details.character)[:1] or "\0")
    return YamlSyntaxError(
        int(details.position), f"the character {quoted(f'U+{code:04X}')} is not allowed", "remove it"
    )
