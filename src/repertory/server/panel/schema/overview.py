"""The load: instances, agents at work, sums. Numbers are measured, or null; none is invented."""

from datetime import datetime
from typing import Literal

from repertory.server.panel.schema.base import Answer

__all__ = ("AgentAtWork", "InstanceLoad", "Overview", "Totals")


class InstanceLoad(Answer):
    """One instance as it is now."""

    id: str
    """Its name in the plan."""
    model: str
    """The model it serves."""
    checkpoint: str | None
    """Repository, folder or file of its weights; null where the engine does not tell."""
    engine: str
    """The program that serves it, such as `llama.cpp` or `vllm`."""
    state: Literal["waiting", "starting", "ready", "asleep", "backing_off", "failed", "stopped", "not_answering"]
    """Where it is in its life; `not_answering`: requests to it failed lately."""
    agents: list[str]
    """The agents that play on it, as `team/agent`."""
    devices: list[str]
    """The devices it uses, as the plan calls them; empty where nobody planned it."""
    predicted_gib: float | None
    """Memory on each device that the plan predicts."""
    measured_gib: float | None
    """Memory on each device that was measured."""
    running: int | None
    """Requests that it works on now."""
    waiting: int | None
    """Requests that wait for it."""
    slots: int | None
    """How many requests it works on at once."""
    prefill_tok_s: float | None
    """Prompt tokens computed per second of reading, in the median of the turns' last calls; null when there were
    none in five minutes."""
    decode_tok_s: float | None
    """Tokens written per second and call, likewise."""
    first_token_s: float | None
    """Seconds from a call to its first token, likewise."""
    cache_hit_share: float | None
    """Share of the prompt tokens, 0..1, that the engine had computed before, likewise."""
    restarts: int | None
    """Starts after the first one that were not asked for; null where it is not supervised."""
    reason: str | None
    """What happens, or why it failed, in words."""
    advice: str | None
    """What to do about a failure."""


class AgentAtWork(Answer):
    """One agent of a turn that runs."""

    team: str
    agent: str
    state: Literal["waiting", "reading", "writing"]
    """`waiting` for sections of others, `reading` its prompt (prefill), `writing` its answer (decode)."""
    turn: str
    """The turn's id."""
    since: datetime
    """When it got into this state."""
    instance: str | None
    """Where it plays; null while it waits."""


class Totals(Answer):
    """Sums over everything the caller may see."""

    turns_running: int
    agents_working: int
    agents_waiting: int
    turns_finished: int
    """Turns that ended since the server started."""
    prompt_tokens: int
    """Prompt tokens of the turns' agents since the server started."""
    cached_tokens: int
    """How many of them the engines had computed before."""
    output_tokens: int
    """Tokens that the turns' agents wrote since the server started."""
    requests_running: int | None
    """Requests at all instances now; null for callers who are no administrators."""
    requests_waiting: int | None
    """Requests that wait for an instance; null likewise."""


class Overview(Answer):
    """Everything that the first page shows."""

    at: datetime
    started_at: datetime
    """When the server started."""
    supervised: bool
    """Whether a supervisor restarts the instances."""
    instances: list[InstanceLoad]
    """All instances for administrators; empty for others."""
    working: list[AgentAtWork]
    """The agents at work: of all turns for administrators, of their own for others."""
    totals: Totals
