"""The small file that says which blob a name stands for."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from repertory.engines.model_store.layout import StoreLayout, write_atomically
from repertory.errors import UsageError

__all__ = ("FileStamp", "StoredModel", "check_name", "list_manifests", "name_from", "read_manifest", "write_manifest")

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


class FileStamp(BaseModel):
    """What the file system says about a file; as long as it stays the same, the checksum need not be computed again."""

    model_config = ConfigDict(frozen=True)

    bytes: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> "FileStamp":
        """The stamp of a file as it is now."""
        status = path.stat()
        return cls(bytes=status.st_size, modified_ns=status.st_mtime_ns, changed_ns=status.st_ctime_ns)


class StoredModel(BaseModel):
    """A model in the store.

    Attributes:
        name: Its name.
        file: The file name it had at its source.
        bytes: Size.
        sha256: Checksum.
        licence: SPDX identifier; None when nobody told us.
        source: Where it came from.
        added: When, ISO 8601.
        stamp: The blob's stamp when its checksum was last found right.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    file: str
    bytes: int
    sha256: str
    licence: str | None
    source: str
    added: str
    stamp: FileStamp


def now() -> str:
    """The current time for `StoredModel.added`."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def check_name(name: str) -> str:
    """Accept a name for the store.

    Raises:
        UsageError: It could not be a file name everywhere.
    """
    if not _NAME.fullmatch(name):
        hint = "use lower-case letters, digits, '.', '_' and '-', at most 100, starting with a letter or digit"
        message = f"{name!r} can not be the name of a model"
        raise UsageError(message, hint=hint)
    return name


def name_from(file_name: str) -> str:
    """A name for the store made from a file's name."""
    stem = file_name.removesuffix(".gguf") if file_name.endswith(".gguf") else file_name.rsplit(".", 1)[0]
    name = re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("-._")[:100]
    return name or "model"


def looks_like_file(what: str) -> bool:
    """Whether a model is named by a path rather than by a name."""
    return os.sep in what or what.startswith(("~", ".")) or (what.endswith(".gguf") and Path(what).is_file())


def write_manifest(layout: StoreLayout, model: StoredModel) -> None:
    """Put a model's manifest into the store, atomically."""
    write_atomically(layout.names / f"{check_name(model.name)}.json", model.model_dump_json(indent=2).encode() + b"\n")


def read_manifest(layout: StoreLayout, name: str) -> StoredModel | None:
    """A model's manifest; None when there is none, or none that can be read."""
    if not _NAME.fullmatch(name):
        return None
    try:
        model = StoredModel.model_validate_json((layout.names / f"{name}.json").read_bytes())
    except (OSError, ValidationError):
        return None
    # The checksum becomes a path: a manifest that somebody wrote by hand must not lead elsewhere.
    return model if re.fullmatch(r"[0-9a-f]{64}", model.sha256) and model.name == name else None


def list_manifests(layout: StoreLayout) -> list[StoredModel]:
    """All manifests, by name."""
    try:
        names = sorted(entry[: -len(".json")] for entry in os.listdir(layout.names) if entry.endswith(".json"))  # noqa: PTH208 - names, not paths
    except OSError:
        return []
    return [model for name in names if (model := read_manifest(layout, name)) is not None]
