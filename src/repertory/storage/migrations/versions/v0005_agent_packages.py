"""Agent packages: agents, their versions, the files of these by content, and what happened to them."""

import sqlalchemy as sa
from alembic import op

from repertory.storage.columns import UtcTime

revision = "0005"
down_revision = "0004"

_NAME = sa.String(64)
_DIGEST = sa.String(64)


def upgrade() -> None:
    op.create_table(
        "agents",
        sa.Column("name", _NAME, nullable=False),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_agents"),
    )
    op.create_table(
        "agent_files",
        sa.Column("digest", _DIGEST, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_agent_files"),
    )
    op.create_table(
        "agent_versions",
        sa.Column("agent", _NAME, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("digest", _DIGEST, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("public_key", sa.String(64), nullable=False),
        sa.Column("signature", sa.String(128), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("was_live", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("agent", "version", name="pk_agent_versions"),
        sa.ForeignKeyConstraint(["agent"], ["agents.name"], name="fk_agent_versions_agent"),
        sa.UniqueConstraint("agent", "digest", name="uq_agent_versions_agent_digest"),
    )
    op.create_table(
        "agent_version_files",
        sa.Column("agent", _NAME, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(200), nullable=False),
        sa.Column("digest", _DIGEST, nullable=False),
        sa.PrimaryKeyConstraint("agent", "version", "path", name="pk_agent_version_files"),
        sa.ForeignKeyConstraint(
            ["agent", "version"],
            ["agent_versions.agent", "agent_versions.version"],
            name="fk_agent_version_files_agent_version",
        ),
        sa.ForeignKeyConstraint(["digest"], ["agent_files.digest"], name="fk_agent_version_files_digest"),
    )
    op.create_index("ix_agent_version_files_digest", "agent_version_files", ["digest"])
    op.create_table(
        "agent_events",
        sa.Column("agent", _NAME, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("what", sa.String(40), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("agent", "number", name="pk_agent_events"),
        sa.ForeignKeyConstraint(["agent"], ["agents.name"], name="fk_agent_events_agent"),
    )
