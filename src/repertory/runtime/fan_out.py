"""How the agents of a turn are sent to one instance so that their shared prefix is computed once.

Three ways, by what the engine can do (`EngineProfile.fan_out`):

* all at once: the engine itself shares a prefix that is still being computed (vLLM);
* copy the slot: the prefix is computed in one slot and its state copied into the others (llama.cpp);
* prime: the first reply goes first and the others follow (unknown engines).

The person's words come first: where the engine computes slowly (a CPU), the prompts of the other agents would stop the
first reply in the middle of its words, so they are held until it has ended.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from repertory.engines.profile import FanOut
from repertory.engines.protocol import ChatMessage, Engine, PrefixCopier, PrefixKeeper, PrefixState, TokenUsage

__all__ = ("InstanceFanOut", "PrefixReport")

_STALL_S = 1.0
"""The longest pause in the first reply's stream that another agent's prefill may cause."""

_USUAL_PRIVATE_TOKENS = 250
"""Prompt tokens that an agent adds to the shared prefix, for the estimate of that pause."""


@dataclass(frozen=True)
class PrefixReport:
    """What computing the shared prefix cost."""

    usage: TokenUsage
    seconds: float


@dataclass
class InstanceFanOut:
    """The fan-out of one turn's agents on one instance.

    Args:
        engine: The instance.
        agents: Names of the agents that run on it, best priority first; the first reply's agent leads if it is here.
        leads: Whether the first of them writes the first reply.
        owner: The user whose turn it is, for engines that keep what they computed until the session comes back.
    """

    engine: Engine
    agents: Sequence[str]
    leads: bool
    owner: str | None = None
    _state: PrefixState | None = None
    _first_token: asyncio.Event = field(default_factory=asyncio.Event)
    _first_reply: asyncio.Event = field(default_factory=asyncio.Event)
    _prefill_tok_s: float | None = None

    @property
    def way(self) -> FanOut:
        """The way that is used: the profile's, unless the instance has too few slots for it."""
        way = self.engine.profile.fan_out
        if way is FanOut.COPY_SLOT and not (
            isinstance(self.engine, PrefixCopier) and self.engine.slots >= len(self.agents)
        ):
            return FanOut.PRIME
        return way

    def slot_of(self, agent: str) -> int | None:
        """The slot an agent's requests go to; None where slots are not named."""
        return self.agents.index(agent) if self.way is FanOut.COPY_SLOT else None

    async def share_prefix(self, messages: Sequence[ChatMessage], deadline_s: float) -> PrefixReport | None:
        """Compute the shared prefix ahead of the fan-out, where that is the engine's way; None where it is not."""
        engine = self.engine
        if self.way is not FanOut.COPY_SLOT or not isinstance(engine, PrefixCopier):
            return None
        began = time.monotonic()
        state = await engine.compute_prefix(messages, slot=0, deadline_s=deadline_s, owner=self.owner)
        computed_s = time.monotonic() - began
        for slot in range(1, len(self.agents)):
            await engine.restore_prefix(state, slot=slot)
        if isinstance(engine, PrefixKeeper):
            engine.set_aside_prefix(state)
            self._state = state
        if state.usage.prefill > 64:
            self._prefill_tok_s = state.usage.prefill / max(computed_s, 1e-6)
        return PrefixReport(state.usage, time.monotonic() - began)

    def keep_prefix(self) -> None:
        """Let the engine keep what it computed, now that nobody waits for it any more."""
        if self._state is not None and isinstance(self.engine, PrefixKeeper):
            self.engine.keep_prefix(self._state)
            self._state = None

    async def turn_of(self, agent: str) -> None:
        """Wait until an agent's request may go to the engine."""
        if not self.leads or agent == self.agents[0] or self.way is FanOut.ALL_AT_ONCE:
            return
        await (self._first_reply if self._would_stall() else self._first_token).wait()

    def _would_stall(self) -> bool:
        if self._prefill_tok_s is None:
            return False
        return (len(self.agents) - 1) * _USUAL_PRIVATE_TOKENS / self._prefill_tok_s > _STALL_S

    def saw_first_token(self, agent: str) -> None:
        """An agent's first token has arrived."""
        if agent == self.agents[0]:
            self._first_token.set()

    def ended(self, agent: str) -> None:
        """An agent is done or has failed; whoever waited for its words goes on."""
        if agent == self.agents[0]:
            self._first_token.set()
            self._first_reply.set()
