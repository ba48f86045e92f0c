"""`agent.yaml`: what an agent is, what it may do and what it needs, in a form that is checked."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from repertory.errors import PackageError, UsageError
from repertory.planning.needs import AgentNeeds
from repertory.registry.tool_schema import check_tool_schema
from repertory.runtime.team_yaml import Node, read_yaml
from repertory.runtime.yaml_events import YamlSyntaxError
from repertory.spelling import nearest, printable

__all__ = (
    "MANIFEST",
    "NAME_PATTERN",
    "AgentLimits",
    "AgentManifest",
    "HttpRoute",
    "Permissions",
    "RecordsGrant",
    "ToolDeclaration",
    "manifest_schema",
    "read_manifest",
)

MANIFEST = "agent.yaml"
NAME_PATTERN = r"[a-z0-9]+(-[a-z0-9]+)*"
_MIB = 1024 * 1024


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolDeclaration(_Part):
    """One tool: a function of the same name in `tools.py`.

    Attributes:
        name: The function's name.
        description: What it does, for whoever chooses between tools.
        input_schema: JSON Schema of the arguments, an object; each property is an argument by name.
        output_schema: JSON Schema of the result.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    description: Annotated[str, Field(min_length=1, max_length=1024)]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] = Field(default_factory=dict)

    @field_validator("input_schema", "output_schema")
    @classmethod
    def _usable(cls, value: dict[str, Any], info: Any) -> dict[str, Any]:
        problems = check_tool_schema(value, arguments=info.field_name == "input_schema")
        if problems:
            raise ValueError("; ".join(problems[:4]))
        return value


class HttpRoute(_Part):
    """One HTTP route that the agent answers; `function` in `tools.py` gets the request and returns the response."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: Annotated[str, Field(pattern=r"^/[A-Za-z0-9_./{}-]{0,199}$")]
    function: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


class RecordsGrant(_Part):
    """Values by key and logs that the agent may keep, in a database of its own.

    Attributes:
        per_user: Whether each user has records of their own, which no call for another user sees.
        schema_version: The number of the form in which this version keeps them; a later version may have a higher one.
    """

    per_user: bool = False
    schema_version: Annotated[int, Field(ge=1, le=1_000_000)] = 1


class Permissions(_Part):
    """What the agent is granted beyond computing. There is no network in the sandbox, and no permission for it.

    Attributes:
        state: A folder `/state` of its own that stays between calls.
        records: Records in a database of its own, which its code reaches through functions of ours.
        http: Routes under the gateway.
    """

    state: bool = False
    records: RecordsGrant | None = None
    http: tuple[HttpRoute, ...] = Field(default=(), max_length=32)


class AgentLimits(_Part):
    """What one call of a tool may use."""

    wall_s: Annotated[float, Field(gt=0, le=300)] = 20.0
    cpu_s: Annotated[int, Field(ge=1, le=300)] = 10
    memory_mib: Annotated[int, Field(ge=64, le=4096)] = 512
    result_bytes: Annotated[int, Field(ge=1024, le=16 * _MIB)] = _MIB
    state_mib: Annotated[int, Field(ge=1, le=1024)] = 64


class AgentManifest(_Part):
    """An agent.

    Attributes:
        manifest: The version of this form.
        name: Its name; also the name of its folder and of the skill.
        purpose: What it is for, in a sentence or two.
        instructions: What a model is told that speaks for it; empty for an agent of tools alone.
        conversation: Whether people can talk to it.
        tools: Its tools.
        permissions: What it is granted.
        needs: What it needs of a model.
        limits: What a call may use.
        assumptions: What was taken for granted where the request left it open.
    """

    manifest: Literal[1]
    name: Annotated[str, Field(pattern=f"^{NAME_PATTERN}$", max_length=64)]
    purpose: Annotated[str, Field(min_length=1, max_length=1024)]
    instructions: Annotated[str, Field(max_length=20_000)] = ""
    conversation: bool = False
    tools: tuple[ToolDeclaration, ...] = Field(default=(), max_length=32)
    permissions: Permissions = Permissions()
    needs: AgentNeeds | None = None
    limits: AgentLimits = AgentLimits()
    assumptions: tuple[Annotated[str, Field(max_length=500)], ...] = Field(default=(), max_length=20)

    @model_validator(mode="after")
    def _whole(self) -> "AgentManifest":
        names = [tool.name for tool in self.tools]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            message = f"two tools are called {', '.join(doubled)}"
            raise ValueError(message)
        if not self.tools and not self.conversation and not self.permissions.http:
            message = "the agent has no tools, no conversation and no routes, so it can do nothing"
            raise ValueError(message)
        if self.conversation and not self.instructions:
            message = "an agent that people talk to needs instructions"
            raise ValueError(message)
        return self

    def tool(self, name: str) -> ToolDeclaration | None:
        """The tool of this name."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def require_tool(self, name: str) -> ToolDeclaration:
        """The tool of this name.

        Raises:
            UsageError: There is none; the hint has the nearest name.
        """
        found = self.tool(name)
        if found is None:
            names = [one.name for one in self.tools]
            near = nearest(name, names)
            message = f"{self.name} has no tool {name[:80]!r}"
            hint = f"did you mean {near}?" if near else f"its tools are {', '.join(names) or 'none'}"
            raise UsageError(message, hint=hint)
        return found


def manifest_schema() -> dict[str, Any]:
    """The JSON Schema of `agent.yaml`, for editors and other programs."""
    schema = AgentManifest.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def read_manifest(text: str, where: str) -> AgentManifest:
    """Read a manifest.

    Raises:
        PackageError: It is not one; the place is `where` with line and column.
    """
    try:
        tree, problems = read_yaml(text)
    except YamlSyntaxError as error:
        raise _at(text, where, error.problem.index, error.problem.message, error.problem.hint) from None
    if problems:
        raise _at(text, where, problems[0].index, problems[0].message, problems[0].hint)
    try:
        return AgentManifest.model_validate(_plain(tree))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        path = ".".join(str(step) for step in first["loc"])
        message = f"{printable(path)}: {printable(first['msg'])}" if path else printable(first["msg"])
        rest = error.error_count() - 1
        hint = f"and {rest} more" if rest else None
        raise _at(text, where, _index_of(tree, first["loc"]), message, hint) from None


def _plain(node: Node | None) -> object:
    """The values of a tree, without their places."""
    if node is None:
        return None
    if isinstance(node.content, dict):
        return {key: _plain(entry.value) for key, entry in node.content.items()}
    if isinstance(node.content, list):
        return [_plain(item) for item in node.content]
    return node.content


def _index_of(tree: Node | None, path: tuple[int | str, ...]) -> int:
    """Where in the text the value at `path` stands, or the innermost one on the way to it."""
    node, index = tree, 0
    for step in path:
        if node is None:
            break
        if isinstance(node.content, dict) and str(step) in node.content:
            entry = node.content[str(step)]
            node, index = entry.value, entry.index
        elif isinstance(node.content, list) and isinstance(step, int) and step < len(node.content):
            node = node.content[step]
            index = node.index
        else:
            break
    return index


def _at(text: str, where: str, index: int, message: str, hint: str | None) -> PackageError:
    before = text[:index]
    line, column = before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1
    return PackageError(re.sub(r"\s+", " ", message)[:500], where=f"{where}:{line}:{column}", hint=hint)
