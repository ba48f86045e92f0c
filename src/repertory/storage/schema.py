"""Brings a database to the schema of this version of Repertory, once, whoever opens it first.

Alembic is only loaded when there is something to do: opening a database that is up to date reads one row.
"""

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from sqlalchemy import Connection, inspect, text

from repertory.errors import StorageError
from repertory.storage.database import Database
from repertory.storage.failures import in_words

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = ("HEAD", "VERSION_TABLE", "ensure_schema", "migration_config")

HEAD = "0007"
"""The newest migration; a test holds it against `migrations/versions`."""

VERSION_TABLE = "repertory_schema"
"""The table with the version of the schema; its name marks a database as ours."""

_LOCK_TIMEOUT_S = 120.0
_POSTGRES_LOCK = 0x7265706572746F72  # "repertor"
# Alembic keeps the migration that runs in module variables, so one process runs one at a time.
_in_process = threading.Lock()


def migration_config() -> "Config":
    """Alembic's configuration for the migrations in this package."""
    from alembic.config import Config  # noqa: PLC0415 - see the module's docstring

    config = Config()
    folder = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", folder.replace("%", "%%"))
    return config


def ensure_schema(database: Database) -> None:
    """Create or upgrade the tables where needed.

    Raises:
        StorageError: The database is damaged, not ours, or newer than this program; it is left as it is.
    """
    path = database.address.path
    if path is None:
        with in_words(database.address.place):
            _upgrade_postgres(database)
    else:
        with in_words(database.address.place):
            _upgrade_sqlite(database, path)


def _version(connection: Connection, place: str) -> str | None:
    """The schema's version, None for an empty database."""
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in tables:
        if connection.dialect.name == "sqlite" and tables:
            raise StorageError(
                "this is a SQLite database of some other program",
                where=place,
                hint="name another file in REPERTORY_DATABASE",
            )
        return None
    # The table's name is ours, not the caller's.
    version = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one_or_none()  # noqa: S608
    if version is not None and version > HEAD:
        message = f"the database was made by a newer Repertory (schema {version}; this one knows {HEAD})"
        raise StorageError(message, where=place, hint="install the newer Repertory; nothing was changed")
    return version


def _migrate(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415 - see the module's docstring

    config = migration_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _upgrade_postgres(database: Database) -> None:
    place = database.address.place
    with database.engine.begin() as connection:
        if _version(connection, place) == HEAD:
            return
    with _in_process, database.engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _POSTGRES_LOCK})
        if _version(connection, place) != HEAD:
            _migrate(connection)


def _upgrade_sqlite(database: Database, path: Path) -> None:
    place = database.address.place
    # An empty file is one that another process is just making.
    if path.exists() and path.stat().st_size > 0:
        with database.engine.begin() as connection:
            if _version(connection, place) == HEAD:
                return
    else:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private_file(path)  # before the lock, which waits for a folder that refuses files
    lock = FileLock(f"{path}.lock", timeout=_LOCK_TIMEOUT_S, mode=0o600)
    try:
        with _in_process, lock:
            with database.transaction("") as connection:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            with database.transaction("BEGIN IMMEDIATE") as connection:
                if _version(connection, place) != HEAD:
                    _migrate(connection)
    except Timeout:
        message = f"another process has been upgrading the database for {_LOCK_TIMEOUT_S:.0f} s"
        raise StorageError(message, where=place, hint="wait for it, or end it") from None


def _make_private_file(path: Path) -> None:
    """Create the file readable by its owner alone; SQLite gives its log files the same mode."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return
