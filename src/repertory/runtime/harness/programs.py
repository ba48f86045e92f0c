"""Which programs that run agents are on this machine, and in which version."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repertory.errors import UsageError
from repertory.runtime.harness.acp_programs import ACP_STARTS
from repertory.runtime.harness.claude_code import CLAUDE
from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.harness.settings import HarnessSettings
from repertory.runtime.team import Agent, Team

__all__ = ("CLAUDE_MINIMUM", "FoundProgram", "find_programs", "installed_acp", "require_programs", "with_harness")

CLAUDE_MINIMUM = (2, 1)
"""The oldest Claude Code that takes all the options we give it."""

CLAUDE_PACKAGE = "@anthropic-ai/claude-code"
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_VERSION_S = 20


@dataclass(frozen=True)
class FoundProgram:
    """A program that can run agents.

    Attributes:
        name: Its name.
        path: Where it is; None when it is not here.
        version: Its version, as it says it; None when it says none.
        install: How a person installs it.
        too_old: Whether it is older than what we need.
    """

    name: str
    path: str | None
    version: str | None
    install: str
    too_old: bool = False


def find_programs(search: str | None = None) -> list[FoundProgram]:
    """Look for all known programs and ask each for its version. Blocks.

    Args:
        search: The path list to look on; None takes the environment's.
    """
    others = (_found(start.name, start.argv[0], start.package, search) for start in ACP_STARTS)
    return [_claude(search), *others]


def installed_acp(search: str | None = None) -> list[str]:
    """Names of the known ACP programs that are here."""
    return [start.name for start in ACP_STARTS if shutil.which(start.argv[0], path=search)]


def require_programs(team: Team, search: str | None = None) -> None:
    """Check that the programs that run a team's agents are here, before a turn is begun for nothing. Blocks.

    Raises:
        UsageError: One is not, or is too old, with how it is installed.
    """
    installed = installed_acp(search)
    for name, agent in team.agents.items():
        settings = agent.harness
        if settings.kind is HarnessKind.NATIVE:
            continue
        if settings.command:
            program, hint = settings.command[0], "give its absolute path, or install it"
        elif settings.kind is HarnessKind.CLAUDE_CODE:
            program, hint = CLAUDE[0], f"npm install -g {CLAUDE_PACKAGE}"
        elif settings.program is None and installed:
            continue
        else:
            wanted = [start for start in ACP_STARTS if settings.program in {None, start.name}]
            program = wanted[0].argv[0]
            hint = " or ".join(f"npm install -g {start.package}" for start in wanted)
        if shutil.which(program, path=search) is None:
            message = f"agent `{name}` is run by {settings.kind.value}, but there is no program {program!r}"
            raise UsageError(message, hint=hint)
    if any(_is_claude(agent.harness) for agent in team.agents.values()) and (found := _claude(search)).too_old:
        least = ".".join(map(str, CLAUDE_MINIMUM))
        message = f"Claude Code {found.version} is too old; {least} is needed"
        raise UsageError(message, where=found.path, hint=found.install)


def with_harness(team: Team, kind: HarnessKind) -> Team:
    """The team with all its agents run by one harness; the settings of agents that name it already stay.

    Raises:
        UsageError: The harness needs settings that a team file alone can give.
    """
    if kind is HarnessKind.COMMAND and any(not agent.harness.command for agent in team.agents.values()):
        message = "the harness `command` needs to be told which command"
        raise UsageError(message, hint="write it at the agents of a team file: `harness: {kind: command, command: []}`")
    return team.model_copy(update={"agents": {name: _run_by(agent, kind) for name, agent in team.agents.items()}})


def _is_claude(settings: HarnessSettings) -> bool:
    """Whether it is the Claude Code on the path; one that a team names by its command is the user's own affair."""
    return settings.kind is HarnessKind.CLAUDE_CODE and not settings.command


def _claude(search: str | None) -> FoundProgram:
    found = _found("claude-code", CLAUDE[0], CLAUDE_PACKAGE, search)
    numbers = tuple(int(part) for part in (found.version or "").split(".")[:2] if part)
    return replace(found, too_old=found.version is not None and numbers < CLAUDE_MINIMUM)


def _run_by(agent: Agent, kind: HarnessKind) -> Agent:
    if agent.harness.kind is kind:
        return agent
    return agent.model_copy(update={"harness": type(agent.harness)(kind=kind)})


def _found(name: str, program: str, package: str, search: str | None) -> FoundProgram:
    path = shutil.which(program, path=search)
    install = f"npm install -g {package}"
    if path is None:
        return FoundProgram(name, None, None, install)
    return FoundProgram(name, path, _version([path, "--version"]), install)


def _version(command: Sequence[str]) -> str | None:
    """What a program says of its version. It gets an empty home: asking must not touch the person's settings."""
    try:
        said = subprocess.run(
            command,
            capture_output=True,
            timeout=_VERSION_S,
            stdin=subprocess.DEVNULL,
            env={"HOME": "/nonexistent", "PATH": "/usr/local/bin:/usr/bin:/bin"},
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.search(said.stdout.decode("utf-8", "replace"))
    return found.group() if found else None
