"""Where programs run agents: what they need of us, and the harness that starts them."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repertory.engines.protocol import Engine
from repertory.runtime.harness.acp import AcpDriver
from repertory.runtime.harness.claude_code import ClaudeCodeDriver
from repertory.runtime.harness.command import CommandDriver
from repertory.runtime.harness.interface import AgentRun, Walls
from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.harness.program_engine import ProgramEngine
from repertory.runtime.harness.settings import HarnessSettings
from repertory.runtime.harness.task import Driver
from repertory.serving.gateway.harness_runs import HarnessRuns

__all__ = ("HarnessPlace", "ProgramHarness")


@dataclass(frozen=True)
class HarnessPlace:
    """What programs are given.

    Attributes:
        runs: The gateway's runs.
        socket: The socket on which the gateway takes their requests.
        walls: What keeps programs apart.
        folders: Where working folders are kept.
        scratch: A private folder for what lives as long as one call.
        installed: Names of the known ACP programs that are installed.
    """

    runs: HarnessRuns
    socket: Path
    walls: Walls
    folders: Path
    scratch: Path
    installed: Sequence[str] = ()
    locks: dict[Path, asyncio.Lock] = field(default_factory=dict[Path, asyncio.Lock])


class ProgramHarness:
    """Runs each agent by the harness that its team names for it; see `repertory.runtime.harness.interface.Harness`.

    Args:
        place: What programs are given.
        environment: Our own environment, of which settings may let single variables through.
    """

    def __init__(self, place: HarnessPlace, environment: Mapping[str, str] | None = None) -> None:
        self.place = place
        self._environment = os.environ if environment is None else environment
        self._drivers: dict[HarnessKind, Driver] = {
            HarnessKind.CLAUDE_CODE: ClaudeCodeDriver(),
            HarnessKind.ACP: AcpDriver(place.installed),
            HarnessKind.COMMAND: CommandDriver(),
        }

    def attach(self, run: AgentRun, engine: Engine) -> Engine:
        """The engine itself for a native agent, else a program that calls it."""
        settings = run.agent.harness
        if settings.kind is HarnessKind.NATIVE:
            return engine
        return ProgramEngine(run, engine, self._drivers[settings.kind], self.place, self._let_through(settings))

    def _let_through(self, settings: HarnessSettings) -> dict[str, str]:
        return {name: self._environment[name] for name in settings.env if name in self._environment}
