"""What has happened so far in a running turn: sections, failures, and who may go on."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from repertory.runtime.rules import Merge, Safety, SectionView, TurnView
from repertory.runtime.team import OnMissing, ReadMode, Team
from repertory.storage.records import Commitment, Message, SectionVersion, Session, SessionSummary

__all__ = ("ReadsResolved", "SectionSkippedError", "TurnState")

MISSING = SectionView(value=None, version=0, turn=None, status="missing")


class SectionSkippedError(Exception):
    """A fresh read did not come in time and the agent is not to run without it."""

    def __init__(self, reason: str, *, failed: bool) -> None:
        super().__init__(reason)
        self.failed = failed


ReadsResolved = Mapping[str, SectionView]


@dataclass
class TurnState:
    """One turn in memory. Only the turn's own tasks touch it."""

    team: Team
    turn: str
    session: Session
    now: datetime
    message: Message
    history: Sequence[Message]
    past_messages: Sequence[Message]
    commitments: list[Commitment]
    past_safety: Sequence[tuple[datetime, str]]
    sections: dict[str, SectionView]
    remembered: Sequence[SessionSummary] = ()
    safety: Safety = field(default_factory=Safety)
    merge: Merge | None = None
    failures: dict[str, str] = field(default_factory=dict[str, str])
    _settled: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    def __post_init__(self) -> None:
        self._settled = {agent.writes: asyncio.Event() for agent in self.team.agents.values()}

    def view(self) -> TurnView:
        """The turn as the team's code may look at it now."""
        return TurnView(
            team=self.team,
            turn=self.turn,
            session=self.session.id,
            user=self.session.user,
            now=self.now,
            message=self.message,
            history=self.history,
            past_messages=self.past_messages,
            sections=dict(self.sections),
            commitments=tuple(self.commitments),
            memory=self.session.memory,
            session_number=self.session.number,
            first_turn_of_session=not self.history,
            merge=self.merge,
            safety=self.safety,
            past_safety=self.past_safety,
            failures=dict(self.failures),
            remembered=self.remembered,
        )

    def wrote(self, version: SectionVersion) -> None:
        """A section of this turn is committed; readers go on."""
        self.sections[version.section] = SectionView(
            value=version.value, version=version.version, turn=version.turn, status="written"
        )
        if version.section in self._settled:
            self._settled[version.section].set()

    def gave_nothing(self, agent: str, reason: str) -> None:
        """An agent is out; readers of its section go on with what there is."""
        self.failures[agent] = reason
        section = self.team.agents[agent].writes
        if not self._settled[section].is_set():
            self.sections[section] = replace(self.sections.get(section, MISSING), reason=reason)
            self._settled[section].set()

    def waits_for(self, agent: str) -> tuple[str, ...]:
        """The sections an agent still has to wait for."""
        reads = self.team.agents[agent].reads
        return tuple(
            name
            for name, read in reads.items()
            if read.mode is ReadMode.FRESH and name in self._settled and not self._settled[name].is_set()
        )

    async def resolve_reads(self, agent: str, elapsed_s: float) -> ReadsResolved:
        """Wait for an agent's fresh reads, each as long as it allows, and return what it reads.

        Args:
            agent: The agent's name.
            elapsed_s: Seconds since the turn began.

        Raises:
            SectionSkippedError: A fresh section is missing and the read says skip or fail.
        """
        began = asyncio.get_running_loop().time() - elapsed_s
        for name, read in self.team.agents[agent].reads.items():
            if read.mode is not ReadMode.FRESH or name not in self._settled:
                continue
            settled = self._settled[name]
            try:
                async with asyncio.timeout_at(began + read.within_s if read.within_s is not None else None):
                    await settled.wait()
            except TimeoutError:
                view = self.sections.get(name, MISSING)
                self.sections[name] = replace(view, reason=f"not there within {read.within_s:g} s")
            view = self.sections.get(name, MISSING)
            if view.status != "written" and read.on_missing is not OnMissing.LATEST:
                why = f"section {name!r} is missing: {view.reason or 'not written'}"
                raise SectionSkippedError(why, failed=read.on_missing is OnMissing.FAIL)
        return {name: self.sections.get(name, MISSING) for name in self.team.agents[agent].reads}
