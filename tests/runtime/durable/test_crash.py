"""Kill -9 anywhere: the turn is completed, no finished call is made again, nothing is lost, doubled or torn."""

import random
import shutil
import socket
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
from tests.runtime.durable.processes import (
    CALLS,
    calls_in,
    carry,
    carry_on_a_full_disk,
    check_whole,
    durable_calls,
    expected_again,
    kill,
    serve,
    start,
    turn_of,
    wait_until,
)

from repertory.storage.store import Store

# In the order of their first coming; the test below holds it against what a turn really reaches.
POINTS = [
    "turn:begun",
    *(f"{agent}:call:1:{end}" for agent in CALLS for end in ("begins", "finished")),
    "scribe:call:1:kept",
    "scribe:call:2:begins",
    "scribe:call:2:finished",
    *(f"{agent}:section:{end}" for agent in CALLS for end in ("begins", "written")),
    "code:section:tally",
    "turn:closed",
    "turn:events kept",
    "turn:finished",
]


class Place:
    """A database, and an engine on a port that stays the same when it is started again."""

    def __init__(self, database: str, folder: Path, port: int, calls: Path) -> None:
        self.database = database
        self.points = folder / "points"
        self.port = port
        self.log = calls
        self._calls_before = calls_in(calls)

    @property
    def calls(self) -> Counter[str]:
        return calls_in(self.log) - self._calls_before

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def begin(self, kill_at: str = "") -> ForkServerProcess:
        return start(carry, self.database, self.url, None, kill_at, str(self.points))

    def resume(self, kill_at: str = "") -> None:
        turn, status = turn_of(self.database)
        if status not in {"never begun", "complete"}:
            start(carry, self.database, self.url, turn, kill_at, str(self.points)).join(60)

    def check(self) -> None:
        turn, _ = turn_of(self.database)
        assert turn is not None
        with Store.open(self.database) as store:
            check_whole(store, turn)


def start_engine(port: int, calls: Path, token_delay_s: float = 0.0) -> ForkServerProcess:
    engine = start(serve, port, str(calls), token_delay_s)

    def listens() -> bool:
        with socket.socket() as caller:
            return caller.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens)
    return engine


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "empty.sqlite"
    Store.open(path).close()
    return path


@pytest.fixture(scope="module")
def lasting_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    port, calls = free_port(), tmp_path_factory.mktemp("engine") / "calls"
    engine = start_engine(port, calls)
    yield port, calls
    kill(engine)


@pytest.fixture
def database(address: str, empty_database: Path) -> str:
    """An empty database of one of all kinds; a SQLite file is a copy, which is quicker than migrations."""
    if "://" not in address:
        Path(address).parent.mkdir(parents=True)
        shutil.copy(empty_database, address)
    return address


@pytest.fixture
def place(database: str, tmp_path: Path, lasting_engine: tuple[int, Path]) -> Place:
    return Place(database, tmp_path, *lasting_engine)


def test_a_turn_reaches_every_point_that_is_tested(place: Place) -> None:
    place.begin().join(60)
    place.check()
    assert sorted(place.points.read_text().splitlines()) == sorted(POINTS)
    assert place.calls == CALLS


@pytest.mark.parametrize("point", POINTS)
def test_a_turn_that_is_killed_at_a_step_is_completed(place: Place, point: str) -> None:
    """Only what was not done is done again, and a turn is never `complete` with a step missing.

    (field reports F10, F12, F16)
    """
    place.begin(kill_at=point).join(60)
    turn, status = turn_of(place.database)
    assert status == ("complete" if point == "turn:finished" else "interrupted")
    before, durable = place.calls, durable_calls(place.database)
    if status == "complete":
        return place.check()
    place.resume()
    place.check()
    assert turn_of(place.database)[0] == turn
    assert expected_again(before, durable, place.calls) == []
    return None


def test_a_turn_that_is_killed_again_and_again_is_completed(place: Place) -> None:
    """Each life of the process does one step; none is done twice (field reports F12, F16)."""
    place.begin(kill_at="quick:section:written").join(60)
    for point in ("scribe:call:2:begins", "scribe:section:written", "critic:section:written", "turn:closed"):
        place.resume(kill_at=point)
    place.resume()
    place.check()
    # At most what was under way at a kill was asked again.
    assert sum(place.calls.values()) <= sum(CALLS.values()) + 5


@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", ["process", "engine", "both"])
@pytest.mark.parametrize("seed", range(5))
def test_a_kill_at_a_random_moment(database: str, tmp_path: Path, what: str, seed: int) -> None:
    """Of the process, of the engine, of both (field reports F10, F16)."""
    place = Place(database, tmp_path, free_port(), tmp_path / "calls")
    engine = start_engine(place.port, place.log, token_delay_s=0.01)
    try:
        process = place.begin()
        wait_until(place.points.exists)
        time.sleep(random.Random(f"{what}{seed}").uniform(0.0, 0.4))  # the moment is random; nothing rests on it
        if what != "engine":
            kill(process)
        if what != "process":
            kill(engine)
        process.join(60)
        before = place.calls
        if what != "process":
            engine = start_engine(place.port, place.log)
        finished, durable = turn_of(place.database)[1] == "complete", durable_calls(place.database)
        place.resume()
        place.check()
        assert finished or expected_again(before, durable, place.calls) == []
    finally:
        kill(engine)


@pytest.mark.parametrize("point", ["turn:begun", "scribe:call:1:kept", "critic:section:written", "turn:closed"])
def test_a_disk_that_is_full_is_told_and_the_turn_is_completed_later(place: Place, tmp_path: Path, point: str) -> None:
    if "://" in place.database:
        pytest.skip("a server has its own disk")
    told = tmp_path / "told"
    start(carry_on_a_full_disk, place.database, place.url, point, str(told)).join(60)
    words = told.read_text()
    assert "the disk" in words
    assert "free space" in words
    before, durable = place.calls, durable_calls(place.database)
    place.resume()
    place.check()
    assert expected_again(before, durable, place.calls) == []


def test_two_processes_on_one_database_lose_nothing(place: Place) -> None:
    """Two turns of one user at the same moment: both are whole, and every version is there once."""
    both = [place.begin(), place.begin()]
    for process in both:
        process.join(60)
    with Store.open(place.database) as store:
        turns = store.turns.turns("small", "ada")
        assert [(one.number, one.status) for one in turns] == [(2, "complete"), (1, "complete")]
        for section in ("hello", "notes", "critique", "ending"):
            versions = store.blackboard("small", "ada").history(section)
            assert sorted(one.version for one in versions) == [1, 2]
            assert {one.turn for one in versions} == {one.id for one in turns}
        session = store.sessions.find("small", "ada", "s1")
        assert session is not None
        said = store.messages.messages(session)
        assert [one.id for one in said] == [f"m{n}" for n in range(1, 5)]
        assert Counter(one.role for one in said) == {"person": 2, "team": 2}
        assert len(store.commitments.all("small", "ada")) == 2


def test_two_processes_that_resume_one_turn_do_it_once(place: Place) -> None:
    place.begin(kill_at="scribe:call:2:begins").join(60)
    turn, _ = turn_of(place.database)
    before, durable = place.calls, durable_calls(place.database)
    both = [start(carry, place.database, place.url, turn, "", str(place.points)) for _ in range(2)]
    for process in both:
        process.join(60)
    place.check()
    assert expected_again(before, durable, place.calls) == []
