"""Reads single fields of a JSON request without parsing it, and replaces them byte for byte.

The rest of a body reaches the engine as the client wrote it: no key is reordered, no number reformatted, and a prompt
of a megabyte costs one pass of the regular-expression engine instead of a tree of objects.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ("BodyError", "RequestFields", "read_fields")

# Possessive quantifiers: a body that does not match fails in linear time.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_KEY = re.compile(rb"[ \t\r\n]*+(" + _STRING + rb")[ \t\r\n]*+:[ \t\r\n]*+", re.DOTALL)
_SCALAR = re.compile(_STRING + rb"|-?[0-9][0-9.eE+-]*+|true|false|null", re.DOTALL)
_TO_BRACKET = re.compile(rb'[^"{}\[\]]*+(?:' + _STRING + rb'[^"{}\[\]]*+)*+([{}\[\]])', re.DOTALL)
_COMMA_OR_END = re.compile(rb"[ \t\r\n]*+([,}])")
_OPEN = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+\{")
_EMPTY_END = re.compile(rb"[ \t\r\n]*+\}")
_MAX_DEPTH = 200


class BodyError(ValueError):
    """The body is no JSON object that could be read."""


@dataclass(frozen=True)
class RequestFields:
    """A body and where its top-level values are in it."""

    body: bytes
    spans: Mapping[str, tuple[int, int]]
    inside: int
    """Where the object's first member begins."""

    def raw(self, name: str) -> bytes | None:
        """The bytes of a value; None when the field is not there."""
        span = self.spans.get(name)
        return None if span is None else self.body[span[0] : span[1]]

    def value(self, name: str) -> object:
        """A value, parsed; None when the field is not there.

        Raises:
            BodyError: It is not JSON.
        """
        raw = self.raw(name)
        if raw is None:
            return None
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            message = f"the value of {name!r} is not JSON"
            raise BodyError(message) from None

    def with_value(self, name: str, value: bytes) -> "RequestFields":
        """The body with the value of a field that is there replaced."""
        start, end = self.spans[name]
        shift = len(value) - (end - start)
        spans = {
            other: (first + shift, last + shift) if first > start else (first, last)
            for other, (first, last) in self.spans.items()
        }
        spans[name] = (start, start + len(value))
        return RequestFields(self.body[:start] + value + self.body[end:], spans, self.inside)

    def with_member(self, member: bytes) -> "RequestFields":
        """The body with one more member, `"name":value`, in front of the others (there must be another one)."""
        head = self.body[: self.inside] + member + b","
        shift = len(member) + 1
        spans = {name: (start + shift, end + shift) for name, (start, end) in self.spans.items()}
        return RequestFields(head + self.body[self.inside :], spans, self.inside)


def read_fields(body: bytes) -> RequestFields:
    """Find the top-level members of a JSON object.

    Raises:
        BodyError: It is no object, is broken at the top level, or names a member twice. (Which of two an engine
            takes is not known, so a second `model` could be one that the caller may not use.)
    """
    opening = _OPEN.match(body)
    if opening is None:
        raise BodyError("the body is not a JSON object")
    inside = position = opening.end()
    spans: dict[str, tuple[int, int]] = {}
    empty = _EMPTY_END.match(body, position)
    if empty is not None:
        return RequestFields(body, spans, inside)
    while True:
        key = _KEY.match(body, position)
        if key is None:
            message = f"the JSON object is broken at byte {position}"
            raise BodyError(message)
        name = _key_name(key[1])
        start = key.end()
        end = _value_end(body, start)
        if name in spans:
            message = f"the member {name[:60]!r} is given twice"
            raise BodyError(message)
        spans[name] = (start, end)
        after = _COMMA_OR_END.match(body, end)
        if after is None:
            message = f"the JSON object is broken at byte {end}"
            raise BodyError(message)
        position = after.end()
        if after[1] == b"}":
            break
    if body[position:].strip():
        message = f"something follows the JSON object at byte {position}"
        raise BodyError(message)
    return RequestFields(body, spans, inside)


def _key_name(raw: bytes) -> str:
    if b"\\" not in raw:
        return raw[1:-1].decode("utf-8", "replace")
    try:
        return str(json.loads(raw))
    except ValueError:
        raise BodyError("a member's name is not JSON") from None


def _value_end(body: bytes, start: int) -> int:
    if body[start : start + 1] not in {b"{", b"["}:
        scalar = _SCALAR.match(body, start)
        if scalar is None:
            message = f"the JSON object is broken at byte {start}"
            raise BodyError(message)
        return scalar.end()
    depth, position = 1, start + 1
    while depth:
        bracket = _TO_BRACKET.match(body, position)
        if bracket is None:
            message = f"a value that begins at byte {start} does not end"
            raise BodyError(message)
        depth += 1 if bracket[1] in b"{[" else -1
        if depth > _MAX_DEPTH:
            message = f"the body is nested deeper than {_MAX_DEPTH} levels"
            raise BodyError(message)
        position = bracket.end()
    return position
