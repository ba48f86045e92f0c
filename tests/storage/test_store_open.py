import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Generator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, event, text

from repertory.errors import StorageError, UsageError
from repertory.home import locate_home
from repertory.storage.address import resolve_address
from repertory.storage.database import Database
from repertory.storage.records import Session, Turn
from repertory.storage.schema import HEAD, VERSION_TABLE, migration_config
from repertory.storage.store import Store
from repertory.storage.tables import Base


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_default_is_a_private_file_in_the_home_folder(now: datetime) -> None:
    home = locate_home()
    assert not home.root.exists()
    with Store.open() as store:
        assert store.place == str(home.database)
        store.sessions.start("coaching", "ada", None, now)
        files = sorted(home.root.glob("repertory.sqlite*"))
        assert len(files) == 4  # the database, its two log files, the lock
        assert {_mode(file) for file in files} == {0o600}
    assert _mode(home.root) == 0o700


def _on_begin(store: Store, pragma: str) -> None:
    def run(connection: Connection) -> None:
        connection.exec_driver_sql(pragma)

    event.listen(store._database.engine, "begin", run)


def test_the_environment_names_another_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPERTORY_DATABASE", f"sqlite:///{tmp_path}/other.sqlite")
    with Store.open() as store:
        assert store.place == f"{tmp_path}/other.sqlite"


def test_looking_makes_no_file() -> None:
    assert Store.open_existing() is None
    assert not locate_home().root.exists()
    Store.open().close()
    there = Store.open_existing()
    assert there is not None
    there.close()


def test_the_tables_are_what_the_migrations_make(address: str) -> None:
    with Store.open(address):
        pass
    database = Database(resolve_address(address))
    with database.engine.connect() as connection:
        options = {"compare_type": True, "version_table": VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []
    database.close()


def test_the_newest_migration_is_the_one_the_code_knows() -> None:
    assert ScriptDirectory.from_config(migration_config()).get_heads() == [HEAD]


def test_opening_again_runs_no_migration(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.open(address).close()

    def again(_: Connection) -> None:
        pytest.fail("migrated again")

    monkeypatch.setattr("repertory.storage.schema._migrate", again)
    Store.open(address).close()


def test_a_newer_database_is_refused_and_left_alone(address: str) -> None:
    Store.open(address).close()
    database = Database(resolve_address(address))
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE repertory_schema SET version_num = '9001'"))
    with pytest.raises(StorageError, match=r"newer Repertory .*9001"):
        Store.open(address)
    with database.engine.begin() as connection:
        assert connection.execute(text("SELECT version_num FROM repertory_schema")).scalar_one() == "9001"
    database.close()


def test_a_migration_that_breaks_off_leaves_nothing(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from repertory.storage import schema

    migrate: Callable[..., None] = schema._migrate

    def broken(*arguments: Any) -> None:
        migrate(*arguments)
        raise OSError("pulled the plug")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "_migrate", broken)
        with pytest.raises(StorageError, match="pulled the plug"):
            Store.open(address)
    with Store.open(address) as store:
        assert store.turns.turns() == []


_OPEN = "import sys; from repertory.storage.store import Store; Store.open(sys.argv[1]).close()"


def test_processes_that_open_at_once_all_succeed(address: str) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", _OPEN, address], stderr=subprocess.PIPE, text=True) for _ in range(6)
    ]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 6, errors


@pytest.mark.parametrize(
    "content",
    [b"hello, this is not a database", b"SQLite format 3\x00" + b"\xff" * 4000, b"\x00" * 4096],
    ids=["text", "damaged header", "zeros"],
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "repertory.sqlite"
    path.write_bytes(content)
    with pytest.raises(StorageError, match="damaged or not a SQLite database") as error:
        Store.open(path)
    assert error.value.where == str(path)
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE turns (id)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="some other program"):
        Store.open(path)
    assert path.read_bytes() == before


def test_damage_inside_is_told_in_words(tmp_path: Path, now: datetime) -> None:
    path = tmp_path / "repertory.sqlite"
    with Store.open(path) as store:
        session = store.sessions.start("coaching", "ada", "s", now)
        turn = store.turns.begin_turn(session, at=now)
        for _ in range(200):
            store.messages.append_message(session, "person", "x" * 500, turn.id, now)
    size = path.stat().st_size
    with path.open("r+b") as file:
        for offset in range(8 * 4096, size, 4096):
            file.seek(offset)
            file.write(b"\xff" * 2048)
    with pytest.raises(StorageError, match="damaged"), Store.open(path) as store:
        store.messages.messages(session)
    assert path.stat().st_size == size


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="can not be opened"):
        Store.open(tmp_path)


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StorageError) as error:
        Store.open(tmp_path / "data" / "repertory.sqlite")
    assert error.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError):
            Store.open(tmp_path / "repertory.sqlite")
    finally:
        tmp_path.chmod(0o700)


def test_a_read_only_database_is_told_in_words(tmp_path: Path, now: datetime) -> None:
    with Store.open(tmp_path / "repertory.sqlite") as store:
        _on_begin(store, "PRAGMA query_only = ON")
        with pytest.raises(StorageError, match="can not be written"):
            store.sessions.start("coaching", "ada", None, now)


def test_a_full_disk_keeps_what_was_there(tmp_path: Path, session_and_turn: tuple[Store, Session, Turn]) -> None:
    store, session, turn = session_and_turn
    _on_begin(store, "PRAGMA max_page_count = 60")
    append = partial(store.messages.append_message, session, "person", "x" * 3000, turn.id, turn.started_at)
    append()
    with pytest.raises(StorageError, match="disk is full"):
        [append() for _ in range(1000)]
    messages = store.messages.messages(session)
    assert [message.id for message in messages] == [f"m{n}" for n in range(1, len(messages) + 1)]
    assert {message.text for message in messages} == {"x" * 3000}


@pytest.fixture
def session_and_turn(tmp_path: Path, now: datetime) -> Generator[tuple[Store, Session, Turn]]:
    with Store.open(tmp_path / "full.sqlite") as store:
        session = store.sessions.start("coaching", "ada", None, now)
        yield store, session, store.turns.begin_turn(session, at=now)


@pytest.mark.parametrize(
    "address", ["mysql://host/name", "nonsense://", "sqlite://", "sqlite:///:memory:", "sqlite:///a?mode=ro", "://"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(UsageError) as error:
        Store.open(address)
    assert "sqlite:///PATH" in str(error.value.hint)


def test_a_server_that_does_not_answer_is_told_without_the_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StorageError, match="does not answer") as error:
        Store.open("postgresql://ada:secret-word@127.0.0.1:1/none")
    assert "secret-word" not in str(error.value)
