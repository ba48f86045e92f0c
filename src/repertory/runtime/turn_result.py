"""What a turn came to: the document of `repertory run --json`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from repertory.runtime.agent_call import AgentCall
from repertory.runtime.events import TurnEvent
from repertory.runtime.rules import Merge, Safety, SectionView
from repertory.runtime.timeline import Timeline, build_timeline
from repertory.runtime.turn_state import TurnState

__all__ = ("TokenCounts", "TurnResult", "build_result", "timing_document")

Status = Literal["complete", "partial", "failed"]


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of one turn.

    Attributes:
        unique: Prompt tokens that had to be computed once: what the shared prefix gained since the session's last
            turn on the same instances, and what each agent alone was shown.
        prefill: Prompt tokens that the engines computed.
        cached: Prompt tokens that the engines found in their KV cache.
        output: Tokens generated.
    """

    unique: int
    prefill: int
    cached: int
    output: int


@dataclass(frozen=True)
class TurnResult:
    """One turn, whole.

    Attributes:
        status: `complete`; `partial` when an agent gave no section or code stepped in; `failed` when nobody replied.
        reason: Why it is not complete.
        first_reply: What the person saw at once.
        reply: The full reply, without the first; empty when there is none.
    """

    turn: str
    session: str
    user: str
    team: str
    message: str
    status: Status
    reason: str | None
    first_reply: str
    reply: str
    sections: Mapping[str, SectionView]
    merge: Merge
    safety: Safety
    tokens: TokenCounts
    timing: Mapping[str, Any]
    events: Sequence[TurnEvent]

    def document(self) -> dict[str, Any]:
        """The turn as JSON, in the shape that `interface.md` promises."""
        return {
            "turn": self.turn,
            "session": self.session,
            "user": self.user,
            "team": self.team,
            "message": self.message,
            "status": self.status,
            "reason": self.reason,
            "first_reply": self.first_reply,
            "reply": self.reply,
            "sections": {name: asdict(section) for name, section in self.sections.items()},
            "merge": asdict(self.merge),
            "safety": asdict(self.safety),
            "tokens": asdict(self.tokens),
            "timing": dict(self.timing),
            "events": [event.model_dump(mode="json") for event in self.events],
        }


def build_result(
    *,
    state: TurnState,
    status: Status,
    reason: str | None,
    first_reply: str,
    reply: str,
    events: Sequence[TurnEvent],
    calls: Mapping[str, AgentCall],
    prefix_prefill: int,
    shared_new: int,
    shared_tokens: Mapping[str, int],
) -> TurnResult:
    """Put the result of a turn together from its state, its events and its agents' calls.

    Args:
        state: The turn's state at its end.
        status: How it ended.
        reason: Why it is not complete.
        first_reply: What the person saw at once.
        reply: The full reply.
        events: The turn's events.
        calls: The agents that were called.
        prefix_prefill: Tokens computed for the shared prefix ahead of the fan-out.
        shared_new: Tokens that the shared prefix gained since the session's last turn, over all instances.
        shared_tokens: Tokens of the shared prefix, per instance.
    """
    uses = [use for call in calls.values() for use in call.usage]
    private = sum(
        max(call.prompt_tokens - shared_tokens.get(call.instance.name, 0), 0) for call in calls.values() if call.usage
    )
    replies = {state.team.replies.first, state.team.replies.full}
    return TurnResult(
        turn=state.turn,
        session=state.session.id,
        user=state.session.user,
        team=state.team.name,
        message=state.message.id,
        status=status,
        reason=reason,
        first_reply=first_reply,
        reply=reply,
        sections={name: view for name, view in sorted(_all_sections(state).items()) if name not in replies},
        merge=state.merge or Merge(),
        safety=state.safety,
        tokens=TokenCounts(
            unique=shared_new + private,
            prefill=prefix_prefill + sum(use.prefill for use in uses),
            cached=sum(use.cached or 0 for use in uses),
            output=sum(use.output for use in uses),
        ),
        timing=timing_document(build_timeline(events)),
        events=tuple(events),
    )


def timing_document(timeline: Timeline) -> dict[str, Any]:
    """When things happened, in seconds since the turn began; `overhead_s` is the time no engine was at work."""
    agents = {
        agent.agent: {
            "queued_s": agent.queued_s,
            "start_s": agent.start_s,
            "first_token_s": agent.first_token_s,
            "end_s": agent.end_s,
            "attempts": agent.attempts,
        }
        for agent in timeline.agents
    }
    return {
        "first_token_s": timeline.first_token_s,
        "first_reply_s": timeline.first_reply_s,
        "reply_s": timeline.reply_s,
        "overhead_s": round(timeline.end_s - _busy_s(timeline), 4),
        "agents": agents,
    }


def _busy_s(timeline: Timeline) -> float:
    """Seconds during which at least one engine was at work for the turn."""
    spans = [(attempt.start_s, attempt.end_s or timeline.end_s) for agent in timeline.agents for attempt in agent.tries]
    if timeline.prefix is not None:
        spans.append((timeline.prefix.start_s, timeline.prefix.end_s))
    busy = until = 0.0
    for start, end in sorted(spans):
        busy += max(end - max(start, until), 0.0)
        until = max(until, end)
    return busy


def _all_sections(state: TurnState) -> dict[str, SectionView]:
    missing = SectionView(value=None, version=0, turn=None, status="missing")
    return dict.fromkeys(state.team.sections, missing) | state.sections
