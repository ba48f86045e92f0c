"""Keeping what an embedded engine has computed beyond its own life."""

from repertory.engines.embedded.launcher import RunningEngine
from repertory.engines.kept_prefixes import KeptPrefixes
from repertory.engines.open_kept import open_kept_prefixes
from repertory.home import Home

__all__ = ("keep_prefixes",)

_KV_TYPE = "f16/f16"
"""Of keys and values; llama.cpp's default, which the embedded server leaves as it is."""


def keep_prefixes(running: RunningEngine, budget_gib: float | None, home: Home | None = None) -> KeptPrefixes | None:
    """What keeps an engine's computed prefixes, for `repertory.engines.connect.connect`; None when it is turned off.

    Blocks.

    Args:
        running: The engine.
        budget_gib: How much all kept states may take; 0 turns it off, None takes a default by the free disk.
        home: Where they are kept.
    """
    return open_kept_prefixes(
        running.model_path,
        build=running.version,
        settings=_KV_TYPE,
        slot_folder=running.slot_folder,
        budget_gib=budget_gib,
        home=home,
    )
