"""How much of a session's history fits, counted by the engines that will read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from repertory.engines.protocol import Engine
from repertory.errors import ContextBudgetError
from repertory.runtime.cast import Cast
from repertory.runtime.context import SharedContext
from repertory.runtime.team import Team

__all__ = ("FittedContext", "fit_history")

_PRIVATE_RESERVE = 900
"""Tokens of the context that are kept free of shared prefix for what one agent alone is shown."""


@dataclass(frozen=True)
class FittedContext:
    """The shared context that all instances can read.

    Attributes:
        context: The context, its oldest history left out where it had to be.
        tokens: Its size per instance, by the instance's own count.
        cut_tokens: Tokens of history left out.
    """

    context: SharedContext
    tokens: Mapping[str, int]
    cut_tokens: int


async def fit_history(whole: SharedContext, team: Team, cast: Cast, order: Sequence[str]) -> FittedContext:
    """Leave out the oldest history until every instance has room for the context, the private parts and the answers.

    The person's message, the preamble and the memory are never cut.

    Raises:
        ContextBudgetError: The message alone does not fit; the error has the numbers.
        EngineError: An engine can not count.
    """
    context, cut, tokens = whole, 0, dict[str, int]()
    for instance, agents in cast.groups(order):
        engine = instance.engine
        longest_answer = max(team.agents[name].max_output_tokens for name in agents)
        budget = engine.context_tokens - longest_answer - _PRIVATE_RESERVE
        before = now = await engine.count_tokens(context.messages())
        while now > budget:
            shorter = context.without_oldest()
            if shorter is None:
                raise await _too_long(engine, context, now, budget)
            context, now = shorter, await engine.count_tokens(shorter.messages())
        cut = max(cut, before - now)
        tokens[instance.name] = now
    return FittedContext(context, tokens, cut)


async def _too_long(engine: Engine, context: SharedContext, tokens: int, budget: int) -> ContextBudgetError:
    blank = replace(context, message=replace(context.message, text="."))
    rest = await engine.count_tokens(blank.messages())
    message = f"the message is too long: it takes {tokens - rest} tokens, and {max(budget - rest, 0)} are free"
    hint = f"of the context's {engine.context_tokens} tokens preamble and memory take {rest}; shorten the message"
    return ContextBudgetError(message, hint=hint)
