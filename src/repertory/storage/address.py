"""Where the database is: a path, or any SQLAlchemy URL of SQLite or PostgreSQL."""

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from repertory.errors import StorageError, UsageError
from repertory.home import locate_home

__all__ = ("Address", "resolve_address")

_HINT = "give a path, sqlite:///PATH or postgresql://USER@HOST/NAME"


@dataclass(frozen=True)
class Address:
    """A database address.

    Attributes:
        url: The SQLAlchemy URL, with our driver.
        path: The file, for SQLite; None otherwise.
    """

    url: URL
    path: Path | None

    @property
    def place(self) -> str:
        """The address in words, without a password."""
        return str(self.path) if self.path else self.url.render_as_string(hide_password=True)


def resolve_address(address: str | Path | None = None) -> Address:
    """Find the database: what is given, else `REPERTORY_DATABASE`, else the file in the home folder.

    Raises:
        UsageError: It is not an address, or names a database that Repertory does not work with.
        StorageError: Its driver is not installed.
    """
    if address is None:
        address = os.environ.get("REPERTORY_DATABASE") or locate_home().database
    if isinstance(address, Path) or "://" not in address:
        return _file_address(Path(address))
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        # The address may hold a password, so it is not repeated.
        raise UsageError("the database address can not be read", hint=_HINT) from None
    backend = url.get_backend_name()
    if backend == "sqlite":
        if not url.database or url.database == ":memory:" or url.query:
            raise UsageError("a SQLite database must be a plain file", hint=_HINT)
        return _file_address(Path(url.database))
    if backend in {"postgresql", "postgres"}:
        try:
            import psycopg  # noqa: PLC0415 - an extra that most installations do without
        except ImportError:
            hint = "pip install 'repertory[postgres]'"
            raise StorageError("PostgreSQL needs the psycopg driver, which is not installed", hint=hint) from None
        del psycopg
        return Address(url=url.set(drivername="postgresql+psycopg"), path=None)
    message = f"Repertory does not work with {backend!r} databases"
    raise UsageError(message, hint=_HINT)


def _file_address(path: Path) -> Address:
    path = path.expanduser().absolute()
    return Address(url=URL.create("sqlite", database=str(path)), path=path)
