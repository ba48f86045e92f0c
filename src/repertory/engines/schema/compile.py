"""From a schema as its author wrote it to what one engine takes, and what is left for us to check."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, cast

from repertory.engines.profile import EngineProfile, KeywordSupport
from repertory.engines.schema.keywords import CORE, SCALAR
from repertory.engines.schema.limits import DEFAULT_LIMITS, SchemaLimits
from repertory.engines.schema.normal import Normaliser
from repertory.engines.schema.patterns import check_pattern
from repertory.engines.schema.problems import JsonSchema, Problem, child
from repertory.engines.schema.validation import validate
from repertory.errors import SchemaError

__all__ = ("CompiledSchema", "compile_schema", "normal_form")

_LENGTHS = ("minLength", "maxLength")


@dataclass(frozen=True)
class CompiledSchema:
    """A schema, ready for one engine.

    Attributes:
        source: The schema as written.
        bounded: Its normal form: references inlined, every size bounded, objects closed.
        grammar_schema: What is sent to the engine.
        client_keywords: JSON pointer and keyword of every rule that the engine's grammar does not enforce.
        notes: What was done differently from what was written, one sentence each.
    """

    source: JsonSchema
    bounded: JsonSchema
    grammar_schema: JsonSchema
    client_keywords: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def check(self, value: object) -> list[Problem]:
        """What a value breaks: first of the bounded form, then, if nothing, of the schema as written."""
        return validate(value, self.bounded) or validate(value, self.source)


def normal_form(schema: JsonSchema, limits: SchemaLimits = DEFAULT_LIMITS) -> JsonSchema:
    """The schema with references inlined, `allOf` flattened, every size bounded and objects closed.

    Raises:
        SchemaError: The schema can not be used; the message names the place.
    """
    return _normalise(schema, limits)[0]


def _normalise(schema: JsonSchema, limits: SchemaLimits) -> tuple[JsonSchema, Normaliser]:
    normaliser = Normaliser(schema, limits)
    form = normaliser.run()
    errors = [problem for problem in normaliser.problems if problem.severity == "error"]
    if errors:
        first = errors[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise SchemaError(f"{first.message}{more}", where=f"schema {first.pointer or '/'}", hint=first.hint)  # noqa: EM102
    return form, normaliser


def compile_schema(
    schema: JsonSchema,
    profile: EngineProfile,
    *,
    limits: SchemaLimits = DEFAULT_LIMITS,
    without: Collection[str] = (),
) -> CompiledSchema:
    """Compile a schema for an engine.

    Args:
        schema: JSON Schema (2020-12) of an object.
        profile: What the engine's grammar enforces (`schema_keywords`).
        limits: Bounds for nodes that have none, and the sizes beyond which a schema is refused.
        without: Keywords not to send although the profile lists them, because this server has just refused them.

    Raises:
        SchemaError: The schema can not be used, on this engine or at all; the message names pointer and keyword.
    """
    bounded, normaliser = _normalise(schema, limits)
    lowering = _Lowering(profile, frozenset(without))
    grammar = lowering.lower(bounded, "")
    client = dict.fromkeys([*(rule for rule in normaliser.client if rule not in lowering.sent), *lowering.client])
    notes = [f"{problem.pointer or '/'}: {problem.message}" for problem in normaliser.problems]
    return CompiledSchema(schema, bounded, grammar, tuple(client), tuple(dict.fromkeys([*notes, *lowering.notes])))


class _Lowering:
    """Leaves out of the normal form what an engine's grammar does not take."""

    def __init__(self, profile: EngineProfile, without: frozenset[str]) -> None:
        self.client: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.sent: set[tuple[str, str]] = set()
        self._profile = profile
        self._without = without

    def lower(self, node: JsonSchema, pointer: str) -> JsonSchema:
        if "enum" in node:
            return self._enum(node, pointer)
        if "anyOf" in node:
            self._need("anyOf", pointer)
            branches = cast("list[JsonSchema]", node["anyOf"])
            lowered: list[JsonSchema] = []
            for index, branch in enumerate(branches):
                form = self.lower(branch, child(pointer, "anyOf", index))
                if form not in lowered:
                    lowered.append(form)
            return lowered[0] if len(lowered) == 1 else {"anyOf": lowered}
        kind = str(node["type"])
        if kind == "object":
            return self._object(node, pointer)
        form: JsonSchema = {"type": kind}
        if kind == "array":
            form |= self._places(node, pointer)
        scalars = self._string_keywords(node, pointer) if kind == "string" else node
        return form | self._scalars(scalars, pointer, kind)

    def _support(self, keyword: str, qualifier: str = "") -> KeywordSupport:
        table = self._profile.schema_keywords
        if keyword in self._without:
            return "reject"
        default: KeywordSupport = "grammar" if keyword in CORE else "client"
        return table.get(f"{keyword}:{qualifier}", table.get(keyword, default))

    def _need(self, keyword: str, pointer: str) -> None:
        if self._support(keyword) == "reject" and keyword not in self._without:
            kind = self._profile.kind.value
            raise SchemaError(
                f"`{keyword}` is not accepted by {kind}",  # noqa: EM102  (one place, one sentence)
                where=f"schema {child(pointer, keyword)}",
                hint="write it without, or use another engine for this agent",
            )

    def _enum(self, node: JsonSchema, pointer: str) -> JsonSchema:
        values = cast("list[Any]", node["enum"])
        self._need("enum", pointer)
        if len(values) == 1 and self._support("const") == "grammar":
            return {"const": values[0]}
        if all(isinstance(value, str) for value in values):
            return {"type": "string", "enum": values}
        return {"enum": values}

    def _object(self, node: JsonSchema, pointer: str) -> JsonSchema:
        properties = cast("dict[str, JsonSchema]", node["properties"])
        required = cast("list[str]", node["required"])
        form: JsonSchema = {
            "type": "object",
            "properties": {
                name: self.lower(inner, child(pointer, "properties", name)) for name, inner in properties.items()
            },
            "required": [name for name, inner in properties.items() if name in required or not _nullable(inner)],
        }
        if self._support("additionalProperties") == "grammar":
            form["additionalProperties"] = False
        else:
            self.client.append((pointer, "additionalProperties"))
        return form | self._scalars(node, pointer, "object")

    def _places(self, node: JsonSchema, pointer: str) -> JsonSchema:
        """What a list holds: place by place where the engine takes that and nothing follows, else the same in each.

        `items` is left out beside `prefixItems`: grammars read it first and would lose the places.
        """
        places = cast("list[JsonSchema]", node.get("prefixItems", []))
        if not places or len(places) != node["maxItems"] or self._support("prefixItems") != "grammar":
            return {"items": self.lower(cast("JsonSchema", node["items"]), child(pointer, "items"))}
        self.sent.add((pointer, "prefixItems"))
        return {
            "prefixItems": [
                self.lower(place, child(pointer, "prefixItems", index)) for index, place in enumerate(places)
            ]
        }

    def _string_keywords(self, node: JsonSchema, pointer: str) -> JsonSchema:
        """Choose between pattern, format and lengths: engines enforce one of them and drop the others."""
        shape = next((key for key in ("pattern", "format") if self._shape(node, key)), None)
        dropped = set(_LENGTHS) if shape else set[str]()
        dropped |= {key for key in ("pattern", "format") if key != shape}
        kept = {key: value for key, value in node.items() if key not in dropped}
        if shape == "pattern":
            kept["pattern"] = check_pattern(str(node["pattern"])).grammar
        self.client += [(pointer, key) for key in sorted(dropped) if key in node]
        if shape and "maxLength" in node:
            self.notes.append(f"{pointer}: `{shape}` is enforced while the answer is written, its length afterwards")
        return kept

    def _shape(self, node: JsonSchema, key: str) -> bool:
        """Whether a string's pattern or format may be sent: the grammar takes it and it bounds the length by itself."""
        if key not in node or self._support(key, str(node[key])) != "grammar":
            return False
        if key == "format":
            return True
        checked = check_pattern(str(node[key]))
        return checked.grammar is not None and checked.longest is not None

    def _scalars(self, node: JsonSchema, pointer: str, kind: str) -> JsonSchema:
        form: JsonSchema = {}
        for key, value in node.items():
            if key not in SCALAR:
                continue
            qualifier = str(value) if key == "format" else kind
            if self._support(key, qualifier) == "grammar":
                form[key] = value
            else:
                self.client.append((pointer, key))
        return form


def _nullable(node: JsonSchema) -> bool:
    if "enum" in node:
        return None in node["enum"]
    if "anyOf" in node:
        return any(_nullable(branch) for branch in cast("list[JsonSchema]", node["anyOf"]))
    return node["type"] == "null"
