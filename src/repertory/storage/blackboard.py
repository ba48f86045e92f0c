"""The blackboard of one team and user: sections, each a row of versions."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from repertory.errors import VersionConflictError
from repertory.storage.boards import find_board, lock_board, turn_number
from repertory.storage.commitments import apply_changes
from repertory.storage.database import Database
from repertory.storage.ids import check_id
from repertory.storage.json_text import dump_json, load_json
from repertory.storage.records import AgentResult, AppliedChange, CommitmentChange, SectionVersion, Step
from repertory.storage.steps import add_steps
from repertory.storage.tables import SectionRow

__all__ = ("PERSON", "Blackboard", "section_record")

PERSON = "person"
"""The writer of versions that the person wrote, where an agent's name stands otherwise."""


def section_record(row: SectionRow) -> SectionVersion:
    """The record of a row."""
    return SectionVersion(
        section=row.section,
        version=row.version,
        value=load_json(row.value),
        turn=row.turn or "",
        agent=row.agent,
        evidence=tuple(load_json(row.evidence)),
        at=row.at,
        turn_number=row.turn_number,
    )


class Blackboard:
    """Reads and writes one team's memory for one user. Versions are only ever added."""

    def __init__(self, database: Database, team: str, user: str) -> None:
        self._database = database
        self.team = team
        self.user = user

    def latest(self, section: str) -> SectionVersion | None:
        """The last committed version of a section, None when it was never written."""
        check_id("section", section)
        with self._database.read() as session:
            board = find_board(session, self.team, self.user)
            row = None if board is None else _latest_row(session, board, section)
            return row and section_record(row)

    def all_latest(self, before_turn: int | None = None) -> dict[str, SectionVersion]:
        """The last committed version of every section, by name, in one consistent view.

        Args:
            before_turn: Only what was written before the turn of this number; None takes all.
        """
        with self._database.read() as session:
            board = find_board(session, self.team, self.user)
            if board is None:
                return {}
            newest = (
                select(SectionRow.section, func.max(SectionRow.version).label("version"))
                .where(
                    SectionRow.board == board, *([] if before_turn is None else [SectionRow.turn_number < before_turn])
                )
                .group_by(SectionRow.section)
                .subquery()
            )
            rows = session.scalars(
                select(SectionRow)
                .join(newest, (SectionRow.section == newest.c.section) & (SectionRow.version == newest.c.version))
                .where(SectionRow.board == board)
            )
            found = {row.section: section_record(row) for row in rows}
        # Sorted here: databases do not agree on the order of text.
        return dict(sorted(found.items()))

    def history(self, section: str | None = None) -> list[SectionVersion]:
        """All versions, in the order of the turns that wrote them; of one section or of all."""
        if section is not None:
            check_id("section", section)
        with self._database.read() as session:
            board = find_board(session, self.team, self.user)
            if board is None:
                return []
            query = select(SectionRow).where(SectionRow.board == board)
            if section is not None:
                query = query.where(SectionRow.section == section)
            found = [section_record(row) for row in session.scalars(query)]
        return sorted(found, key=lambda record: (record.turn_number, record.at, record.section, record.version))

    def write(
        self,
        section: str,
        value: object,
        *,
        turn: str,
        agent: str,
        evidence: Sequence[str] = (),
        at: datetime,
        expect_version: int | None = None,
    ) -> SectionVersion:
        """Add a version.

        Args:
            section: The section's name.
            value: Any JSON value.
            turn: The turn that writes; it must have begun.
            agent: The agent that wrote it, or `code`.
            evidence: Ids of the messages it rests on.
            at: When.
            expect_version: The version that was read (0: there was none); None writes on top of whatever is there.

        Raises:
            VersionConflictError: The last version is not `expect_version`.
            StorageError: The value is not JSON, or the turn is not in the database.
        """
        with self._database.write() as session:
            board = lock_board(session, self.team, self.user)
            return self._add(
                session, board.id, section, value, turn=turn, agent=agent, evidence=evidence, at=at,
                expect_version=expect_version,
            )  # fmt: skip

    def commit_agent_result(
        self,
        section: str,
        value: object,
        *,
        turn: str,
        agent: str,
        evidence: Sequence[str] = (),
        commitments: Sequence[CommitmentChange] = (),
        message: str,
        at: datetime,
        expect_version: int | None = None,
        once: bool = True,
        calls: Sequence[Step] = (),
        outcome: Callable[[Sequence[AppliedChange]], Step] | None = None,
    ) -> AgentResult:
        """Write what an agent's answer left behind (section, evidence, commitments) in one transaction.

        Args:
            section: The section's name.
            value: Its value.
            turn: The turn.
            agent: The agent.
            evidence: Ids of the messages the value rests on.
            commitments: Commitments that the answer makes or settles.
            message: The message in which they were made or settled, where a change names none.
            at: When.
            expect_version: As in `write`.
            once: A second result of this agent for this section in this turn is not written; the first is returned.
                So a step that is carried out again after a crash leaves nothing twice.
            calls: The agent's calls that are not kept yet.
            outcome: Makes the step that says how the agent ended; gets what became of the commitments.
        """
        with self._database.write() as session:
            board = lock_board(session, self.team, self.user)
            if once:
                before = session.scalar(
                    select(SectionRow)
                    .where(SectionRow.board == board.id, SectionRow.section == section)
                    .where(SectionRow.turn == turn, SectionRow.agent == agent)
                    .order_by(SectionRow.version.desc())
                    .limit(1)
                )
                if before is not None:
                    return AgentResult(section=section_record(before), repeated=True)
            written = self._add(
                session, board.id, section, value, turn=turn, agent=agent, evidence=evidence, at=at,
                expect_version=expect_version,
            )  # fmt: skip
            applied = apply_changes(session, board, commitments, message, at)
            add_steps(session, turn, [*calls, *([outcome(applied)] if outcome else [])])
        return AgentResult(section=written, commitments=tuple(applied))

    def edit(self, values: Mapping[str, object], *, at: datetime, evidence: Sequence[str] = ()) -> list[SectionVersion]:
        """Write versions in the person's own name, outside of any turn; all of them or none.

        Args:
            values: Section -> its new value.
            at: When.
            evidence: Ids of messages the values rest on.

        Raises:
            StorageError: A value is not JSON.
        """
        with self._database.write() as session:
            board = lock_board(session, self.team, self.user, create=True)
            rows: list[SectionRow] = []
            for section, value in values.items():
                place = f"section {check_id('section', section)}"
                last = _latest_row(session, board.id, section)
                row = SectionRow(
                    board=board.id,
                    section=section,
                    version=(last.version if last else 0) + 1,
                    value=dump_json(value, place=place),
                    turn=None,
                    # Shown to every later turn, and not to one that runs now or is taken up again.
                    turn_number=board.turns,
                    agent=PERSON,
                    evidence=dump_json(list(evidence), place=place),
                    at=at,
                )
                session.add(row)
                rows.append(row)
            session.flush()
            return [section_record(row) for row in rows]

    def _add(
        self,
        session: Session,
        board: int,
        section: str,
        value: object,
        *,
        turn: str,
        agent: str,
        evidence: Sequence[str],
        at: datetime,
        expect_version: int | None,
    ) -> SectionVersion:
        place = f"section {check_id('section', section)}"
        last = _latest_row(session, board, section)
        version = last.version if last else 0
        if expect_version is not None and expect_version != version:
            by = f", written by {last.agent} in turn {last.turn}" if last else ""
            message = f"version {expect_version} was read, but version {version} is there now{by}"
            raise VersionConflictError(message, where=place, hint="read the section again and write on top of it")
        row = SectionRow(
            board=board,
            section=section,
            version=version + 1,
            value=dump_json(value, place=place),
            turn=turn,
            turn_number=turn_number(session, board, turn),
            agent=agent,
            evidence=dump_json(list(evidence), place=place),
            at=at,
        )
        session.add(row)
        session.flush()
        return section_record(row)


def _latest_row(session: Session, board: int, section: str) -> SectionRow | None:
    query = select(SectionRow).where(SectionRow.board == board, SectionRow.section == section)
    return session.scalar(query.order_by(SectionRow.version.desc()).limit(1))
