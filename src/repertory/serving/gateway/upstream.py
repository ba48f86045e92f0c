"""The instances that the gateway sends requests to."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from repertory.engines.profile import EngineKind

__all__ = ("Address", "Upstream")


@dataclass(frozen=True)
class Address:
    """Where an instance answers.

    Attributes:
        base_url: Its address, with or without `/v1` at the end.
        api_key: The bearer key it wants.
    """

    base_url: str
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Upstream:
    """One running instance, as the gateway sees it. Where the list comes from (URLs, the state of `up`) is no matter.

    Attributes:
        id: Its name in metrics and spans.
        address: Where it answers; of one that has to be woken, where it answered last.
        kind: The engine that it runs.
        served_model: The name under which the engine serves its checkpoint; requests are rewritten to it.
        names: Names that clients may use for it beside `served_model`, such as the checkpoint's.
        agents: Names of agents that play on it, such as `coaching/shadow`, each with its priority (lower goes first).
        concurrency: How many requests it runs at once; more wait here, where they can be ordered and cancelled.
        context_tokens: The longest prompt plus answer, when it is known.
        hold: For one that may sleep: waits for its turn, wakes it, keeps it awake inside the block and tells where it
            answers now. It is entered once a request has its place in the queue.
    """

    id: str
    address: Address
    kind: EngineKind
    served_model: str
    names: tuple[str, ...] = ()
    agents: tuple[tuple[str, int], ...] = ()
    concurrency: int = 64
    context_tokens: int | None = None
    hold: Callable[[], AbstractAsyncContextManager[Address]] | None = field(default=None, compare=False, repr=False)
