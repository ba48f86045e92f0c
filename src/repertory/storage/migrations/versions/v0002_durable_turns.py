"""Steps of turns that can be taken up again, and summaries of sessions."""

import sqlalchemy as sa
from alembic import op

from repertory.storage.columns import ExactText, UtcTime

revision = "0002"
down_revision = "0001"

_ID = sa.String(200)
_TURN = sa.String(40)


def upgrade() -> None:
    op.add_column("turns", sa.Column("resumes", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("turns", sa.Column("unfinished", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "turn_steps",
        sa.Column("turn", _TURN, nullable=False),
        sa.Column("agent", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("turn", "agent", "number", name="pk_turn_steps"),
        sa.ForeignKeyConstraint(["turn"], ["turns.id"], name="fk_turn_steps_turn"),
    )
    op.create_table(
        "session_summaries",
        sa.Column("board", sa.Integer(), nullable=False),
        sa.Column("session", _ID, nullable=False),
        sa.Column("text", ExactText(), nullable=False),
        sa.Column("last_message", sa.Integer(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("board", "session", name="pk_session_summaries"),
        sa.ForeignKeyConstraint(
            ["board", "session"], ["sessions.board", "sessions.id"], name="fk_session_summaries_board_session"
        ),
    )
