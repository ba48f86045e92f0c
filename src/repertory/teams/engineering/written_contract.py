"""A contract that the team writes itself, where the person gave none."""

import copy
from typing import Any, cast

from repertory.teams.engineering.contract import NO_DEFAULT, Contract, Parameter, Tool
from repertory.teams.engineering.value_types import ANYTHING, ValueType, annotation

__all__ = ("contract_of", "with_functions")

_NAME = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,40}$"}
_TYPES = ("string", "integer", "number", "boolean", "list of strings", "list of numbers", "object", "anything")

_FUNCTIONS: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "maxItems": 4,
    "description": "the functions that the agent offers; as few as do it",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "parameters", "returns", "result_fields", "note"],
        "properties": {
            "name": _NAME,
            "parameters": {
                "type": "array",
                "maxItems": 5,
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["name", "type", "optional"],
                    "properties": {"name": _NAME, "type": {"enum": list(_TYPES)}, "optional": {"type": "boolean"}},
                },
            },
            "returns": {"enum": [*_TYPES, "list of objects"]},
            "result_fields": {
                "type": "array",
                "maxItems": 6,
                "items": _NAME,
                "description": "the fields of an object result, else empty",
            },
            "note": {"type": "string", "maxLength": 160, "description": "what it gives back, and when it refuses"},
        },
    },
}


def with_functions(schema: dict[str, Any]) -> dict[str, Any]:
    """The specification's schema with the functions of the contract to be written."""
    wider = copy.deepcopy(schema)
    wider["properties"]["functions"] = _FUNCTIONS
    wider["required"] = [*wider["required"], "functions"]
    return wider


def contract_of(functions: list[dict[str, Any]]) -> Contract:
    """The contract that a specification's functions make."""
    tools = tuple(_tool(function) for function in {item["name"]: item for item in functions}.values())
    clauses = [f"{_words(tool)}{f'; {tool.note}' if tool.note else ''}" for tool in tools]
    return Contract("tools", "tools: " + "\n".join(clauses), tools=tools)


def _tool(function: dict[str, Any]) -> Tool:
    parameters = {
        item["name"]: Parameter(item["name"], _type(item["type"]), None if item["optional"] else NO_DEFAULT)
        for item in cast("list[dict[str, Any]]", function["parameters"])
    }
    # Python wants what has a default to come last.
    ordered = sorted(parameters.values(), key=lambda parameter: not parameter.required)
    return Tool(
        function["name"], tuple(ordered), _type(function["returns"], function["result_fields"]), function["note"]
    )


def _type(word: str, fields: list[str] | None = None) -> ValueType:
    made = ValueType("object", fields=tuple((name, ANYTHING) for name in fields or ()), open=not fields)
    match word:
        case "string" | "integer" | "number" | "boolean":
            return ValueType(word)
        case "list of strings":
            return ValueType("array", items=(ValueType("string"),))
        case "list of numbers":
            return ValueType("array", items=(ValueType("number"),))
        case "list of objects":
            return ValueType("array", items=(made,))
        case "object":
            return made
        case _:
            return ANYTHING


def _words(tool: Tool) -> str:
    parameters = ", ".join(
        f"{parameter.name}: {annotation(parameter.type)}" + ("" if parameter.required else " = None")
        for parameter in tool.parameters
    )
    fields = [name for name, _ in (tool.returns.items[0] if tool.returns.kind == "array" else tool.returns).fields]
    shown = f"{{{', '.join(fields)}}}" if fields else annotation(tool.returns)
    return f"{tool.name}({parameters}) -> {f'list[{shown}]' if fields and tool.returns.kind == 'array' else shown}"
