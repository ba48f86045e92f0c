"""Keeping what an embedded engine has computed beyond its own life."""

import hashlib
import json
import re
from pathlib import Path

from repertory.engines.embedded.launcher import RunningEngine
from repertory.engines.kept_prefixes import KeptPrefixes
from repertory.home import Home, locate_home
from repertory.storage.prefix_states import PrefixStates

__all__ = ("keep_prefixes",)

_GIB = 1024**3
_KV_TYPE = "f16/f16"
"""Of keys and values; llama.cpp's default, which the embedded server leaves as it is."""
_STORED = re.compile(r"sha256-[0-9a-f]{64}")
_EDGE_BYTES = 4 * 1024 * 1024


def keep_prefixes(running: RunningEngine, budget_gib: float | None, home: Home | None = None) -> KeptPrefixes | None:
    """What keeps an engine's computed prefixes, for `repertory.engines.connect.connect`; None when it is turned off.

    Blocks.

    Args:
        running: The engine.
        budget_gib: How much all kept states may take; 0 turns it off, None takes a default by the free disk.
        home: Where they are kept.
    """
    folder = (home or locate_home()).prefixes
    states = PrefixStates(folder, None if budget_gib is None else int(budget_gib * _GIB))
    if states.budget_bytes <= 0:
        return None
    states.sweep()
    return KeptPrefixes(states, engine=_engine_key(running), slot_folder=running.slot_folder)


def _engine_key(running: RunningEngine) -> str:
    """A state is of use only to the same build with the same checkpoint and the same type of KV cache."""
    parts = [running.version, _checkpoint(running.model_path), _KV_TYPE]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _checkpoint(path: Path) -> str:
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
