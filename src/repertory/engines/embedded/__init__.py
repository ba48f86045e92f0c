"""The embedded engine: llama.cpp from the `xllamacpp` wheel, in a process of its own.

`launcher` starts and stops it; `server` is what runs in the child process, and the only module that imports xllamacpp.
Names are loaded on first use, so that the child does not load what only the parent needs.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repertory.engines.embedded.default_model import Choice, MachineSize, choose_default_model, machine_size
    from repertory.engines.embedded.gguf_header import GgufHeader, read_gguf_header
    from repertory.engines.embedded.kept import keep_prefixes
    from repertory.engines.embedded.launcher import EmbeddedEngine, RunningEngine

__all__ = (
    "Choice",
    "EmbeddedEngine",
    "GgufHeader",
    "MachineSize",
    "RunningEngine",
    "choose_default_model",
    "keep_prefixes",
    "machine_size",
    "read_gguf_header",
)

_HOMES = {
    "Choice": "default_model",
    "EmbeddedEngine": "launcher",
    "GgufHeader": "gguf_header",
    "MachineSize": "default_model",
    "RunningEngine": "launcher",
    "choose_default_model": "default_model",
    "keep_prefixes": "kept",
    "machine_size": "default_model",
    "read_gguf_header": "gguf_header",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
