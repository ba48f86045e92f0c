"""What agents keep about a person goes with the person, out of the bytes too, and nobody else's goes with it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from repertory.errors import StorageError
from repertory.home import locate_home
from repertory.storage import user_records
from repertory.storage.store import Store
from repertory.storage.user_records import RECORDS_FILE, agents_with_records, erase_agent_records, erase_records


def keep(agents: Path, agent: str, *users: str) -> Path:
    """An agent's database as the registry makes it, with an entry and a log of each user."""
    path = agents / agent / RECORDS_FILE
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE entries (user TEXT, key TEXT, value TEXT)")
        database.execute("CREATE TABLE logs (number INTEGER PRIMARY KEY, user TEXT, log TEXT, value TEXT)")
        for user in users:
            database.execute("INSERT INTO entries VALUES (?, 'k', ?)", (user, f'"swordfish of {user}"'))
            database.execute("INSERT INTO logs (user, log, value) VALUES (?, 'l', ?)", (user, f'"log of {user}"'))
    return path


def test_a_person_is_erased_from_all_agents_and_from_the_bytes(tmp_path: Path) -> None:
    paths = [keep(tmp_path, "diary", "ada", "bob"), keep(tmp_path, "habits", "ada"), keep(tmp_path, "other", "bob")]
    assert agents_with_records(tmp_path, "ada") == ["diary", "habits"]
    assert erase_agent_records(tmp_path, "ada") == 4
    assert agents_with_records(tmp_path, "ada") == []
    assert agents_with_records(tmp_path, "bob") == ["diary", "other"]
    for path in paths:
        for file in path.parent.iterdir():
            assert b"of ada" not in file.read_bytes()
    assert b"swordfish of bob" in paths[0].read_bytes()
    assert erase_agent_records(tmp_path, "ada") == 0


def test_a_store_erases_them_with_the_rest() -> None:
    keep(locate_home().agents, "diary", "ada", "bob")
    with Store.open() as store:
        assert store.agents_of_user("ada") == ["diary"]
        assert store.erase("ada")["agent_records"] == 2
        assert (store.agents_of_user("ada"), store.agents_of_user("bob")) == ([], ["diary"])


def test_a_store_exports_them_with_the_rest_and_nobody_elses() -> None:
    keep(locate_home().agents, "diary", "ada", "bob")
    with Store.open() as store:
        assert store.export("ada")["agents"] == {
            "diary": {"entries": {"k": "swordfish of ada"}, "logs": {"l": ["log of ada"]}}
        }
        assert "agents" not in store.export("ada", "coaching")


def test_where_nothing_is_kept_there_is_nothing_to_erase(tmp_path: Path) -> None:
    assert erase_agent_records(tmp_path / "none", "ada") == 0
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / RECORDS_FILE).touch()
    assert (agents_with_records(tmp_path, "ada"), erase_agent_records(tmp_path, "ada")) == ([], 0)
    assert erase_records(tmp_path / "none" / RECORDS_FILE, "ada") == 0


def test_one_that_can_not_be_erased_is_told_and_keeps_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_records, "_WAIT_S", 0.05)
    busy, free = keep(tmp_path, "a-busy", "ada"), keep(tmp_path, "free", "ada")
    with closing(sqlite3.connect(busy, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="a-busy keeps about the person can not be erased") as raised:
            erase_agent_records(tmp_path, "ada")
    assert raised.value.where == str(busy)
    assert agents_with_records(tmp_path, "ada") == ["a-busy"]
    assert erase_agent_records(tmp_path, "ada") == 2
    free.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(StorageError, match="can not be read"):
        agents_with_records(tmp_path, "ada")
