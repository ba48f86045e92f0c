"""What a turn writes: its sections as they are finished, and at its end what code derives and the team's words."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from repertory.errors import OutputError, StorageError
from repertory.runtime.cast import Cast
from repertory.runtime.durable.journal import TurnJournal
from repertory.runtime.durable.points import reached
from repertory.runtime.events import ReplyReady, SectionWritten
from repertory.runtime.harness.interface import Harness
from repertory.runtime.harness.native import NativeHarness
from repertory.runtime.recorder import Recorder
from repertory.runtime.rules import TeamRules, Written
from repertory.runtime.schedule import Schedule
from repertory.runtime.section_types import require_typed
from repertory.runtime.team import Team
from repertory.runtime.turn_state import TurnState
from repertory.storage.json_text import dump_json
from repertory.storage.records import AgentResult, SectionVersion
from repertory.storage.store import Store

__all__ = ("TurnBoard", "TurnParts", "join_words")


@dataclass(frozen=True)
class TurnParts:
    """What stays the same over the turns of one runner.

    Attributes:
        team: The team.
        rules: Its code.
        cast: The instance of every agent.
        store: Where everything is kept.
        schedule: Who waits for whom.
        order: The agents, the most urgent first.
        harness: Runs the agents.
        shared_tokens: Per instance, user and session, how many tokens of shared prefix earlier turns have computed.
    """

    team: Team
    rules: TeamRules
    cast: Cast
    store: Store
    schedule: Schedule
    order: Sequence[str]
    harness: Harness = field(default_factory=NativeHarness)
    shared_tokens: dict[tuple[str, str, str], int] = field(default_factory=dict[tuple[str, str, str], int])


class TurnBoard:
    """Where the agents of one turn write.

    Args:
        parts: The runner's parts.
        state: The turn.
        journal: What its agents have done.
        recorder: Is told of every section.

    Attributes:
        notice: Fixed words of the team's code that come before the first reply.
    """

    def __init__(self, parts: TurnParts, state: TurnState, journal: TurnJournal, recorder: Recorder) -> None:
        self.parts = parts
        self.team = parts.team
        self.rules = parts.rules
        self.state = state
        self.journal = journal
        self.recorder = recorder
        self.notice = ""

    async def commit(
        self, agent: str, written: Written, status: Literal["done", "fallback"], reason: str | None
    ) -> None:
        """Write an agent's section, with its calls and how it ended, and let its readers go on."""
        reached(f"{agent}:section:begins")
        write = asyncio.ensure_future(asyncio.to_thread(self._commit_now, agent, written, status, reason))
        try:
            await asyncio.shield(write)
        finally:
            # Whoever is stopped in the middle of a write waits for its end: what is kept must also be known.
            await asyncio.wait({write})
            if not write.cancelled() and write.exception() is None:
                reached(f"{agent}:section:written")
                self.state.wrote(write.result().section)
                self._tell_written(agent, write.result().section)

    def stands(self, agent: str, version: SectionVersion) -> None:
        """Let the readers of a section go on that was written before the turn was taken up again."""
        changes = self.journal.outcome(agent)
        if changes is not None and (changes.added or changes.settled):
            self.state.commitments = self.parts.store.commitments.all(self.team.name, self.state.session.user)
        self.state.wrote(version)
        if not self.recorder.has(SectionWritten, section=version.section, version=version.version):
            self._tell_written(agent, version)

    def _tell_written(self, agent: str, version: SectionVersion) -> None:
        self.recorder.emit(SectionWritten, section=version.section, version=version.version, agent=agent)
        if version.section == self.team.replies.first:
            self.recorder.emit(ReplyReady, which="first", text=join_words(self.notice, str(version.value)))
        elif version.section == self.team.replies.full and version.value:
            self.recorder.emit(ReplyReady, which="full", text=str(version.value))

    def _commit_now(
        self, agent: str, written: Written, status: Literal["done", "fallback"], reason: str | None
    ) -> AgentResult:
        state, store = self.state, self.parts.store
        board = store.blackboard(self.team.name, state.session.user)
        section = self.team.agents[agent].writes
        require_typed(self.team, section, written.value)
        try:
            dump_json(written.value, place=f"section {section}")
        except StorageError as error:  # the agent's failure, not the database's
            raise OutputError(error.message, where=error.where) from error
        merge = state.merge if section == self.team.replies.full else None
        result = board.commit_agent_result(
            section,
            written.value,
            turn=state.turn,
            agent=agent,
            evidence=written.evidence,
            commitments=written.commitments,
            message=state.message.id,
            at=state.now,
            calls=self.journal.take_waiting(agent),
            outcome=lambda applied: self.journal.outcome_step(agent, status, reason, merge, applied),
        )
        if written.commitments:
            state.commitments = store.commitments.all(self.team.name, state.session.user)
        return result

    def words(self, section: str | None) -> str:
        """The words of a section for the person, if this turn wrote them."""
        view = self.state.sections.get(section) if section else None
        return str(view.value) if view is not None and view.status == "written" else ""

    def close(self, words: str) -> None:
        """Write what code derives from the turn, and the team's words as one message."""
        state, store = self.state, self.parts.store
        board = store.blackboard(self.team.name, state.session.user)
        derived: dict[str, Any] = self.rules.derived_sections(state.view())
        for name, value in derived.items():
            latest = state.sections.get(name)
            if latest is None or latest.value != value:
                require_typed(self.team, name, value)
                state.wrote(board.write(name, value, turn=state.turn, agent="code", at=state.now))
                reached(f"code:section:{name}")
        if words:
            store.messages.say(state.session, words, state.turn, state.now)


def join_words(first: str, second: str) -> str:
    """Two texts as one, with a blank line between them."""
    return "\n\n".join(part for part in (first.strip(), second.strip()) if part)
