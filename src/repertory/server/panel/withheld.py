"""Events without the words of people, models and code: what somebody may see who watches the load, and no more.

Every kind of event says here which of its fields are plain facts. A kind that is not listed is not shown at all, so
that a new one can not let words out by mistake.
"""

from repertory.runtime.events import (
    AgentDelta,
    AgentFinished,
    AgentFirstToken,
    AgentProgress,
    AgentQueued,
    AgentRepair,
    AgentStarted,
    ContextCut,
    EventBase,
    HarnessFinished,
    MergeDone,
    PrefixComputed,
    SectionWritten,
    TurnEvent,
    TurnFinished,
    TurnResumed,
    TurnStarted,
)

__all__ = ("without_words",)

_AS_THEY_ARE: tuple[type[EventBase], ...] = (
    AgentFirstToken, AgentProgress, AgentQueued, AgentStarted, ContextCut, HarnessFinished, PrefixComputed,
    SectionWritten, TurnResumed, TurnStarted,
)  # fmt: skip


def without_words(event: TurnEvent) -> TurnEvent | None:
    """The event without words; None when nothing would be left of it."""
    if isinstance(event, _AS_THEY_ARE):
        return event
    if isinstance(event, AgentRepair):
        return event.model_copy(update={"problems": ()})
    if isinstance(event, AgentFinished | TurnFinished):
        return event.model_copy(update={"reason": None})
    if isinstance(event, MergeDone):
        return event.model_copy(update={"blocked_moves": ()})
    if isinstance(event, AgentDelta):
        return event.model_copy(update={"text": ""})
    return None
