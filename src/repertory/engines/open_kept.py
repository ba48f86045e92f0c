"""Opens what keeps the computed prefixes of one llama.cpp, for whoever started it."""

import hashlib
import json
import re
from pathlib import Path

from repertory.engines.kept_prefixes import KeptPrefixes
from repertory.home import Home, locate_home
from repertory.storage.prefix_states import PrefixStates

__all__ = ("open_kept_prefixes",)

_GIB = 1024**3
_STORED = re.compile(r"sha256-[0-9a-f]{64}")
_EDGE_BYTES = 4 * 1024 * 1024


def open_kept_prefixes(
    checkpoint: Path,
    *,
    build: str,
    settings: str,
    slot_folder: Path,
    budget_gib: float | None,
    home: Home | None = None,
) -> KeptPrefixes | None:
    """What keeps an engine's computed prefixes, for `repertory.engines.connect.connect`; None when it is turned off.

    Blocks. A state is of use only to the same build with the same checkpoint and the same settings.

    Args:
        checkpoint: The GGUF file.
        build: The engine's version.
        settings: Whatever else a state depends on, such as the type of the KV cache.
        slot_folder: Where the engine writes and reads states; ours alone.
        budget_gib: How much all kept states of a home may take; 0 turns it off, None takes a default by the free disk.
        home: Where they are kept.
    """
    folder = (home or locate_home()).prefixes
    states = PrefixStates(folder, None if budget_gib is None else int(budget_gib * _GIB))
    if states.budget_bytes <= 0:
        return None
    states.sweep()
    parts = [build, _identity(checkpoint), settings]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return KeptPrefixes(states, engine=key, slot_folder=slot_folder)


def _identity(path: Path) -> str:
    """The hash by which the model store names a file; for another file, of its edges and of when it was changed."""
    if _STORED.fullmatch(path.name):
        return path.name
    status = path.stat()
    digest = hashlib.sha256(f"{status.st_size} {status.st_mtime_ns}".encode())
    with path.open("rb") as file:
        digest.update(file.read(_EDGE_BYTES))  # the head with the metadata
        file.seek(max(0, status.st_size - _EDGE_BYTES))
        digest.update(file.read(_EDGE_BYTES))
    return digest.hexdigest()
