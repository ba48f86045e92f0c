"""Finds the JSON Schema keywords and the place that an engine's error speaks of, among its words of English."""

import re

__all__ = ("find_pointer", "named_keywords")

_KEYWORD = re.compile(
    r"(?<![\w$])(minItems|maxItems|uniqueItems|minContains|maxContains|prefixItems|additionalItems|multipleOf"
    r"|exclusiveMinimum|exclusiveMaximum|minLength|maxLength|patternProperties|propertyNames|minProperties"
    r"|maxProperties|additionalProperties|unevaluatedProperties|unevaluatedItems|allOf|anyOf|oneOf|\$ref(?!\s+#)|\$defs"
    r"|dependentRequired|dependentSchemas)(?!\w)"
)
_WORD = r"contains|minimum|maximum|pattern|format|not|const|enum"
"""Keywords that are words of English too: they count only where the sentence marks them as keywords."""
_MARKED_KEYWORD = re.compile(
    rf"[\"'`](?P<quoted>{_WORD})[\"'`]"
    rf"|\b(?:keywords?|unsupported|unknown)\b\W{{0,3}}(?P<after>{_WORD})\b(?! (?:yet )?(?:supported|allowed|valid))"
    rf"|\b(?P<before>{_WORD}) (?:is|are) (?:not|un)[ ]?(?:yet )?(?:supported|implemented|allowed|recognized)"
    rf"|\b(?P<named>{_WORD}) keyword\b"
)
_POINTER = re.compile(r"#(?:/[\w$~.%-]+)+")


def named_keywords(said: str) -> tuple[str, ...]:
    """The keywords that are named, in the order of the words."""
    said = _POINTER.sub("#", said)  # names in a place are no keywords of the sentence
    found = [(match.start(), match[1]) for match in _KEYWORD.finditer(said)]
    found += [(match.start(), str(match[match.lastgroup or 0])) for match in _MARKED_KEYWORD.finditer(said)]
    return tuple(dict.fromkeys(keyword for _, keyword in sorted(found)))


def find_pointer(said: str) -> str | None:
    """The place in the schema that is named."""
    found = _POINTER.search(said)
    return found[0] if found else None
