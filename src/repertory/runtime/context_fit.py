"""What fits into a prompt, counted by the engine that will read it, and what is left out when not everything does.

The shared part is fitted once a turn, for all agents: the oldest history goes first, in blocks, so that the prefix does
not move at every turn. Then each agent's prompt is held against its own budget, and gives up, in this order:

1. history, the oldest turns first (a turn is never cut in two: no answer without its message, no tool call without its
   result);
2. sections of the blackboard that it reads, text before structured facts and the longest first; each leaves a mark;
3. the memory snapshot.

The preamble, the person's message, the agent's instructions and its schema in words are never cut. Every cut is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from repertory.engines.protocol import ChatMessage, Engine
from repertory.errors import ContextBudgetError
from repertory.runtime.cast import Cast
from repertory.runtime.context import SharedContext, private_part, render_section
from repertory.runtime.rules import SectionView
from repertory.runtime.team import Agent, Team

__all__ = ("FittedContext", "FittedPrompt", "PromptParts", "fit_history", "fit_prompt")

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
        longest_answer = max(team.agents[name].output_reserve for name in agents)
        budget = engine.context_tokens - longest_answer - _PRIVATE_RESERVE
        before = await engine.count_tokens(context.messages())
        now = before
        if now > budget:
            context, now = await _shorter(engine, context, "", budget)
            if now > budget:
                raise await _too_long(engine, context, now, budget)
        cut = max(cut, before - now)
        tokens[instance.name] = now
    return FittedContext(context, tokens, cut)


async def _shorter(engine: Engine, context: SharedContext, private: str, budget: int) -> tuple[SharedContext, int]:
    """The context with as little history left out as fits, and its tokens; without any when nothing fits."""
    shorter = [context]
    while (next_one := shorter[-1].without_oldest()) is not None:
        shorter.append(next_one)
    fits, tokens = len(shorter) - 1, await engine.count_tokens(shorter[-1].messages(private))
    low = 0
    while low < fits:  # a search by halves: a long session must not cost a count per block
        middle = (low + fits) // 2
        counted = await engine.count_tokens(shorter[middle].messages(private))
        if counted <= budget:
            fits, tokens = middle, counted
        else:
            low = middle + 1
    return shorter[fits], tokens


async def _too_long(engine: Engine, context: SharedContext, tokens: int, budget: int) -> ContextBudgetError:
    blank = replace(context, message=replace(context.message, text="."))
    rest = await engine.count_tokens(blank.messages())
    message = f"the message is too long: it takes {tokens - rest} tokens, and {max(budget - rest, 0)} are free"
    hint = f"of the context's {engine.context_tokens} tokens preamble and memory take {rest}; shorten the message"
    return ContextBudgetError(message, hint=hint)


@dataclass(frozen=True)
class PromptParts:
    """What the prompt of one agent is made of.

    Attributes:
        name: The agent's name.
        agent: The agent.
        team: Its team.
        shared: The shared context.
        reads: The sections it reads.
        shown: What the team's code shows it of them; None renders the sections.
        last: The prompt's last line.
    """

    name: str
    agent: Agent
    team: Team
    shared: SharedContext
    reads: Mapping[str, SectionView]
    shown: str | None = None
    last: str | None = None

    def private(self, left_out: Sequence[str] = ()) -> str:
        """What this agent alone is shown."""
        return private_part(self.name, self.agent, self.team, self.reads, self.shown, left_out, self.last)


@dataclass(frozen=True)
class FittedPrompt:
    """A prompt within its budget.

    Attributes:
        messages: The prompt.
        tokens: Its size, by the engine's own count.
        cuts: What was left out, each part with its tokens.
    """

    messages: Sequence[ChatMessage]
    tokens: int
    cuts: Sequence[tuple[str, int]] = field(default=())


async def fit_prompt(engine: Engine, parts: PromptParts) -> FittedPrompt:
    """The agent's prompt, cut by rule until it fits its budget.

    Raises:
        ContextBudgetError: What is never cut is over the budget by itself; the error has the numbers.
        EngineError: The engine can not count.
    """
    agent = parts.agent
    room = engine.context_tokens - agent.output_reserve
    budget = min(agent.max_input_tokens or room, room)
    context, private = parts.shared, parts.private()
    messages = context.messages(private)
    tokens = await engine.count_tokens(messages)
    cuts: list[tuple[str, int]] = []
    if tokens > budget and context.history:
        context, now = await _shorter(engine, context, private, budget)
        cuts.append(("history", tokens - now))
        tokens = now
    left_out: list[str] = []
    for section in _longest_first(parts) if tokens > budget else ():
        left_out.append(section)
        private = parts.private(left_out)
        now = await engine.count_tokens(context.messages(private))
        cuts.append((f"section {section}", tokens - now))
        tokens = now
        if tokens <= budget:
            break
    if tokens > budget and context.memory:
        context = replace(context, memory="")
        now = await engine.count_tokens(context.messages(private))
        cuts.append(("memory", tokens - now))
        tokens = now
    if tokens > budget:
        raise await _over_budget(engine, parts, context, tokens, budget)
    return FittedPrompt(context.messages(private), tokens, tuple(cuts))


def _longest_first(parts: PromptParts) -> list[str]:
    """The sections that can be left out: text before structured facts, then by length."""
    if parts.shown is not None:  # the team's code has chosen the words, and bounds them
        return []
    written = [name for name, view in parts.reads.items() if view.value is not None]
    lengths = {name: len(render_section(name, parts.reads[name], "")) for name in written}
    return sorted(written, key=lambda name: (not parts.team.sections[name].text, -lengths[name], name))


async def _over_budget(
    engine: Engine, parts: PromptParts, context: SharedContext, tokens: int, budget: int
) -> ContextBudgetError:
    blank = replace(context, message=replace(context.message, text="."))
    message_tokens = tokens - await engine.count_tokens(blank.messages(parts.private(list(parts.reads))))
    message = (
        f"the prompt of {tokens} tokens is over the budget of {budget}: the message takes {max(message_tokens, 0)}, "
        f"preamble and instructions the rest"
    )
    hint = (
        f"the instance's context is {engine.context_tokens} tokens, {parts.agent.output_reserve} are kept for the "
        "answer; shorten the message or the instructions, or raise the budget"
    )
    return ContextBudgetError(message, where=f"agent {parts.name}", hint=hint)
