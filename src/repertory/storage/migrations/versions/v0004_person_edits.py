"""Section versions that a person wrote outside of any turn."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    with op.batch_alter_table("section_versions") as table:
        table.alter_column("turn", existing_type=sa.String(40), nullable=True)
