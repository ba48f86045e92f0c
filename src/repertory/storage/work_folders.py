"""Where working folders of agents that programs run are kept: one folder for each person, so that it can be erased."""

import hashlib
import shutil
from pathlib import Path

from repertory.errors import StorageError

__all__ = ("erase_work_folders", "folder_name", "work_folder_of_user")


def folder_name(*ids: str) -> str:
    """A name for a folder. Ids may hold any text, so none is ever part of a path."""
    return hashlib.sha256("\0".join(ids).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def work_folder_of_user(root: Path, user: str) -> Path:
    """The folder that holds all of a person's working folders."""
    return root / folder_name(user)


def erase_work_folders(root: Path, user: str) -> None:
    """Remove a person's working folders, with whatever programs have left in them. Blocks.

    Raises:
        StorageError: They can not be removed.
    """
    folder = work_folder_of_user(root, user)
    if not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except OSError as error:
        message = f"the working folders of the person can not be removed: {error.strerror or error}"
        raise StorageError(message, where=str(folder), hint="remove that folder") from None
