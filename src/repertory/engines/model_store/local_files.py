"""Model files that the user already has in some folder: a source without any network."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from repertory.catalog.checkpoint_files import CheckpointFile

__all__ = ("FOLDERS_VARIABLE", "local_candidates")

FOLDERS_VARIABLE = "REPERTORY_MODEL_FILES"


def local_candidates(entry: CheckpointFile) -> Iterator[Path]:
    """Files of the right name and size in the folders of `REPERTORY_MODEL_FILES`."""
    for folder in filter(None, os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep)):
        for name in (entry.file, f"{entry.name}.gguf"):
            path = Path(folder).expanduser() / name
            with contextlib.suppress(OSError):
                if path.is_file() and path.stat().st_size == entry.bytes:
                    yield path
