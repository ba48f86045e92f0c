"""One database and its transactions."""

import threading
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from sqlite3 import Connection as SqliteConnection
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.orm import Session

from repertory.errors import StorageError
from repertory.storage.address import Address
from repertory.storage.failures import in_words

__all__ = ("BUSY_TIMEOUT_S", "Database")

BUSY_TIMEOUT_S = 30.0
"""How long a write waits for another process to let go of a SQLite file, in seconds."""

_BEGIN = "repertory_begin"


def _prepare_sqlite(connection: SqliteConnection, _record: object) -> None:
    # The driver must not begin transactions by itself: which kind it is, is decided in `_begin_sqlite`.
    connection.isolation_level = None
    # FULL: a committed turn survives a power cut. secure_delete: erased rows are overwritten with zeros.
    for pragma in ("foreign_keys = ON", "synchronous = FULL", "secure_delete = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    kind = connection.get_execution_options().get(_BEGIN, "BEGIN")
    if kind:
        connection.exec_driver_sql(kind)


class Database:
    """Read and write transactions on one SQLite file or PostgreSQL database; safe to share between threads."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.sqlite = address.path is not None
        # A server may have been restarted since a connection was last used.
        options: dict[str, Any] = {"pool_pre_ping": True}
        if self.sqlite:
            options = {"connect_args": {"timeout": BUSY_TIMEOUT_S}}
        # Statements carry what people said; hide_parameters keeps it out of error texts.
        with in_words(address.place):
            self.engine: Engine = create_engine(
                address.url, hide_parameters=True, pool_size=8, max_overflow=24, pool_timeout=BUSY_TIMEOUT_S, **options
            )
        if self.sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
            # IMMEDIATE takes the write lock first: a transaction that has read can not be refused when it writes.
            self._writer = self.engine.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})
            self._reader = self.engine
        else:
            self._writer = self.engine.execution_options(isolation_level="READ COMMITTED")
            self._reader = self.engine.execution_options(isolation_level="REPEATABLE READ")
        # Threads hand the SQLite write lock on here; SQLite itself would make them sleep and poll.
        self._write_lock = threading.Lock() if self.sqlite else nullcontext()

    @contextmanager
    def read(self) -> Generator[Session]:
        """One consistent view of the database."""
        with in_words(self.address.place), Session(self._reader) as session, session.begin():
            yield session

    @contextmanager
    def write(self) -> Generator[Session]:
        """One transaction: all of it is kept, or, when anything raises, nothing."""
        with in_words(self.address.place), self._write_lock, Session(self._writer) as session, session.begin():
            yield session

    @contextmanager
    def transaction(self, begin: str) -> Generator[Connection]:
        """A bare SQLite connection on which `begin` opens the transaction (nothing, when it is empty)."""
        with self.engine.execution_options(**{_BEGIN: begin}).connect() as connection, connection.begin():
            yield connection

    def scrub(self) -> None:
        """Take what was deleted out of a SQLite file's bytes too; PostgreSQL does it with its own vacuum.

        Raises:
            StorageError: Another process is reading an old state; it is kept in the write-ahead log until then.
        """
        if not self.sqlite:
            return
        with in_words(self.address.place), self._write_lock, self.transaction("") as connection:
            # secure_delete leaves copies that were made when pages were balanced; VACUUM writes every page anew.
            # In memory, because a temporary file would hold other people's text.
            connection.exec_driver_sql("PRAGMA temp_store = MEMORY")
            connection.exec_driver_sql("VACUUM")
            busy = connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)")).scalar_one()
            connection.exec_driver_sql("PRAGMA temp_store = DEFAULT")
        if busy:
            raise StorageError(
                "the data is deleted, but another process keeps an old state of the file open",
                where=self.address.place,
                hint="end the other Repertory processes and erase again",
            )

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()
