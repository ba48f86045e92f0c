"""Watching deployed agents: how calls of each version ended, the canary's share, and requests for repair."""

import sqlalchemy as sa
from alembic import op

from repertory.storage.columns import UtcTime

revision = "0007"
down_revision = "0006"

_NAME = sa.String(64)
_DOUBLE: "sa.Double[float]" = sa.Double()


def upgrade() -> None:
    op.add_column("agent_versions", sa.Column("share", sa.Integer(), nullable=True))
    op.create_table(
        "agent_calls",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("agent", _NAME, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("what", sa.String(100), nullable=False),
        sa.Column("outcome", sa.String(10), nullable=False),
        sa.Column("kind", sa.String(100), nullable=True),
        sa.Column("seconds", _DOUBLE, nullable=False),
        sa.Column("agrees", sa.Boolean(), nullable=True),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_agent_calls"),
        sa.ForeignKeyConstraint(["agent"], ["agents.name"], name="fk_agent_calls_agent"),
    )
    op.create_index("ix_agent_calls_agent_version_id", "agent_calls", ["agent", "version", "id"])
    op.create_table(
        "agent_repairs",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("agent", _NAME, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_agent_repairs"),
        sa.ForeignKeyConstraint(["agent"], ["agents.name"], name="fk_agent_repairs_agent"),
    )
    op.create_index("ix_agent_repairs_agent_version", "agent_repairs", ["agent", "version"])
