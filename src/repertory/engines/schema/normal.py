"""The normal form of a schema: references inlined, `allOf` flattened, every node typed, every size bounded.

A node of the normal form is one of: `{"enum": [...]}`, `{"anyOf": [...]}`, or `{"type": ...}` with the keywords of
that type; beside it may stand a `description`. Objects are closed. The field guide describes the normal form, and it is
lowered to the engine; it accepts nothing that the schema as written refuses, but for the keywords listed in
`Normaliser.client`.
"""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, cast

from repertory.engines.schema.forms import FORMAT_LENGTHS, any_of, has_type, of_type, undescribed
from repertory.engines.schema.keywords import CLIENT_ONLY, KNOWN, REFUSED, SCALAR, TYPES_OF
from repertory.engines.schema.limits import SchemaLimits
from repertory.engines.schema.merge import Contradiction, find_reference, intersect
from repertory.engines.schema.patterns import check_pattern
from repertory.engines.schema.problems import JsonSchema, Problem, SchemaProblem, Severity, child
from repertory.engines.schema.validation import META_SCHEMA, validate

__all__ = ("Normaliser",)

_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")

Refs = tuple[str, ...]


class Normaliser:
    """Brings one schema to its normal form and gathers what is wrong with it.

    Attributes:
        problems: What was found, in the order of the fields.
        client: Pointer and keyword of everything that only our own validation can check.
    """

    def __init__(self, root: JsonSchema, limits: SchemaLimits) -> None:
        self.problems: list[SchemaProblem] = []
        self.client: list[tuple[str, str]] = []
        self._root = root
        self._limits = limits
        self._nodes = 0
        self._builders: dict[str, Callable[[JsonSchema, str, Refs, int], JsonSchema]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
        }

    def run(self) -> JsonSchema:
        """The normal form; only to be used when `problems` holds no error."""
        for problem in _mistakes(json.dumps(self._root, default=str)):
            self._report(problem.pointer, f"not a JSON Schema: {problem.message}", "mend it")
        if self._has_errors():
            return {"type": "null"}
        node = self._visit(self._root, "", (), 0)
        variants = cast("list[JsonSchema]", node["anyOf"]) if "anyOf" in node else [node]
        if any(variant.get("type") != "object" for variant in variants) and not self._has_errors():
            self._report("", "the answer is not an object", "describe an object with named fields")
        return node

    def _has_errors(self) -> bool:
        return any(problem.severity == "error" for problem in self.problems)

    def _report(self, pointer: str, message: str, hint: str, severity: Severity = "error") -> None:
        problem = SchemaProblem(pointer, message, hint, severity)
        if problem not in self.problems:
            self.problems.append(problem)

    def _fail(self, pointer: str, message: str, hint: str) -> JsonSchema:
        self._report(pointer, message, hint)
        return {"type": "null"}

    def _visit(self, raw: Any, pointer: str, refs: Refs, depth: int) -> JsonSchema:
        self._nodes += 1
        if self._nodes > self._limits.nodes:
            return self._fail("", f"the schema has more than {self._limits.nodes} nodes", "ask for less in one answer")
        if depth > self._limits.depth:
            return self._fail(pointer, f"nested deeper than {self._limits.depth} levels", "flatten it")
        if not isinstance(raw, dict):
            return self._fail(pointer, "anything is allowed here" if raw is True else "not a schema", "give it a type")
        try:
            node, refs = self._expand(cast("JsonSchema", raw), pointer, refs)
        except Contradiction as error:
            return self._fail(pointer, f"{error}", "mend the parts that are joined here")
        except LookupError as error:
            return self._fail(
                pointer,
                f"`$ref` names nothing: {error.args[0]!r}",
                "only local references (`#/$defs/Name`) are followed",
            )
        except RecursionError as error:
            return self._fail(pointer, f"{error}", "a schema that contains itself has no end; use a list of ids")
        self._note_keywords(node, pointer)
        form = self._build(node, pointer, refs, depth)
        description = node.get("description")
        if isinstance(description, str) and description.strip():
            form = {"description": description, **form}
        return form

    def _expand(self, raw: JsonSchema, pointer: str, refs: Refs) -> tuple[JsonSchema, Refs]:
        """Follow `$ref` and flatten `allOf` at the top of one node."""
        unsupported = sorted(REFUSED & raw.keys() - ({"$id"} if not pointer else set()))
        if unsupported:
            self._report(
                child(pointer, unsupported[0]), f"`{unsupported[0]}` is not supported", "use `$ref` and `$defs`"
            )
        node = {key: value for key, value in raw.items() if key not in ("$ref", "allOf")}
        parts: list[tuple[Any, str | None]] = []
        if "$ref" in raw:
            parts.append((find_reference(self._root, str(raw["$ref"])), str(raw["$ref"])))
        parts += [(part, None) for part in cast("Sequence[Any]", raw.get("allOf", ()))]
        seen = refs
        for part, name in parts:
            if name is not None and name in refs:
                message = "recursive: " + " -> ".join([*refs[refs.index(name) :], name])
                raise RecursionError(message)
            if not isinstance(part, dict):
                if part is False:
                    raise Contradiction("`false` allows nothing")
                continue
            inner, inner_refs = self._expand(cast("JsonSchema", part), pointer, (*refs, name) if name else refs)
            node = intersect(node, inner, alternatives=self._limits.alternatives)
            seen = tuple(dict.fromkeys([*seen, *inner_refs]))
        return node, seen

    def _note_keywords(self, node: JsonSchema, pointer: str) -> None:
        for key in node:
            if key in CLIENT_ONLY and (pointer, key) not in self.client:
                self.client.append((pointer, key))
            if key not in KNOWN and not key.startswith("x-"):
                self._report(
                    child(pointer, key), f"`{key}` is not a keyword of JSON Schema", "it has no effect", "warning"
                )

    def _build(self, node: JsonSchema, pointer: str, refs: Refs, depth: int) -> JsonSchema:
        for key in ("anyOf", "oneOf"):
            if key in node:
                return self._alternatives(node, key, pointer, refs, depth)
        try:
            node = intersect(node, {}, alternatives=1)
        except Contradiction as error:
            return self._fail(pointer, f"{error}", "mend it")
        if "enum" in node:
            return self._enum(node, pointer)
        kind = self._type(node)
        if kind is None:
            return self._fail(
                pointer,
                "no type: the model may write anything here, without end",
                "give it a `type`, `enum` or `const`",
            )
        if isinstance(kind, list):
            branches = [self._visit({**of_type(node, one), "type": one}, pointer, refs, depth) for one in kind]
            return any_of([undescribed(branch) for branch in branches])
        if kind not in _TYPES:
            return self._fail(child(pointer, "type"), f"no such type: {kind!r}", f"one of {', '.join(_TYPES)}")
        if kind in self._builders:
            return self._builders[kind](node, pointer, refs, depth)
        kept = {key: node[key] for key in SCALAR if key in node and kind in TYPES_OF.get(key, ())}
        return {"type": kind, **dict(sorted(kept.items()))}

    def _type(self, node: JsonSchema) -> str | list[str] | None:
        kind = node.get("type")
        if isinstance(kind, list):
            kinds = [str(one) for one in cast("list[Any]", kind)]
            kinds = [one for one in dict.fromkeys(kinds) if not (one == "integer" and "number" in kinds)]
            return kinds[0] if len(kinds) == 1 else kinds or None
        if kind is not None:
            return str(kind)
        return next((TYPES_OF[key][0] for key in node if key in TYPES_OF), None)

    def _alternatives(self, node: JsonSchema, key: str, pointer: str, refs: Refs, depth: int) -> JsonSchema:
        """Distribute what stands beside `anyOf` or `oneOf` over its branches."""
        rest = {name: value for name, value in node.items() if name not in (key, "description", "title", "default")}
        rest = {name: value for name, value in rest.items() if name not in CLIENT_ONLY or name == "oneOf"}
        branches = cast("list[Any]", node[key]) if isinstance(node[key], list) else []
        if not branches or len(branches) > self._limits.alternatives:
            return self._fail(
                child(pointer, key), f"1 to {self._limits.alternatives} alternatives are allowed", "list them, or fewer"
            )
        forms: list[JsonSchema] = []
        for index, branch in enumerate(branches):
            whole = {"allOf": [rest, branch]} if rest else branch
            forms.append(self._visit(whole, child(pointer, key, index) if not rest else pointer, refs, depth))
        return any_of(forms)

    def _enum(self, node: JsonSchema, pointer: str) -> JsonSchema:
        values = cast("list[Any]", node["enum"]) if isinstance(node["enum"], list) else []
        kind = node.get("type")
        kinds = cast("list[str]", kind) if isinstance(kind, list) else [str(kind)] if kind else list(_TYPES)
        values = [value for value in values if any(has_type(value, one) for one in kinds)]
        if not values:
            return self._fail(
                pointer, "no value is allowed here", "list at least one value of the right type in `enum`"
            )
        if len(values) > self._limits.choices:
            return self._fail(
                pointer, f"more than {self._limits.choices} values in `enum`", "let the model write text and check it"
            )
        return {"enum": values}

    def _object(self, node: JsonSchema, pointer: str, refs: Refs, depth: int) -> JsonSchema:
        described = cast("JsonSchema", node.get("properties") or {})
        if not described:
            return self._fail(
                pointer,
                "an object without named fields has no end",
                "name its `properties`, or use a list of objects that hold the key as a field",
            )
        if isinstance(node.get("additionalProperties"), dict):
            self._report(
                child(pointer, "additionalProperties"),
                "fields with free names are not asked for; the object is closed",
                "use a list of objects that hold the name as a field",
                "warning",
            )
        properties = {
            name: self._visit(schema, child(pointer, "properties", name), refs, depth + 1)
            for name, schema in described.items()
            if schema is not False
        }
        required = [str(name) for name in cast("list[Any]", node.get("required", []))]
        for name in required:
            if name not in properties:
                self._report(
                    child(pointer, "required"), f"`{name}` is required but not described", "add it to `properties`"
                )
        form: JsonSchema = {
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if name in required],
            "additionalProperties": False,
        }
        return form | {key: node[key] for key in ("minProperties", "maxProperties") if key in node}

    def _array(self, node: JsonSchema, pointer: str, refs: Refs, depth: int) -> JsonSchema:
        prefix = cast("list[Any]", node.get("prefixItems", []))
        rest = node.get("items", {} if not prefix else False)
        kinds: list[JsonSchema] = [
            self._visit(item, child(pointer, "prefixItems", index), refs, depth + 1)
            for index, item in enumerate(prefix)
        ]
        if rest is not False:
            kinds.append(self._visit(rest, child(pointer, "items"), refs, depth + 1))
        if not kinds:
            return self._fail(pointer, "a list that may hold nothing", "give its `items` a type")
        least = int(node.get("minItems", 0))
        most = node.get("maxItems")
        if rest is False:
            most = min(len(prefix), int(most)) if most is not None else len(prefix)
        if most is None:
            most = max(self._limits.max_items, least)
            self._report(
                pointer, f"no `maxItems`: at most {most} are asked for", "say how many items there may be", "warning"
            )
        if least > int(most):
            return self._fail(pointer, f"`minItems` {least} is more than `maxItems` {most}", "mend one of them")
        form: JsonSchema = {"type": "array", "items": any_of(kinds), "maxItems": int(most)}
        if prefix:
            form["prefixItems"] = kinds[: len(prefix)]
        if least:
            form["minItems"] = least
        return form | {key: node[key] for key in ("uniqueItems",) if node.get(key)}

    def _string(self, node: JsonSchema, pointer: str, refs: Refs, depth: int) -> JsonSchema:
        del refs, depth
        least, most = int(node.get("minLength", 0)), node.get("maxLength")
        form: JsonSchema = {"type": "string"}
        if "pattern" in node:
            form["pattern"] = str(node["pattern"])
            checked = check_pattern(form["pattern"])
            if checked.problem:
                self._report(child(pointer, "pattern"), checked.problem, checked.hint)
            elif checked.note:
                self._report(child(pointer, "pattern"), checked.note, checked.hint, "note")
            if most is None and checked.longest is not None:
                most = max(checked.longest, least)
        if "format" in node:
            form["format"] = str(node["format"])
            most = most if most is not None else max(FORMAT_LENGTHS.get(form["format"], self._limits.max_length), least)
        if most is None:
            most = max(self._limits.max_length, least)
            self._report(
                pointer, f"no `maxLength`: at most {most} characters are asked for", "say how long it may be", "warning"
            )
        if least > int(most):
            return self._fail(pointer, f"`minLength` {least} is more than `maxLength` {most}", "mend one of them")
        form["maxLength"] = int(most)
        if least:
            form["minLength"] = least
        return form


@lru_cache(maxsize=256)
def _mistakes(schema: str) -> tuple[Problem, ...]:
    """Where a schema is none; kept, because it takes milliseconds and the same few schemas are used in every turn."""
    return tuple(validate(json.loads(schema), META_SCHEMA))
