import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from filelock import FileLock

from repertory.errors import StorageError
from repertory.home import locate_home
from repertory.storage.prefix_states import KeptPrefix, PrefixStates, default_budget_bytes
from repertory.storage.store import Store

ENGINE, OTHER_ENGINE = "a" * 64, "b" * 64
MIB = 1024 * 1024


@pytest.fixture
def states(tmp_path: Path) -> PrefixStates:
    return PrefixStates(tmp_path / "prefixes", budget_bytes=10 * MIB)


def keep(
    states: PrefixStates,
    prefix: bytes,
    *,
    owner: str = "ada",
    content: bytes = b"state",
    engine: str = ENGINE,
    erasures: int | None = None,
) -> bool:
    """As an engine does it: it has written a file, which is set aside and then taken in."""
    written = states.folder.parent / "slot.bin"
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_bytes(content)
    part = states.set_aside(written)
    assert part is not None
    known = states.erasures() if erasures is None else erasures
    return states.take_in(part, engine=engine, owner=owner, prefix=prefix, tokens=len(prefix), erasures=known)


def find(states: PrefixStates, prefix: bytes, *, owner: str = "ada", engine: str = ENGINE) -> KeptPrefix | None:
    return states.find(engine=engine, owner=owner, prefix=prefix)


def files(states: PrefixStates, ending: str = ".state") -> list[Path]:
    return sorted(path for path in states.folder.iterdir() if path.suffix == ending)


def test_the_longest_beginning_of_a_prompt_is_found(states: PrefixStates, tmp_path: Path) -> None:
    assert keep(states, b"hello", content=b"short")
    assert keep(states, b"hello Bob", content=b"of another session")
    assert keep(states, b"hello Ann", content=b"long")
    found = find(states, b"hello Ann, and more")
    assert found is not None
    assert found.tokens == len(b"hello Ann")
    target = tmp_path / "restored.bin"
    assert states.hand_out(found, target)
    assert target.read_bytes() == b"long"
    assert find(states, b"hell") is None
    assert find(states, b"Hello Ann") is None


def test_nothing_is_found_for_another_user_or_another_engine(states: PrefixStates) -> None:
    keep(states, b"hello")
    assert find(states, b"hello") is not None
    assert find(states, b"hello", owner="bob") is None
    assert find(states, b"hello", engine=OTHER_ENGINE) is None


def test_a_session_that_goes_on_takes_the_room_of_one_state(states: PrefixStates) -> None:
    for turn in range(5):
        assert keep(states, b"hello" * (turn + 1))
    assert len(files(states)) == 1
    keep(states, b"hello, another session")
    keep(states, b"hello" * 6, owner="bob")
    assert len(files(states)) == 3


def test_files_are_private_and_named_by_chance(states: PrefixStates) -> None:
    keep(states, b"hello", owner="../../etc/passwd")
    (kept,) = files(states)
    assert len(kept.stem) == 32
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE((states.folder / "index.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(states.folder.stat().st_mode) == 0o700
    assert "passwd" not in (states.folder / "index.json").read_text()


def test_the_longest_unused_makes_way_and_what_runs_next_does_not(states: PrefixStates) -> None:
    for number, owner in enumerate(("ada", "bob", "cleo")):
        assert keep(states, b"hello", owner=owner, content=bytes(3 * MIB))
        kept = find(states, b"hello", owner=owner)
        assert kept is not None
        os.utime(states.folder / kept.file, (1000 + number, 1000 + number))
    first = find(states, b"hello", owner="ada")
    assert first is not None
    with states.holding(first):
        assert keep(states, b"hello", owner="dan", content=bytes(3 * MIB))
    assert find(states, b"hello", owner="ada") is not None
    assert find(states, b"hello", owner="bob") is None
    assert sum(path.stat().st_size for path in files(states)) <= states.budget_bytes


def test_a_use_counts(states: PrefixStates, tmp_path: Path) -> None:
    for owner in ("ada", "bob", "cleo"):
        keep(states, b"hello", owner=owner, content=bytes(3 * MIB))
        kept = find(states, b"hello", owner=owner)
        assert kept is not None
        os.utime(states.folder / kept.file, (1000, 1000))
    ada = find(states, b"hello", owner="ada")
    assert ada is not None
    assert states.hand_out(ada, tmp_path / "x")
    keep(states, b"hello", owner="dan", content=bytes(3 * MIB))
    assert find(states, b"hello", owner="ada") is not None


def test_what_is_larger_than_the_budget_is_not_kept_and_evicts_nobody(states: PrefixStates) -> None:
    keep(states, b"hello", content=bytes(MIB))
    assert not keep(states, b"hello", owner="bob", content=bytes(11 * MIB))
    assert find(states, b"hello") is not None
    assert len(files(states)) == 1
    assert not files(states, ".part")


def test_no_budget_keeps_nothing(tmp_path: Path) -> None:
    written = tmp_path / "slot.bin"
    written.write_bytes(b"state")
    states = PrefixStates(tmp_path / "prefixes", budget_bytes=0)
    assert states.set_aside(written) is None
    assert written.exists()
    assert not states.folder.exists()


def test_the_default_budget_is_a_part_of_the_disk(tmp_path: Path) -> None:
    assert 0 < default_budget_bytes(tmp_path / "not" / "there" / "yet") <= 4 * 1024**3


@pytest.mark.parametrize("damage", [b"", b"stat", b"STATE", b"state and more"])
def test_a_state_that_is_not_whole_is_dropped(states: PrefixStates, tmp_path: Path, damage: bytes) -> None:
    keep(states, b"hello")
    found = find(states, b"hello")
    assert found is not None
    (states.folder / found.file).write_bytes(damage)
    assert not states.hand_out(found, tmp_path / "restored.bin")
    assert not (tmp_path / "restored.bin").exists()
    assert find(states, b"hello") is None
    assert files(states) == []


def test_a_state_that_is_gone_or_a_link_is_dropped(states: PrefixStates, tmp_path: Path) -> None:
    keep(states, b"hello")
    found = find(states, b"hello")
    assert found is not None
    (states.folder / found.file).unlink()
    (tmp_path / "elsewhere").write_bytes(b"state")
    (states.folder / found.file).symlink_to(tmp_path / "elsewhere")
    assert not states.hand_out(found, tmp_path / "restored.bin")
    assert (tmp_path / "elsewhere").read_bytes() == b"state"
    assert find(states, b"hello") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"kept": [{"file": "../../x.state"}]}', "\0\0\0"])
def test_a_damaged_index_is_an_empty_one(states: PrefixStates, text: str) -> None:
    keep(states, b"hello")
    (states.folder / "index.json").write_text(text)
    assert find(states, b"hello") is None
    # It may have counted erasures: what was made before it broke is not kept, and what comes later is.
    assert not keep(states, b"hello", erasures=0)
    assert keep(states, b"hello")
    assert len(files(states)) == 1


def test_erasing_a_user_removes_their_states_alone(states: PrefixStates) -> None:
    keep(states, b"hello")
    keep(states, b"other session")
    keep(states, b"hello", owner="bob")
    assert states.erase("ada") == 2
    assert find(states, b"hello") is None
    assert find(states, b"hello", owner="bob") is not None
    assert len(files(states)) == 1
    assert states.erase("ada") == 0


def test_what_was_on_its_way_while_somebody_was_erased_is_not_kept(states: PrefixStates, tmp_path: Path) -> None:
    keep(states, b"hello")
    before = states.erasures()
    aside = tmp_path / "slot.bin"
    aside.write_bytes(b"state")
    part = states.set_aside(aside)
    assert part is not None
    states.erase("ada")
    assert not part.exists()
    assert not states.take_in(part, engine=ENGINE, owner="ada", prefix=b"hello", tokens=1, erasures=before)
    # The engine was still computing: it writes and sets aside after the erasure.
    assert not keep(states, b"hello", erasures=before)
    assert files(states) == []
    assert files(states, ".part") == []


def test_the_store_erases_and_forgets_states_too(tmp_path: Path) -> None:
    states = PrefixStates(locate_home().prefixes, budget_bytes=MIB)
    keep(states, b"hello")
    keep(states, b"hello", owner="bob")
    with Store.open(tmp_path / "store.sqlite") as store:
        store.erase("ada")
    assert find(states, b"hello") is None
    assert find(states, b"hello", owner="bob") is not None


def test_an_erasure_that_can_not_be_made_is_an_error(states: PrefixStates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.storage.prefix_states._LOCK_S", 0.05)
    keep(states, b"hello")
    with FileLock(states.folder / "index.lock"), pytest.raises(StorageError, match="locked"):
        states.erase("ada")


_KEEPS_FOR_EVER = """
import sys
from pathlib import Path
from repertory.storage.prefix_states import PrefixStates
states = PrefixStates(Path(sys.argv[1]), budget_bytes=1 << 30)
number = 0
print("ready", flush=True)
while True:
    number += 1
    slot = Path(sys.argv[1]).parent / "slot-of-child.bin"
    slot.write_bytes(bytes([number % 251]) * 300_000)
    part = states.set_aside(slot)
    states.take_in(part, engine="a" * 64, owner=f"u{number % 7}", prefix=b"hello %d" % number, tokens=number,
                   erasures=states.erasures())
"""


def test_killed_in_the_middle_of_a_save_at_many_moments(states: PrefixStates, tmp_path: Path) -> None:
    """Whatever the moment: every state that is found afterwards is whole, and what was left behind is swept away."""
    states.budget_bytes = 1 << 30
    for round_ in range(5):
        child = subprocess.Popen([sys.executable, "-c", _KEEPS_FOR_EVER, str(states.folder)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.03 + 0.027 * round_)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        for path in files(states, ".part"):
            os.utime(path, (1, 1))  # as old as after a quarter of an hour
        assert keep(states, b"ours")  # the lock of the dead holds nobody up
        assert files(states, ".part") == []
        for number in range(1, 2000):
            found = find(states, b"hello %d" % number, owner=f"u{number % 7}")
            if found is None or found.tokens != number:
                continue
            target = tmp_path / "restored.bin"
            assert states.hand_out(found, target)
            assert target.read_bytes() == bytes([number % 251]) * 300_000
            target.unlink()
        named = (states.folder / "index.json").read_text()
        assert all(path.name in named for path in files(states))


def test_two_threads_that_keep_at_once_lose_nothing(states: PrefixStates) -> None:
    def work(name: str) -> None:
        for number in range(10):
            slot = states.folder.parent / f"slot-{name}.bin"
            slot.write_bytes(name.encode())
            part = states.set_aside(slot)
            assert part is not None
            states.take_in(
                part, engine=ENGINE, owner=name, prefix=b"%d!" % number, tokens=number, erasures=states.erasures()
            )

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in ("t0", "t1", "t2"):
        for number in range(10):
            assert states.find(engine=ENGINE, owner=name, prefix=b"%d!" % number) is not None
