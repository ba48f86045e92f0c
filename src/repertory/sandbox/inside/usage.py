"""How much a call has put into the folders that it may write."""

import os
from collections.abc import Mapping
from typing import Any

__all__ = ("too_much",)


def too_much(scratch: str, state: str, limits: Mapping[str, Any]) -> bool:
    """Whether the temporary folder holds too many files, or the state folder too many or too much.

    The size of the temporary folder is that of its file system, so the kernel watches it.
    """
    system = os.statvfs(scratch)
    if system.f_files - system.f_ffree > limits["scratch_files"]:
        return True
    return limits["state"] and not _fits(state, limits["state_files"], limits["state_bytes"])


def _fits(folder: str, max_files: int, max_bytes: int) -> bool:
    """Count a folder, giving up as soon as it is too much."""
    files = size = 0
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
                    if files > max_files or size > max_bytes:
                        return False
        except FileNotFoundError:
            continue  # the code deletes while we count
        except OSError:
            return False  # a folder that hides what is in it
    return True
