"""Sizes that every schema gets when its author gave none, and the sizes beyond which a schema is refused."""

from dataclasses import dataclass

__all__ = ("DEFAULT_LIMITS", "SchemaLimits")


@dataclass(frozen=True)
class SchemaLimits:
    """Limits of a schema.

    Attributes:
        max_items: Items of an array without `maxItems`.
        max_length: Characters of a string without `maxLength`.
        depth: Levels of nested objects and arrays.
        nodes: Nodes of the whole schema once references are inlined.
        choices: Values of one `enum`.
        alternatives: Branches of one `anyOf` once combined with others.
    """

    max_items: int = 8
    max_length: int = 400
    depth: int = 12
    nodes: int = 500
    choices: int = 256
    alternatives: int = 32


DEFAULT_LIMITS = SchemaLimits()
