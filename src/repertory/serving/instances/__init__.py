"""Instances that stay up: a supervisor in the background starts, proves, watches, swaps and ends engines.

`directory` is what senders of requests need; `commands` is what `up`, `down` and `status` do. Names are loaded on first
use, because the small process beside each engine lives in this package, too.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repertory.serving.instances.directory import InstanceDirectory, RunningInstance
    from repertory.serving.instances.records import InstanceSpec, InstanceState, InstanceStatus, ServingState

__all__ = (
    "InstanceDirectory",
    "InstanceSpec",
    "InstanceState",
    "InstanceStatus",
    "RunningInstance",
    "ServingState",
)

_HOMES = {
    "InstanceDirectory": "directory",
    "InstanceSpec": "records",
    "InstanceState": "records",
    "InstanceStatus": "records",
    "RunningInstance": "directory",
    "ServingState": "records",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
