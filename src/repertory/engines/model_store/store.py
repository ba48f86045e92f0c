"""The model store: what is there, where it is, whether it is still right, and how it goes away."""

import contextlib
import shutil
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from repertory.catalog.checkpoint_files import checkpoint_files, find_checkpoint_file, unknown_model
from repertory.engines.model_store.layout import StoreLayout, hash_file
from repertory.engines.model_store.manifest import (
    FileStamp,
    StoredModel,
    list_manifests,
    read_manifest,
    write_manifest,
)
from repertory.engines.model_store.progress import Progress, PullProgress, silent
from repertory.errors import ModelStoreError, UsageError
from repertory.home import Home, locate_home

__all__ = ("ModelEntry", "ModelState", "ModelStore", "VerifyResult")


class ModelState(StrEnum):
    """How much of a model is here."""

    PRESENT = "present"
    PARTIAL = "partial"
    AVAILABLE = "available"


class ModelEntry(NamedTuple):
    """One line of the list: a model in the store or one that can be pulled."""

    name: str
    file: str
    bytes: int
    sha256: str
    licence: str | None
    state: ModelState
    path: Path | None
    source: str | None
    context_tokens: int | None
    memory_bytes: int | None


class VerifyResult(NamedTuple):
    """What `verify` found; `found` is None when the file is gone."""

    name: str
    ok: bool
    expected: str
    found: str | None


class ModelStore:
    """Model files by checksum.

    Args:
        home: Whose model store; by default the user's.

    Attributes:
        layout: Where it keeps what.
        hub_down: Why the hub is not asked again in this run; None as long as it answers.
    """

    def __init__(self, home: Home | None = None) -> None:
        self.layout = StoreLayout((home or locate_home()).models)
        self.hub_down: str | None = None

    def entries(self) -> list[ModelEntry]:
        """The models that are here, and those that can be pulled by name."""
        stored = {model.name: model for model in list_manifests(self.layout)}
        entries: list[ModelEntry] = []
        for known in checkpoint_files():
            model = stored.pop(known.name, None)
            entries.append(
                ModelEntry(
                    name=known.name,
                    file=known.file,
                    bytes=known.bytes,
                    sha256=known.sha256,
                    licence=known.licence,
                    state=self._state(model, known.sha256),
                    path=self._blob_of(model),
                    source=model.source if model else None,
                    context_tokens=known.context_tokens,
                    memory_bytes=known.memory_bytes,
                )
            )
        for model in stored.values():
            path = self._blob_of(model)
            if path is not None:
                entries.append(
                    ModelEntry(
                        model.name, model.file, model.bytes, model.sha256, model.licence, ModelState.PRESENT, path,
                        model.source, None, None,
                    )
                )  # fmt: skip
        return entries

    def present(self) -> list[ModelEntry]:
        """The models that are here."""
        return [entry for entry in self.entries() if entry.state is ModelState.PRESENT]

    def find(self, name: str) -> StoredModel | None:
        """The stored model of this name, alias, file name or checksum; None when it is not here."""
        known = find_checkpoint_file(name)
        model = read_manifest(self.layout, known.name if known else name.strip().lower())
        return model if self._blob_of(model) is not None else None

    def path_of(self, name: str) -> Path:
        """The file of a model that is here, without any network.

        A file that changed since its checksum was last found right is checked again.

        Raises:
            UsageError: No such model is known.
            ModelStoreError: It is known but not here, or its file has been changed.
        """
        model = self.find(name)
        if model is None:
            known = find_checkpoint_file(name)
            if known is None:
                raise unknown_model(name, self.other_names())
            message = f"the model {known.name} is not here yet"
            raise ModelStoreError(message, hint=f"repertory models pull {known.name}")
        return self.intact_path(model)

    def intact_path(self, model: StoredModel, progress: Progress = silent) -> Path:
        """The blob of a stored model, hashed again if its stamp changed.

        Raises:
            ModelStoreError: It is not the right file any more. It is removed: nobody may use it by mistake.
        """
        path = self.layout.blob(model.sha256)
        try:
            stamp = FileStamp.of(path)
            if stamp == model.stamp:
                return path
            found = hash_file(path, _checking(model, progress))
        except OSError as error:
            message = f"the file of {model.name} can not be read: {error.strerror or error}"
            raise ModelStoreError(message, where=str(path)) from error
        if found != model.sha256:
            self._drop_blob(model.sha256)
            message = f"{model.name} has been changed: expected SHA-256 {model.sha256}, found {found}; it was removed"
            raise ModelStoreError(message, where=str(path), hint=f"repertory models pull {model.name}")
        with contextlib.suppress(OSError, ModelStoreError):  # a store that can only be read costs a hash each time
            write_manifest(self.layout, model.model_copy(update={"stamp": stamp}))
        return path

    def verify(self, names: Sequence[str] = (), progress: Progress = silent) -> list[VerifyResult]:
        """Compute the checksums of the named models, or of all. A wrong file is removed.

        Raises:
            UsageError: A named model is not here.
        """
        return [self._verify_one(model, progress) for model in self._named(names)]

    def remove(self, name: str) -> int:
        """Remove a model, or what is here of an unfinished one.

        Returns:
            Bytes that were freed; 0 when another name still stands for the same file.

        Raises:
            UsageError: It is not here.
        """
        known = find_checkpoint_file(name)
        model = read_manifest(self.layout, known.name if known else name.strip().lower())
        sha256 = model.sha256 if model else known.sha256 if known else None
        if sha256 is None or not (model or self.layout.partial(sha256).exists()):
            raise self._not_here(name)
        with self.layout.lock(sha256, lambda: None):
            freed = _size(self.layout.partial(sha256) / "data")
            shutil.rmtree(self.layout.partial(sha256), ignore_errors=True)
            if model is not None:
                (self.layout.names / f"{model.name}.json").unlink(missing_ok=True)
                freed += self.drop_unnamed(sha256)
        return freed

    def pull(self, what: str, *, as_name: str | None = None, progress: Progress = silent) -> StoredModel:
        """Make sure that a model is here: a catalog name, a GGUF file, or `hf:ORGANISATION/REPOSITORY/FILE.gguf`.

        Args:
            what: The model.
            as_name: The name to keep it under, for what is not in the catalog.
            progress: Gets reports.

        Raises:
            UsageError: No such model, or a name that can not be.
            ModelStoreError: It can not be had, or is not the right file.
        """
        from repertory.engines.model_store.pull import Pull  # noqa: PLC0415 - it builds on this module

        return Pull(self, progress).run(what, as_name)

    def drop_unnamed(self, sha256: str) -> int:
        """Remove a blob that no name stands for any more, and tell its size."""
        if any(model.sha256 == sha256 for model in list_manifests(self.layout)):
            return 0
        size = _size(self.layout.blob(sha256))
        self._drop_blob(sha256)
        return size

    def _verify_one(self, model: StoredModel, progress: Progress) -> VerifyResult:
        path = self.layout.blob(model.sha256)
        try:
            stamp = FileStamp.of(path)
            found = hash_file(path, _checking(model, progress))
        except OSError:
            return VerifyResult(model.name, ok=False, expected=model.sha256, found=None)
        if found != model.sha256:
            self._drop_blob(model.sha256)
            return VerifyResult(model.name, ok=False, expected=model.sha256, found=found)
        with contextlib.suppress(OSError, ModelStoreError):
            write_manifest(self.layout, model.model_copy(update={"stamp": stamp}))
        return VerifyResult(model.name, ok=True, expected=model.sha256, found=found)

    def _named(self, names: Sequence[str]) -> list[StoredModel]:
        if not names:
            return list_manifests(self.layout)
        models: list[StoredModel] = []
        for name in names:
            known = find_checkpoint_file(name)
            model = read_manifest(self.layout, known.name if known else name.strip().lower())
            if model is None:
                raise self._not_here(name)
            models.append(model)
        return models

    def _not_here(self, name: str) -> UsageError:
        known = find_checkpoint_file(name)
        if known is None:
            return unknown_model(name, self.other_names())
        return UsageError(f"the model {known.name} is not here", hint="`repertory models list` shows what is")

    def other_names(self) -> tuple[str, ...]:
        """Names in the store that are not in the catalog."""
        return tuple(model.name for model in list_manifests(self.layout) if find_checkpoint_file(model.name) is None)

    def _state(self, model: StoredModel | None, sha256: str) -> ModelState:
        if self._blob_of(model) is not None:
            return ModelState.PRESENT
        return ModelState.PARTIAL if self.layout.partial(sha256).exists() else ModelState.AVAILABLE

    def _blob_of(self, model: StoredModel | None) -> Path | None:
        if model is None:
            return None
        blob = self.layout.blob(model.sha256)
        return blob if blob.is_file() else None

    def _drop_blob(self, sha256: str) -> None:
        with contextlib.suppress(OSError):
            self.layout.blob(sha256).unlink(missing_ok=True)


def _size(path: Path) -> int:
    """Bytes that a file takes on the disk: an unfinished one may have holes."""
    with contextlib.suppress(OSError):
        status = path.stat()
        return min(status.st_size, status.st_blocks * 512)
    return 0


def _checking(model: StoredModel, progress: Progress) -> Callable[[int], None]:
    return lambda done: progress(PullProgress(model.name, done, model.bytes, "checking"))
