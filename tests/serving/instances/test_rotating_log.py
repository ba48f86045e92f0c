import os
import random
from pathlib import Path

import pytest

from repertory.serving.instances.rotating_log import RotatingLog, log_parts, read_tail


def test_no_line_is_lost_or_torn_over_many_parts(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    log = RotatingLog(path, part_bytes=1000, parts=50)
    lines = [f"line {number} " + "x" * (number % 90) for number in range(400)]
    data = "".join(f"{line}\n" for line in lines).encode()
    chooser = random.Random(7)
    while data:
        size = chooser.randrange(1, 300)
        log.write(data[:size])
        data = data[size:]
    log.close()
    kept = [line for part in log_parts(path) for line in part.read_text().splitlines()]
    assert kept == lines
    assert len(log_parts(path)) > 10
    assert all(part.stat().st_size <= 1000 for part in log_parts(path))


def test_the_size_is_bounded_and_only_the_oldest_lines_go(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    log = RotatingLog(path, part_bytes=1000, parts=3)
    for number in range(2000):
        log.write(f"line {number}\n".encode())
    log.close()
    parts = log_parts(path)
    assert len(parts) == 4
    assert sum(part.stat().st_size for part in parts) <= 4000
    kept = [line for part in parts for line in part.read_text().splitlines()]
    assert kept == [f"line {number}" for number in range(2000 - len(kept), 2000)]


def test_a_restart_goes_on_in_the_same_part(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    for word in ("first", "second"):
        log = RotatingLog(path)
        log.write(f"{word}\nunfinished".encode())
        log.close()
    assert path.read_text().splitlines() == ["first", "unfinished", "second", "unfinished"]


def test_a_line_without_an_end_is_written_in_pieces_and_does_not_fill_memory(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    log = RotatingLog(path, part_bytes=100_000, parts=2)
    for _ in range(100):
        log.write(b"y" * 10_000)
    assert len(log._pending) < 100_000
    log.close()
    assert sum(part.stat().st_size for part in log_parts(path)) <= 3 * 100_000 + 70_000


def test_what_the_disk_does_not_take_is_counted_and_does_not_stop_the_engine(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    log = RotatingLog(tmp_path / "engine.log")
    log._file = os.open(full, os.O_WRONLY)
    log.write(b"lost\n")
    assert (log.lost_bytes, log.total_bytes) == (5, 5)
    log.close()


def test_the_tail_reads_over_parts(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    log = RotatingLog(path, part_bytes=100, parts=9)
    for number in range(60):
        log.write(f"line {number}\n".encode())
    log.close()
    assert read_tail(path, 20) == [f"line {number}" for number in range(40, 60)]
    assert read_tail(tmp_path / "none.log", 5) == []


def test_only_its_owner_reads_it(tmp_path: Path) -> None:
    RotatingLog(tmp_path / "engine.log").close()
    assert (tmp_path / "engine.log").stat().st_mode & 0o077 == 0
