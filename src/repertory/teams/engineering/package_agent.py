"""The agent package that a build leaves: manifest, skill, code, tests, and the evidence of how it came about."""

import io
import json
import re
from collections.abc import Collection, Mapping
from typing import Any, cast

from ruamel.yaml import YAML

from repertory.registry.manifest import MANIFEST, AgentManifest, Permissions, ToolDeclaration
from repertory.registry.package import EVIDENCE, TOOLS, AgentPackage
from repertory.registry.skill_file import SKILL, render_skill
from repertory.teams.engineering.build import Built
from repertory.teams.engineering.calls import Case
from repertory.teams.engineering.contract import Contract

__all__ = ("agent_name", "package_agent")

_LONGEST_NAME = 48


def agent_name(contract: Contract, summary: str, taken: Collection[str] = ()) -> str:
    """A name for the agent, from its first tool or what it is for; with a number behind it when it is taken."""
    words = contract.tools[0].name if contract.tools else " ".join(summary.split()[:4])
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:_LONGEST_NAME].strip("-") or "agent"
    numbered = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
    return next(one for one in numbered if one not in taken)


def package_agent(name: str, built: Built, *, request: str, made_by: Mapping[str, Any]) -> AgentPackage:
    """Pack the best candidate of a build.

    Args:
        name: The agent's name.
        built: A build with a best candidate.
        request: What the person asked for.
        made_by: Which team, build and models made it; kept in the evidence.

    Raises:
        PackageError: The parts do not make a package.
        ValueError: The build has no candidate.
    """
    best = built.best
    if best is None:
        message = "a build without a candidate can not be packed"
        raise ValueError(message)
    manifest = _manifest(name, built)
    files = {
        MANIFEST: _yaml(manifest),
        SKILL: render_skill(manifest),
        TOOLS: best.candidate.source,
        "tests/test_tools.py": _tests(built),
        EVIDENCE: json.dumps(_evidence(built, request, made_by), ensure_ascii=False, indent=2),
    }
    return AgentPackage.of({path: text.encode("utf-8", "replace") for path, text in files.items()})


def _manifest(name: str, built: Built) -> AgentManifest:
    told = built.instructions or {"description": built.specification["summary"], "tools": []}
    descriptions = {str(tool["name"]): str(tool["description"]) for tool in told["tools"]}
    return AgentManifest(
        manifest=1,
        name=name,
        purpose=str(told["description"]).strip() or name,
        tools=tuple(
            ToolDeclaration(
                name=tool.name,
                description=descriptions.get(tool.name, "").strip()
                or tool.note
                or built.specification["summary"]
                or name,
                input_schema=tool.input_schema,
                output_schema=tool.output_schema,
            )
            for tool in built.contract.tools
        ),
        permissions=Permissions(state=bool(built.architecture["keeps_state"])),
        assumptions=tuple(built.specification["assumptions"]),
    )


def _yaml(manifest: AgentManifest) -> str:
    out = io.StringIO()
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    document = cast("dict[str, Any]", json.loads(manifest.model_dump_json(exclude_defaults=True, exclude_none=True)))
    writer.dump({"manifest": manifest.manifest, **document}, out)  # pyright: ignore[reportUnknownMemberType]
    return out.getvalue()


def _tests(built: Built) -> str:
    """The tests that were kept, as a file that pytest can run beside `tools.py`."""
    names = ", ".join(built.contract.tool_names)
    lines = [f"from tools import {names}", "", "", *_RAISES, "", "", "def test_tools():"]
    return "\n".join(lines + [f"    assert {case.text}" for case in built.selection.kept] + ["    assert True", ""])


_RAISES = (
    "def raises(kind, function, *arguments, **named):",
    "    try:",
    "        function(*arguments, **named)",
    "    except kind:",
    "        return True",
    "    return False",
)


def _evidence(built: Built, request: str, made_by: Mapping[str, Any]) -> dict[str, Any]:
    best = built.best
    passed = best.passed if best else ()
    return {
        "request": request,
        "built_by": dict(made_by),
        "contract": {"text": built.contract.text, "given": built.contract.given},
        "specification": built.specification,
        "candidates": len(built.candidates),
        "agreeing": best.group if best else 0,
        "tests": {
            "passed": [_shown(case) for case in passed],
            "failed": [_shown(case) for case in (best.failed if best else ())],
            "dropped": [_shown(case) for case in built.selection.dropped],
        },
        "decisions": list(built.decisions),
        "review": built.review,
        "audit": built.audit,
    }


def _shown(case: Case) -> dict[str, Any]:
    return {"test": case.text, "origin": case.origin, "votes": case.votes}
