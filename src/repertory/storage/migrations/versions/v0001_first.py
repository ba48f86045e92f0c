"""The first tables: blackboards, sessions, turns with events, messages, section versions, commitments."""

import sqlalchemy as sa
from alembic import op

from repertory.storage.columns import ExactText, UtcTime

revision = "0001"
down_revision = None

_ID = sa.String(200)
_TURN = sa.String(40)
_DOUBLE: "sa.Double[float]" = sa.Double()


def upgrade() -> None:
    op.create_table(
        "blackboards",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("sessions", sa.Integer(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("commitments", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_blackboards"),
        sa.UniqueConstraint("team", "user_id", name="uq_blackboards_team_user_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_blackboards_user_id", "blackboards", ["user_id"])
    op.create_table(
        "sessions",
        sa.Column("board", sa.Integer(), nullable=False),
        sa.Column("id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("started_at", UtcTime(), nullable=False),
        sa.Column("memory", ExactText(), nullable=False),
        sa.PrimaryKeyConstraint("board", "id", name="pk_sessions"),
        sa.ForeignKeyConstraint(["board"], ["blackboards.id"], name="fk_sessions_board"),
        sa.UniqueConstraint("board", "number", name="uq_sessions_board_number"),
    )
    op.create_table(
        "turns",
        sa.Column("id", _TURN, nullable=False),
        sa.Column("board", sa.Integer(), nullable=False),
        sa.Column("session", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("safety", sa.String(40), nullable=False),
        sa.Column("started_at", UtcTime(), nullable=False),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("seen_at", UtcTime(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_turns"),
        sa.ForeignKeyConstraint(["board", "session"], ["sessions.board", "sessions.id"], name="fk_turns_board_session"),
        sa.UniqueConstraint("board", "id", name="uq_turns_board_id"),
        sa.UniqueConstraint("board", "number", name="uq_turns_board_number"),
    )
    op.create_index("ix_turns_status", "turns", ["status"])
    op.create_table(
        "events",
        sa.Column("turn", _TURN, nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(40), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("turn", "seq", name="pk_events"),
        sa.ForeignKeyConstraint(["turn"], ["turns.id"], name="fk_events_turn"),
    )
    op.create_table(
        "messages",
        sa.Column("board", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("session", _ID, nullable=False),
        sa.Column("turn", _TURN, nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("text", ExactText(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("board", "number", name="pk_messages"),
        sa.ForeignKeyConstraint(
            ["board", "session"], ["sessions.board", "sessions.id"], name="fk_messages_board_session"
        ),
        sa.ForeignKeyConstraint(["board", "turn"], ["turns.board", "turns.id"], name="fk_messages_board_turn"),
    )
    op.create_index("ix_messages_board_session_number", "messages", ["board", "session", "number"])
    op.create_table(
        "section_versions",
        sa.Column("board", sa.Integer(), nullable=False),
        sa.Column("section", _ID, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("turn", _TURN, nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=False),
        sa.Column("agent", _ID, nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("board", "section", "version", name="pk_section_versions"),
        sa.ForeignKeyConstraint(["board", "turn"], ["turns.board", "turns.id"], name="fk_section_versions_board_turn"),
    )
    op.create_table(
        "commitments",
        sa.Column("board", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("what", ExactText(), nullable=False),
        sa.Column("when_said", ExactText(), nullable=False),
        sa.Column("due", UtcTime(), nullable=True),
        sa.Column("p", _DOUBLE, nullable=True),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("kind", ExactText(), nullable=False),
        sa.Column("made_in", ExactText(), nullable=False),
        sa.Column("settled_in", ExactText(), nullable=True),
        sa.Column("made_at", UtcTime(), nullable=False),
        sa.Column("settled_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("board", "number", name="pk_commitments"),
        sa.ForeignKeyConstraint(["board"], ["blackboards.id"], name="fk_commitments_board"),
    )
