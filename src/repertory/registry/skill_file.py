"""`SKILL.md`: what makes the folder a valid Agent Skill, so that other programs can read it."""

import re

from repertory.errors import PackageError
from repertory.registry.manifest import NAME_PATTERN, AgentManifest
from repertory.runtime.team_yaml import Node, read_yaml
from repertory.runtime.yaml_events import YamlSyntaxError

__all__ = ("SKILL", "check_skill", "render_skill")

SKILL = "SKILL.md"
_KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
_LONGEST = {"name": 64, "description": 1024, "compatibility": 500}
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


def render_skill(manifest: AgentManifest) -> str:
    """The skill file of an agent, from its manifest."""
    lines = [
        "---",
        f"name: {manifest.name}",
        f"description: {_quoted(manifest.purpose)}",
        f"compatibility: {_quoted('Tools are Python functions; run them in a sandbox, for example with Repertory.')}",
        "---",
        "",
        f"# {manifest.name}",
        "",
        manifest.purpose,
        "",
    ]
    if manifest.instructions:
        lines += ["## Instructions", "", manifest.instructions.strip(), ""]
    if manifest.tools:
        lines += ["## Tools", "", "Functions in `tools.py`; their arguments and results are in `agent.yaml`.", ""]
        lines += [f"- `{tool.name}`: {' '.join(tool.description.split())}" for tool in manifest.tools]
        lines.append("")
    return "\n".join(lines)


def check_skill(text: str, manifest: AgentManifest) -> None:
    """See that the text is a skill file of this agent.

    Raises:
        PackageError: It is not; the hint says what to write.
    """
    front = _FRONT.match(text)
    if front is None:
        raise _wrong("it does not begin with a block between `---` lines")
    try:
        tree, problems = read_yaml(front.group(1))
    except YamlSyntaxError as error:
        raise _wrong(error.problem.message) from None
    if problems:
        raise _wrong(problems[0].message)
    fields = _texts(tree)
    unknown = sorted(set(fields) - _KEYS)
    if unknown:
        message = f"a skill has no field {unknown[0]!r}"
        raise _wrong(message)
    for name, longest in _LONGEST.items():
        value = fields.get(name)
        if value is not None and not (isinstance(value, str) and 0 < len(value) <= longest):
            message = f"`{name}` must be text of 1 to {longest} characters"
            raise _wrong(message)
    if "description" not in fields:
        raise _wrong("it has no `description`")
    if fields.get("name") != manifest.name or re.fullmatch(NAME_PATTERN, manifest.name) is None:
        message = f"its `name` must be that of the agent, {manifest.name}"
        raise _wrong(message)


def _texts(tree: Node | None) -> dict[str, object]:
    if tree is None or not isinstance(tree.content, dict):
        raise _wrong("its first block is not a list of fields")
    return {name: entry.value.content for name, entry in tree.content.items()}


def _wrong(message: str) -> PackageError:
    return PackageError(message, where=SKILL, hint="the fields are name, description and, optionally, "
                        "license, compatibility, metadata, allowed-tools")  # fmt: skip


def _quoted(text: str) -> str:
    """A YAML text in double quotes."""
    plain = " ".join(text.split())
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
