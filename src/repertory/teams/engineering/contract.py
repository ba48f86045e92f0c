"""The public contract of an agent: what others may rely on, fixed before anything is written."""

import keyword
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from repertory.teams.engineering.value_types import ANYTHING, ValueType, annotation, json_schema

__all__ = ("NO_DEFAULT", "Contract", "Parameter", "Route", "Tool", "stub")

AgentKind = Literal["tools", "http", "chat"]


class _NoDefault:
    def __repr__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT = _NoDefault()
"""Marks a parameter that must be given."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool."""

    name: str
    type: ValueType = ANYTHING
    default: Any = NO_DEFAULT

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is NO_DEFAULT


@dataclass(frozen=True)
class Tool:
    """One function that the agent offers."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    returns: ValueType = ANYTHING
    note: str = ""

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        properties: dict[str, Any] = {}
        for parameter in self.parameters:
            schema = json_schema(parameter.type)
            properties[parameter.name] = schema if parameter.required else {**schema, "default": parameter.default}
        return {
            "type": "object",
            "properties": properties,
            "required": [parameter.name for parameter in self.parameters if parameter.required],
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the result."""
        return json_schema(self.returns)


@dataclass(frozen=True)
class Route:
    """One HTTP route that the agent answers."""

    method: str
    path: str


@dataclass(frozen=True)
class Contract:
    """What the agent promises.

    Attributes:
        kind: Functions, an HTTP service, or a conversation.
        text: The contract in words, as it was given or written.
        tools: The functions, for kind `tools`.
        routes: The routes, for kind `http`.
        given: Whether the person gave it; then it can not be changed.
        rules: Clauses beside the signatures, one a line.
    """

    kind: AgentKind
    text: str
    tools: tuple[Tool, ...] = ()
    routes: tuple[Route, ...] = ()
    given: bool = False
    rules: tuple[str, ...] = field(default=())

    @property
    def tool_names(self) -> list[str]:
        """The functions' names, in their order."""
        return [tool.name for tool in self.tools]

    def tool(self, name: str) -> Tool | None:
        """The function of a name."""
        return next((tool for tool in self.tools if tool.name == name), None)

    @property
    def refuses_with_value_error(self) -> bool:
        """Whether the contract speaks of refusing input, or has bounds that input can break."""
        bounded = any(
            parameter.type.low is not None or parameter.type.high is not None
            for tool in self.tools
            for parameter in tool.parameters
        )
        return bounded or "error" in self.text.lower()


def stub(tools: Sequence[Tool]) -> str:
    """The signatures as Python that a builder has to fill in."""
    return "\n\n\n".join(_stub(tool) for tool in tools)


def _stub(tool: Tool) -> str:
    parameters = ", ".join(
        f"{parameter.name}: {annotation(parameter.type)}" + ("" if parameter.required else f" = {parameter.default!r}")
        for parameter in tool.parameters
        if not keyword.iskeyword(parameter.name)
    )
    return f"def {tool.name}({parameters}) -> {annotation(tool.returns)}:\n    ..."
