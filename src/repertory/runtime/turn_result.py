"""What a turn came to: the document of `repertory run --json`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from repertory.runtime.agent_call import AgentCall
from repertory.runtime.events import TurnEvent
from repertory.runtime.rules import Merge, Safety, SectionView
from repertory.runtime.timeline import build_timeline
from repertory.runtime.turn_state import TurnState

__all__ = ("TokenCounts", "TurnResult", "build_result")

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
        shared_new: Tokens that the shared prefix gained since the session's last turn, over all instances.
        shared_tokens: Tokens of the shared prefix, per instance.
    """
    timeline = build_timeline(events)
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
            prefill=timeline.prefill_tokens,
            cached=timeline.cached_tokens,
            output=timeline.output_tokens,
        ),
        timing=timeline.timing(),
        events=tuple(events),
    )


def _all_sections(state: TurnState) -> dict[str, SectionView]:
    missing = SectionView(value=None, version=0, turn=None, status="missing")
    return dict.fromkeys(state.team.sections, missing) | state.sections
