"""The steps of one turn: those that were done before it was taken up again, and those that are being added."""

import asyncio
import hashlib
from collections.abc import Sequence
from importlib import metadata
from typing import Literal

from repertory.runtime.durable.points import reached
from repertory.runtime.durable.records import CallRecord, OutcomeRecord, read_call, read_outcome
from repertory.runtime.rules import Merge
from repertory.runtime.team import Team
from repertory.storage.records import AppliedChange, SectionVersion, Step
from repertory.storage.store import Store

__all__ = ("TurnJournal", "team_fingerprint")


def team_fingerprint(team: Team) -> str:
    """What tells two versions of a team, or of Repertory, apart."""
    text = f"{metadata.version('repertory')} {team.model_dump_json()}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class TurnJournal:
    """What the agents of one turn have done.

    Args:
        store: Where steps are kept.
        turn: The turn.
        team: The fingerprint of the team that carries it now.
        steps: What was done before the turn was taken up again.
        written: The sections it had written, by agent.

    Attributes:
        written: The same, for the agents to find.
        lost: Agents whose engine went away in this run of the turn.

    Raises:
        StorageError: A step is damaged.
    """

    def __init__(
        self,
        store: Store,
        turn: str,
        team: str,
        steps: Sequence[Step] = (),
        written: Sequence[SectionVersion] = (),
    ) -> None:
        self.turn = turn
        self.team = team
        self.written = {version.agent: version for version in written if version.agent != "code"}
        self.lost: set[str] = set()
        self._store = store
        self._outcomes = {step.agent: read_outcome(step) for step in steps if step.number == 0}
        calls = [(step.agent, step.number, read_call(step)) for step in steps if step.number > 0]
        self._calls = {(agent, number): call for agent, number, call in calls if call.team == team}
        self._kept = {(agent, number) for agent, number, _ in calls}
        self._waiting: dict[str, list[Step]] = {}

    def call(self, agent: str, number: int) -> CallRecord | None:
        """An agent's finished call of this number; None when it has yet to be made."""
        return self._calls.get((agent, number))

    def calls_of(self, agent: str) -> list[CallRecord]:
        """All finished calls of an agent, in order."""
        return [call for (name, _), call in sorted(self._calls.items()) if name == agent]

    def outcome(self, agent: str) -> OutcomeRecord | None:
        """How an agent ended whose section is written."""
        return self._outcomes.get(agent)

    def commitments_changed(self) -> tuple[set[str], set[str]]:
        """The commitments that this turn had added, and those that it had settled."""
        outcomes = self._outcomes.values()
        return {name for one in outcomes for name in one.added}, {name for one in outcomes for name in one.settled}

    def finished(self, agent: str, number: int, call: CallRecord) -> None:
        """An agent's call is finished; it is kept with the agent's next step."""
        self._calls[agent, number] = call
        if (agent, number) not in self._kept:
            self._kept.add((agent, number))
            self._waiting.setdefault(agent, []).append(Step(agent, number, call.model_dump_json()))
        reached(f"{agent}:call:{number}:finished")

    def take_waiting(self, agent: str) -> list[Step]:
        """The calls of an agent that are not kept yet, for the transaction that keeps its section."""
        return self._waiting.pop(agent, [])

    async def keep(self, agent: str) -> None:
        """Keep the calls of an agent that has no section to keep them with."""
        if steps := self.take_waiting(agent):
            await asyncio.to_thread(self._store.steps.add, self.turn, steps)
            reached(f"{agent}:call:{steps[-1].number}:kept")

    def outcome_step(
        self,
        agent: str,
        status: Literal["done", "fallback"],
        reason: str | None,
        merge: Merge | None,
        applied: Sequence[AppliedChange],
    ) -> Step:
        """The step that says how an agent ended, for the transaction that keeps its section."""
        outcome = OutcomeRecord(
            status=status,
            reason=reason,
            added=tuple(one.commitment.id for one in applied if one.status == "added" and one.commitment),
            settled=tuple(one.commitment.id for one in applied if one.status == "settled" and one.commitment),
            merge=merge,
        )
        self._outcomes[agent] = outcome
        return Step(agent, 0, outcome.model_dump_json())
