"""What a deployed agent keeps: values by key and logs that only grow, in a database of its own.

The agent's code never touches the file: it asks functions of ours, and all that one call of a tool writes is kept
together or, when the call fails, not at all. The database belongs to the agent, not to a version, and goes with it.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from repertory.errors import RegistryError
from repertory.sandbox import HostCallError
from repertory.storage.user_records import erase_records, records_by_user

__all__ = ("AgentRecords", "RecordsCall", "RecordsSlot")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS entries (user TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY (user, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS logs (number INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT, log TEXT, value TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS logs_of_user ON logs (user, log, number);
"""
_MAX_KEY, _MAX_VALUE, _MAX_LISTED = 200, 64 * 1024, 1_000
_WAIT_S = 10.0
_PAGE = 4096


class AgentRecords:
    """The records of one agent.

    Args:
        path: The file; made when something is first kept.
        limit_bytes: How large it may become.
        schema_version: The number of the form in which the version that runs keeps its records.
    """

    def __init__(self, path: Path, limit_bytes: int = 64 * 1024 * 1024, schema_version: int = 1) -> None:
        self._path = path
        self._limit = limit_bytes
        self._schema = schema_version

    def begin(self, user: str | None) -> "RecordsCall":
        """The records for one call of a tool, all of it one transaction.

        Args:
            user: Whose records; None for those that all users share.
        """
        return RecordsCall(self._open, user or "", self._schema)

    def export(self, user: str | None = None) -> dict[str, Any]:
        """All that is kept, or what is kept about one user, as one JSON document."""
        if not self._path.exists():
            return {"schema": 0, "users": {}}
        with closing(self._open()) as database:
            return {"schema": _stored_schema(database), "users": records_by_user(database, user)}

    def erase(self, user: str) -> int:
        """Delete what is kept about one user, for good; returns how many rows that were.

        Raises:
            StorageError: It can not be deleted now.
        """
        return erase_records(self._path, user)

    def _open(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            database = sqlite3.connect(self._path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
            database.execute("PRAGMA journal_mode = WAL")
            for pragma in ("synchronous = FULL", "secure_delete = ON", f"max_page_count = {self._limit // _PAGE}"):
                database.execute(f"PRAGMA {pragma}")
            database.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            message = f"the agent's records can not be opened: {error}"
            raise RegistryError(message, where=str(self._path)) from None
        return database


class RecordsCall:
    """The records as one call of a tool sees them. Nothing is opened before the code asks for something."""

    def __init__(self, open_database: Callable[[], sqlite3.Connection], user: str, schema: int) -> None:
        self._open = open_database
        self._user = user
        self._schema = schema
        self._database: sqlite3.Connection | None = None

    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """What the code may ask, by name."""
        return {
            "records_get": self._get,
            "records_put": self._put,
            "records_remove": self._remove,
            "records_keys": self._keys,
            "records_append": self._append,
            "records_log": self._log,
            "records_schema": self._schema_before,
        }

    def end(self, *, keep: bool) -> bool:
        """Keep what was written, or not; the records have the schema of the version that wrote them.

        Returns:
            Whether what was to be kept is kept: not where the transaction was lost on the way, as on a full disk.
        """
        if self._database is None:
            return True
        with closing(self._database) as database:
            self._database = None
            try:
                if keep and database.in_transaction:
                    if _stored_schema(database) < self._schema:
                        database.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (self._schema,))
                    database.execute("COMMIT")
                    return True
            except sqlite3.Error:
                pass
            if database.in_transaction:
                database.execute("ROLLBACK")
            return not keep

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        try:
            if self._database is None:
                self._database = self._open()
                self._database.execute("BEGIN IMMEDIATE")
            if not self._database.in_transaction:  # SQLite ends it by itself when the disk is full
                raise HostCallError("the agent's records can not be written any more in this call", kinds=("OSError",))
            return self._database.execute(statement, values)
        except RegistryError as error:
            raise HostCallError(error.message, kinds=("OSError",)) from None
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise HostCallError("the agent's records are full", kinds=("OSError",)) from None
            raise HostCallError("the agent's records are in use", kinds=("TimeoutError", "OSError")) from None

    def _get(self, key: object) -> Any:
        row = self._run("SELECT value FROM entries WHERE user = ? AND key = ?", self._user, _key(key)).fetchone()
        return json.loads(row[0]) if row else None

    def _put(self, key: object, value: object) -> None:
        self._run("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", self._user, _key(key), _text(value))

    def _remove(self, key: object) -> bool:
        return self._run("DELETE FROM entries WHERE user = ? AND key = ?", self._user, _key(key)).rowcount > 0

    def _keys(self, prefix: object = "", after: object = "") -> list[str]:
        rows = self._run(
            "SELECT key FROM entries WHERE user = ? AND substr(key, 1, ?) = ? AND key > ? ORDER BY key LIMIT ?",
            self._user,
            len(str(prefix)),
            str(prefix),
            str(after),
            _MAX_LISTED,
        )
        return [row[0] for row in rows]

    def _append(self, log: object, value: object) -> int:
        done = self._run("INSERT INTO logs (user, log, value) VALUES (?, ?, ?)", self._user, _key(log), _text(value))
        return done.lastrowid or 0

    def _log(self, log: object, after: object = 0) -> list[list[Any]]:
        rows = self._run(
            "SELECT number, value FROM logs WHERE user = ? AND log = ? AND number > ? ORDER BY number LIMIT ?",
            self._user,
            _key(log),
            _number(after),
            _MAX_LISTED,
        )
        return [[number, json.loads(value)] for number, value in rows]

    def _schema_before(self) -> int:
        self._run("SELECT 1")
        return _stored_schema(self._database) if self._database is not None else 0


class RecordsSlot:
    """Stands for the records of whatever call a worker does now: a worker knows its functions from its start."""

    def __init__(self) -> None:
        self.call: RecordsCall | None = None

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The functions for the worker."""
        names = RecordsCall(_nowhere, "", 1).functions()
        return {name: self._function(name) for name in names}

    def _function(self, name: str) -> Callable[..., Any]:
        def ask(*args: object, **kwargs: object) -> Any:
            if self.call is None:
                raise HostCallError("no call is under way")
            return self.call.functions()[name](*args, **kwargs)

        return ask


def _nowhere() -> sqlite3.Connection:
    raise RegistryError("there are no records")


def _stored_schema(database: sqlite3.Connection) -> int:
    row = database.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    return int(row[0]) if row else 0


def _key(key: object) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= _MAX_KEY:
        message = f"a key is text of 1 to {_MAX_KEY} characters"
        raise HostCallError(message, kinds=("ValueError",))
    return key


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise HostCallError("`after` is a whole number", kinds=("ValueError",))
    return value


def _text(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text.encode("utf-8", "surrogatepass")) > _MAX_VALUE:
        message = f"a value has at most {_MAX_VALUE} bytes as JSON"
        raise HostCallError(message, kinds=("ValueError",))
    return text
