"""What the agents of a turn have done, so that a turn that was cut off goes on where it stood."""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Transaction

from repertory.storage.database import Database
from repertory.storage.json_text import storable_json
from repertory.storage.records import Step
from repertory.storage.tables import StepRow

__all__ = ("Steps", "add_steps", "drop_steps", "steps_of")


def add_steps(transaction: Transaction, turn: str, steps: Sequence[Step]) -> None:
    """Keep steps in the caller's transaction."""
    transaction.add_all(
        StepRow(turn=turn, agent=step.agent, number=step.number, body=storable_json(step.body)) for step in steps
    )
    transaction.flush()


def drop_steps(transaction: Transaction, turns: Sequence[str]) -> None:
    """Forget the steps of turns, in the caller's transaction."""
    if turns:
        transaction.execute(delete(StepRow).where(StepRow.turn.in_(turns)))


def steps_of(transaction: Transaction, turn: str) -> tuple[Step, ...]:
    """The steps of a turn, by agent and number."""
    rows = transaction.scalars(select(StepRow).where(StepRow.turn == turn).order_by(StepRow.agent, StepRow.number))
    return tuple(Step(agent=row.agent, number=row.number, body=row.body) for row in rows)


class Steps:
    """The steps of all turns. A turn's id is unique everywhere, so it says which rows are meant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, turn: str, steps: Sequence[Step]) -> None:
        """Keep steps that are done.

        Raises:
            StorageError: The turn is not there, or a step is kept already.
        """
        if steps:
            with self._database.write() as transaction:
                add_steps(transaction, turn, steps)

    def of_turn(self, turn: str) -> tuple[Step, ...]:
        """The steps of a turn, by agent and number."""
        with self._database.read() as transaction:
            return steps_of(transaction, turn)
