"""The keywords of JSON Schema 2020-12, by what becomes of them on the way to an engine."""

__all__ = ("ANNOTATIONS", "CLIENT_ONLY", "CORE", "DROPPABLE", "KNOWN", "REFUSED", "SCALAR", "TYPES_OF")

CORE = frozenset({"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf"})
"""The skeleton: every engine that constrains decoding takes these, unless its profile says otherwise."""

SCALAR = frozenset(
    {
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
    }
)
"""Sent when the engine's profile says that its grammar enforces them."""

DROPPABLE = SCALAR | {"const", "additionalProperties", "prefixItems"}
"""What may be left out of what is sent without losing the shape of the answer."""

CLIENT_ONLY = frozenset(
    {
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "minContains",
        "maxContains",
        "prefixItems",
        "patternProperties",
        "propertyNames",
        "dependentRequired",
        "dependentSchemas",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Checked by our own validation. `oneOf` is sent in a wider form, `prefixItems` as it is or in a wider form."""

REFUSED = frozenset(
    {"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$anchor", "$id", "$vocabulary"}
)
"""Ways to refer that can not be inlined."""

ANNOTATIONS = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "example",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$schema",
        "discriminator",
        "contentMediaType",
        "contentEncoding",
        "contentSchema",
    }
)
"""Constrain nothing; they are left out of what is sent."""

KNOWN = CORE | SCALAR | CLIENT_ONLY | REFUSED | ANNOTATIONS | {"$ref", "$defs", "definitions", "allOf"}

TYPES_OF: dict[str, tuple[str, ...]] = {
    "properties": ("object",),
    "required": ("object",),
    "minProperties": ("object",),
    "maxProperties": ("object",),
    "items": ("array",),
    "prefixItems": ("array",),
    "minItems": ("array",),
    "maxItems": ("array",),
    "uniqueItems": ("array",),
    "minLength": ("string",),
    "maxLength": ("string",),
    "pattern": ("string",),
    "format": ("string",),
    "minimum": ("number", "integer"),
    "maximum": ("number", "integer"),
    "exclusiveMinimum": ("number", "integer"),
    "exclusiveMaximum": ("number", "integer"),
    "multipleOf": ("number", "integer"),
}
"""The types that a keyword says something about; the first is what a node without `type` is taken for."""
