"""The databases that every storage test runs on: SQLite, and PostgreSQL where `REPERTORY_TEST_POSTGRES` names one."""

import os
import secrets
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from repertory.storage.records import Session, Turn
from repertory.storage.store import Store

POSTGRES = os.environ.get("REPERTORY_TEST_POSTGRES")
NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


@pytest.fixture(params=["sqlite", *(["postgres"] if POSTGRES else [])])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str]:
    """The address of an empty database of its own."""
    if request.param == "sqlite":
        yield str(tmp_path / "data" / "repertory.sqlite")
        return
    assert POSTGRES
    url = make_url(POSTGRES).set(drivername="postgresql+psycopg")
    name = f"test_{secrets.token_hex(6)}"
    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    own = url.update_query_dict({"options": f"-csearch_path={name}"})
    yield own.render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    admin.dispose()


@pytest.fixture
def store(address: str) -> Generator[Store]:
    with Store.open(address) as opened:
        yield opened


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def session(store: Store) -> Session:
    return store.sessions.start("coaching", "ada", "monday", NOW, "what is known")


@pytest.fixture
def turn(store: Store, session: Session) -> Turn:
    return store.turns.begin_turn(session, at=NOW)
