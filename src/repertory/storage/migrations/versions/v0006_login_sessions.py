"""Sessions of people who signed in to the dashboard."""

import sqlalchemy as sa
from alembic import op

from repertory.storage.columns import UtcTime

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "login_sessions",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("key", sa.String(20), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_login_sessions"),
        sa.ForeignKeyConstraint(["key"], ["api_keys.id"], name="fk_login_sessions_key"),
    )
    op.create_index("ix_login_sessions_expires_at", "login_sessions", ["expires_at"])
