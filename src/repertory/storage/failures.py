"""Database failures in words."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from repertory.errors import StorageError

__all__ = ("in_words",)

_DAMAGED = (
    "the file is damaged or not a SQLite database",
    "nothing was changed; move the file away or put a copy of it back",
)
_SQLITE: dict[str, tuple[str, str | None]] = {
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_NOTADB": _DAMAGED,
    "SQLITE_READONLY": ("the database can not be written", "check the rights of the file and its folder"),
    "SQLITE_PERM": ("the database may not be opened", "check the rights of the file and its folder"),
    "SQLITE_CANTOPEN": ("the database can not be opened", "check that its folder is there and may be written"),
    "SQLITE_FULL": ("the disk is full; what was being written was not kept", "free some space and try again"),
    "SQLITE_IOERR": ("the disk could not be read or written", "check the disk and its free space"),
    "SQLITE_BUSY": ("another process has kept the database locked for too long", "wait for it, or end it"),
    "SQLITE_LOCKED": ("the database is locked", "try again"),
    "SQLITE_TOOBIG": ("a value is too large for the database", None),
}
_GONE = "the session or turn that this belongs to is not in the database"


def _sqlite_words(error: sqlite3.Error) -> tuple[str, str | None]:
    # Extended names (SQLITE_READONLY_DBMOVED, SQLITE_IOERR_WRITE) begin with the plain one.
    name: str = getattr(error, "sqlite_errorname", "")
    for plain, words in _SQLITE.items():
        if name.startswith(plain):
            return words
    return f"the database refused: {error}", None


def _words(error: SQLAlchemyError) -> tuple[str, str | None]:
    if isinstance(error, IntegrityError):
        # Checked keys can only be missed when somebody erased the person's data meanwhile.
        return (_GONE, "was it erased meanwhile?") if _is_foreign_key(error) else ("the row is there already", None)
    if isinstance(error, DBAPIError) and isinstance(error.orig, sqlite3.Error):
        return _sqlite_words(error.orig)
    if isinstance(error, PoolTimeoutError):
        return "too many callers use the database at once", "try again"
    if isinstance(error, OperationalError | InterfaceError):
        first = str(error.orig).strip().splitlines()
        return f"the database server does not answer: {first[0] if first else 'no reason given'}", None
    if isinstance(error, DBAPIError):
        first = str(error.orig).strip().splitlines()
        return f"the database refused: {first[0] if first else type(error.orig).__name__}", None
    if isinstance(error, StatementError) and error.orig is not None:
        return f"a value can not be kept: {error.orig}", None
    return f"the database could not be used: {type(error).__name__}", None


def _is_foreign_key(error: IntegrityError) -> bool:
    text = str(error.orig).lower()
    return "foreign key" in text


@contextmanager
def in_words(place: str) -> Generator[None]:
    """Turn any database failure inside into a `StorageError` that says what happened, where, and what to do."""
    try:
        yield
    except StatementError as error:
        if isinstance(error.orig, StorageError):
            raise error.orig from None
        message, hint = _words(error)
        raise StorageError(message, where=place, hint=hint) from error
    except SQLAlchemyError as error:
        message, hint = _words(error)
        raise StorageError(message, where=place, hint=hint) from error
    except OSError as error:
        message = f"the database can not be reached: {error.strerror or error}"
        hint = "check the rights and the free space of its folder"
        raise StorageError(message, where=place, hint=hint) from error
