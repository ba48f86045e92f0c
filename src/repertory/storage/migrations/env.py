"""How Alembic runs our migrations: on a connection and in a transaction that the caller has opened."""

from alembic import context
from sqlalchemy import Connection

from repertory.storage.schema import VERSION_TABLE
from repertory.storage.tables import Base

connection: Connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    compare_type=True,
    render_as_batch=connection.dialect.name == "sqlite",
)
context.run_migrations()
