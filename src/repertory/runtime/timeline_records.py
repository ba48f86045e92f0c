"""What a turn's timeline is made of. All times are seconds since the turn began; None is what has not happened."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = ("AgentStatus", "AgentTimeline", "Attempt", "Cut", "PrefixTimeline", "ProgramCall", "Repair", "Timeline")

AgentStatus = Literal["pending", "waiting", "running", "done", "failed", "late", "skipped", "fallback"]
"""`pending`: nothing has happened yet; `waiting`: it waits for sections; the last five: how it ended."""


@dataclass(frozen=True)
class Attempt:
    """One request of an agent to its instance: prefill until `first_token_s`, then decode until `end_s`."""

    number: int
    instance: str
    start_s: float
    prompt_tokens: int
    first_token_s: float | None = None
    end_s: float | None = None


@dataclass(frozen=True)
class Repair:
    """An answer that was not usable, with the problems the agent was shown."""

    at_s: float
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Cut:
    """A part of an agent's context that did not fit its budget."""

    part: str
    tokens: int


@dataclass(frozen=True)
class ProgramCall:
    """A call of the program that runs an agent: what it asked for, and what it added to the agent's prompt."""

    harness: str
    status: str
    seconds: float
    requests: int
    added_tokens: int
    added_sent: bool
    shared_prefix: bool


@dataclass(frozen=True)
class AgentTimeline:
    """What one agent did in the turn.

    Attributes:
        agent: The agent's name.
        status: How far it is, or how it ended.
        reason: Why it failed, was late or was skipped.
        queued_s: When it began to wait for sections.
        start_s: When its first request went to its instance.
        first_token_s: When the first token of its first answer came.
        end_s: When it was done.
        attempts: How many requests were made.
        prompt_tokens: Tokens of all its prompts.
        cached_tokens: How many of them the engine had computed before.
        output_tokens: Tokens of all its answers.
        waits_for: The sections it waited for.
        section: The section it wrote, None when it wrote none.
        version: The section's version.
        written_s: When the section was on the blackboard.
        tries: Its requests, in order.
        repairs: Its unusable answers, in order.
        cuts: What was left out of its context.
        programs: Calls of the program that runs it, where another harness than ours does.
    """

    agent: str
    status: AgentStatus = "pending"
    reason: str | None = None
    queued_s: float | None = None
    start_s: float | None = None
    first_token_s: float | None = None
    end_s: float | None = None
    attempts: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    waits_for: tuple[str, ...] = ()
    section: str | None = None
    version: int | None = None
    written_s: float | None = None
    tries: tuple[Attempt, ...] = ()
    repairs: tuple[Repair, ...] = ()
    cuts: tuple[Cut, ...] = ()
    programs: tuple[ProgramCall, ...] = ()

    @property
    def prefill_tokens(self) -> int:
        """Prompt tokens that were computed for this agent."""
        return max(0, self.prompt_tokens - self.cached_tokens)


@dataclass(frozen=True)
class PrefixTimeline:
    """The computation of the shared prefix, before the fan-out."""

    start_s: float
    end_s: float
    tokens: int
    cached_tokens: int

    @property
    def prefill_tokens(self) -> int:
        """Tokens of the prefix that were computed."""
        return max(0, self.tokens - self.cached_tokens)


@dataclass(frozen=True)
class Timeline:
    """One turn over time.

    Attributes:
        turn: The turn's id; empty when there are no events.
        team: The team's name.
        user: The user's id.
        session: The session's id.
        status: How the turn ended, or `running`.
        reason: Why it ended so.
        safety_level: The level that took the turn away from the agents, None when it was not.
        first_token_s: When the person saw the first words; where the stream of words was not kept, the first token of
            any agent.
        first_reply_s: When the first reply was final.
        reply_s: When the full reply was final.
        end_s: When the turn ended, or the time of its last event.
        agents: The agents, in the order of the team.
        prefix: The shared prefix, None when it was not computed on its own.
        claims: Claims that the merge took in.
        conflicts: Conflicts that the merge settled.
        blocked_moves: Moves that the merge blocked.
        code_sections: Sections that the team's code wrote, with their versions.
    """

    turn: str = ""
    team: str = ""
    user: str = ""
    session: str = ""
    status: str = "running"
    reason: str | None = None
    safety_level: str | None = None
    first_token_s: float | None = None
    first_reply_s: float | None = None
    reply_s: float | None = None
    end_s: float = 0.0
    agents: tuple[AgentTimeline, ...] = ()
    prefix: PrefixTimeline | None = None
    claims: int = 0
    conflicts: int = 0
    blocked_moves: tuple[str, ...] = ()
    code_sections: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def prefill_tokens(self) -> int:
        """Prompt tokens that were computed in the whole turn."""
        return sum(agent.prefill_tokens for agent in self.agents) + (self.prefix.prefill_tokens if self.prefix else 0)

    @property
    def cached_tokens(self) -> int:
        """Prompt tokens that the engines had computed before."""
        return sum(agent.cached_tokens for agent in self.agents) + (self.prefix.cached_tokens if self.prefix else 0)

    @property
    def output_tokens(self) -> int:
        """Tokens of all answers."""
        return sum(agent.output_tokens for agent in self.agents)

    def agent(self, name: str) -> AgentTimeline | None:
        """The timeline of one agent."""
        return next((agent for agent in self.agents if agent.agent == name), None)

    @property
    def overhead_s(self) -> float:
        """Time in which nothing was asked of any engine: the turn's length without its prefix and its requests."""
        spans = [(attempt.start_s, attempt.end_s) for agent in self.agents for attempt in agent.tries]
        if self.prefix:
            spans.append((self.prefix.start_s, self.prefix.end_s))
        idle, busy_until = 0.0, 0.0
        for start, end in sorted(spans, key=lambda span: span[0]):
            idle += max(0.0, start - busy_until)
            busy_until = max(busy_until, self.end_s if end is None else end)
        return round(idle + max(0.0, self.end_s - busy_until), 4)

    def timing(self) -> dict[str, Any]:
        """The `timing` part of a turn's document."""
        return {
            "first_token_s": self.first_token_s,
            "first_reply_s": self.first_reply_s,
            "reply_s": self.reply_s,
            "overhead_s": self.overhead_s,
            "agents": {
                agent.agent: {
                    "queued_s": agent.queued_s,
                    "start_s": agent.start_s,
                    "first_token_s": agent.first_token_s,
                    "end_s": agent.end_s,
                    "attempts": agent.attempts,
                }
                for agent in self.agents
            },
        }

    def document(self) -> dict[str, Any]:
        """The timeline as a JSON object, with the sums."""
        rows = {
            agent.agent: {key: value for key, value in asdict(agent).items() if key != "agent"}
            | {"prefill_tokens": agent.prefill_tokens}
            for agent in self.agents
        }
        prefix = asdict(self.prefix) | {"prefill_tokens": self.prefix.prefill_tokens} if self.prefix else None
        tokens = {"prefill": self.prefill_tokens, "cached": self.cached_tokens, "output": self.output_tokens}
        return asdict(self) | {"agents": rows, "prefix": prefix, "tokens": tokens, "overhead_s": self.overhead_s}
