"""A person in what deployed agents keep: each agent has a database of its own, in which each user has rows."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from repertory.errors import StorageError

__all__ = (
    "RECORDS_FILE",
    "agents_with_records",
    "erase_agent_records",
    "erase_records",
    "export_agent_records",
    "records_by_user",
)

RECORDS_FILE = "records.sqlite"
"""The name of an agent's database, in the folder of the agent."""
_WAIT_S = 10.0
_FINDS = ("SELECT 1 FROM entries WHERE user = ? LIMIT 1", "SELECT 1 FROM logs WHERE user = ? LIMIT 1")
_DELETES = ("DELETE FROM entries WHERE user = ?", "DELETE FROM logs WHERE user = ?")


def agents_with_records(agents: Path, user: str) -> list[str]:
    """The agents that keep something about a user, sorted. Blocks.

    Args:
        agents: The folder of what agents keep.
        user: The person.

    Raises:
        StorageError: A database can not be read.
    """
    return [path.parent.name for path in sorted(agents.glob(f"*/{RECORDS_FILE}")) if _has_rows(path, user)]


def export_agent_records(agents: Path, user: str) -> dict[str, dict[str, Any]]:
    """What each deployed agent keeps about a user, by the agent's name: values by key, and logs. Blocks.

    Args:
        agents: The folder of what agents keep.
        user: The person.

    Raises:
        StorageError: A database can not be read.
    """
    found = {path.parent.name: _kept(path, user) for path in sorted(agents.glob(f"*/{RECORDS_FILE}"))}
    return {name: kept for name, kept in found.items() if kept is not None}


def _kept(path: Path, user: str) -> dict[str, Any] | None:
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)) as database:
            return records_by_user(database, user).get(user) if _is_made(database) else None
    except (sqlite3.Error, json.JSONDecodeError) as error:
        message = f"what the agent {path.parent.name} keeps can not be read: {error}"
        raise StorageError(message, where=str(path)) from None


def records_by_user(database: sqlite3.Connection, user: str | None) -> dict[str, dict[str, Any]]:
    """What an agent keeps, by user: values by key, and logs; of one user, or with None of all. Blocks.

    Raises:
        sqlite3.Error: It can not be read.
    """
    users: dict[str, dict[str, Any]] = {}
    where, values = ("WHERE user = ?", (user,)) if user is not None else ("", ())
    database.execute("BEGIN")  # both tables as they were at one moment
    entries = f"SELECT user, key, value FROM entries {where} ORDER BY user, key"  # noqa: S608 - one of two texts of ours
    for owner, key, value in database.execute(entries, values):
        users.setdefault(owner, {"entries": {}, "logs": {}})["entries"][key] = json.loads(value)
    logs = f"SELECT user, log, value FROM logs {where} ORDER BY number"  # noqa: S608 - as above
    for owner, log, value in database.execute(logs, values):
        users.setdefault(owner, {"entries": {}, "logs": {}})["logs"].setdefault(log, []).append(json.loads(value))
    database.execute("COMMIT")
    return users


def _has_rows(path: Path, user: str) -> bool:
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)) as database:
            return _is_made(database) and any(database.execute(query, (user,)).fetchone() for query in _FINDS)
    except sqlite3.Error as error:
        message = f"what the agent {path.parent.name} keeps can not be read: {error}"
        raise StorageError(message, where=str(path)) from None


def erase_agent_records(agents: Path, user: str) -> int:
    """Delete what all deployed agents keep about a user, also those that were removed and left their records. Blocks.

    Args:
        agents: The folder of what agents keep.
        user: The person.

    Returns:
        How many rows were deleted.

    Raises:
        StorageError: Those of an agent can not be deleted now. Those of the others are.
    """
    gone, failed = 0, None
    for path in sorted(agents.glob(f"*/{RECORDS_FILE}")):
        try:
            gone += erase_records(path, user)
        except StorageError as error:
            failed = error
    if failed is not None:
        raise failed
    return gone


def erase_records(path: Path, user: str) -> int:
    """Delete what one agent keeps about a user, for good: the bytes are gone from the file too. Blocks.

    Raises:
        StorageError: It can not be deleted now.
    """
    if not path.is_file():
        return 0
    try:
        with closing(sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)) as database:
            database.execute("PRAGMA secure_delete = ON")
            database.execute("BEGIN IMMEDIATE")
            if not _is_made(database):
                return 0
            gone = sum(database.execute(delete, (user,)).rowcount for delete in _DELETES)
            database.execute("COMMIT")
            # Also when there was nothing: an erase that was cut off before this is made good by the next one.
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        message = f"what the agent {path.parent.name} keeps about the person can not be erased: {error}"
        hint = "wait for the agent's calls to end, and erase again"
        raise StorageError(message, where=str(path), hint=hint) from None
    return gone


def _is_made(database: sqlite3.Connection) -> bool:
    """Whether the tables are there: the file comes first."""
    query = "SELECT count(*) FROM sqlite_master WHERE name IN ('entries', 'logs')"
    return database.execute(query).fetchone() == (2,)
