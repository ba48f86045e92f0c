import io
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from repertory.cli.timeline_view import render_timeline
from repertory.runtime.events import (
    AgentDelta,
    AgentFinished,
    AgentFirstToken,
    AgentProgress,
    AgentQueued,
    AgentRepair,
    AgentStarted,
    ContextCut,
    HarnessFinished,
    MergeDone,
    NoticeShown,
    PrefixComputed,
    ReplyReady,
    SafetyRouted,
    SectionWritten,
    TurnEvent,
    TurnFinished,
    TurnStarted,
)
from repertory.runtime.timeline import Attempt, Cut, PrefixTimeline, Repair, Timeline, build_timeline

_E = TypeVar("_E", bound=TurnEvent)


class _Events:
    """Events of one turn, numbered and timed."""

    def __init__(self) -> None:
        self.events: list[TurnEvent] = []

    def __call__(self, kind: type[Any], elapsed_s: float, **fields: Any) -> None:
        at = datetime(2026, 12, 1, tzinfo=UTC) + timedelta(seconds=elapsed_s)
        self.events.append(kind(turn="t1", seq=len(self.events) + 1, at=at, elapsed_s=elapsed_s, **fields))


def _finished(events: _Events, elapsed_s: float, agent: str, status: str = "done", **fields: Any) -> None:
    counts = {"attempts": 1, "prompt_tokens": 700, "cached_tokens": 600, "output_tokens": 90}
    events(AgentFinished, elapsed_s, agent=agent, status=status, **(counts | fields))


@pytest.fixture
def events() -> _Events:
    """A turn of three agents: the shared prefix, a coach, a shadow with a repair, a synth that waits for it."""
    events = _Events()
    events(
        TurnStarted, 0.0, team="coaching", user="ada", session="s", message="m1", agents=("coach", "shadow", "synth")
    )
    events(NoticeShown, 0.01, text="You talk to an AI.")
    events(AgentQueued, 0.02, agent="synth", waits_for=("shadow",))
    events(PrefixComputed, 4.0, tokens=600, cached=200, seconds=3.5)
    for agent in ("coach", "shadow"):
        events(AgentStarted, 4.1, agent=agent, instance="local", attempt=1, prompt_tokens=700)
    events(ContextCut, 4.1, agent="shadow", part="history", tokens=120)
    events(AgentFirstToken, 5.0, agent="coach", attempt=1)
    events(AgentDelta, 5.0, agent="coach", text="")
    events(AgentDelta, 5.25, agent="coach", text="Well")
    events(AgentFirstToken, 6.0, agent="shadow", attempt=1)
    events(AgentProgress, 7.0, agent="shadow", output_tokens=32)
    events(AgentRepair, 8.0, agent="shadow", problems=("evidence is missing",))
    events(AgentStarted, 8.1, agent="shadow", instance="local", attempt=2, prompt_tokens=720)
    events(AgentFirstToken, 9.0, agent="shadow", attempt=2)
    events(SectionWritten, 9.9, section="coach_reply", version=1, agent="coach")
    _finished(events, 10.0, "coach")
    events(ReplyReady, 10.0, which="first", text="Well done.")
    events(SectionWritten, 11.9, section="shadow", version=3, agent="shadow")
    _finished(events, 12.0, "shadow", attempts=2, prompt_tokens=1420, cached_tokens=1300, output_tokens=150)
    events(MergeDone, 12.1, claims=5, conflicts=1, blocked_moves=("push",))
    events(AgentStarted, 12.5, agent="synth", instance="local", attempt=1, prompt_tokens=900)
    events(AgentFirstToken, 14.0, agent="synth", attempt=1)
    _finished(events, 20.0, "synth", "fallback", reason="a number that no claim holds")
    events(SectionWritten, 20.1, section="commitments", version=2, agent="code")
    events(ReplyReady, 20.2, which="full", text="More.")
    events(TurnFinished, 20.5, status="partial", reason="synth: code wrote the section")
    return events


def test_the_turn(events: _Events) -> None:
    timeline = build_timeline(events.events)
    assert (timeline.turn, timeline.team, timeline.user, timeline.session) == ("t1", "coaching", "ada", "s")
    assert (timeline.status, timeline.reason) == ("partial", "synth: code wrote the section")
    assert (timeline.first_token_s, timeline.first_reply_s, timeline.reply_s, timeline.end_s) == (
        5.25,
        10.0,
        20.2,
        20.5,
    )
    assert (timeline.claims, timeline.conflicts, timeline.blocked_moves) == (5, 1, ("push",))
    assert timeline.code_sections == {"commitments": 2}
    assert timeline.safety_level is None
    assert [agent.agent for agent in timeline.agents] == ["coach", "shadow", "synth"]


def test_the_prefix_and_the_tokens(events: _Events) -> None:
    timeline = build_timeline(events.events)
    assert timeline.prefix == PrefixTimeline(start_s=0.5, end_s=4.0, tokens=600, cached_tokens=200)
    # Computed: 400 of the prefix, 100 by coach and synth each, 120 by shadow in two requests.
    assert timeline.prefill_tokens == 400 + 100 + 120 + 100
    assert timeline.cached_tokens == 200 + 600 + 1300 + 600
    assert timeline.output_tokens == 90 + 150 + 90


def test_an_agent_that_was_asked_again(events: _Events) -> None:
    shadow = build_timeline(events.events).agent("shadow")
    assert shadow is not None
    assert (shadow.status, shadow.attempts, shadow.prefill_tokens) == ("done", 2, 120)
    assert (shadow.queued_s, shadow.start_s, shadow.first_token_s, shadow.end_s) == (None, 4.1, 6.0, 12.0)
    assert shadow.tries == (
        Attempt(number=1, instance="local", start_s=4.1, prompt_tokens=700, first_token_s=6.0, end_s=8.0),
        Attempt(number=2, instance="local", start_s=8.1, prompt_tokens=720, first_token_s=9.0, end_s=12.0),
    )
    assert shadow.repairs == (Repair(at_s=8.0, problems=("evidence is missing",)),)
    assert shadow.cuts == (Cut(part="history", tokens=120),)
    assert (shadow.section, shadow.version, shadow.written_s) == ("shadow", 3, 11.9)


def test_an_agent_that_waited(events: _Events) -> None:
    synth = build_timeline(events.events).agent("synth")
    assert synth is not None
    assert (synth.queued_s, synth.waits_for, synth.start_s) == (0.02, ("shadow",), 12.5)
    assert (synth.status, synth.reason, synth.section) == ("fallback", "a number that no claim holds", None)


def test_overhead_is_the_time_in_which_no_engine_was_asked(events: _Events) -> None:
    # 0 to 0.5 before the prefix, 4.0 to 4.1, 12.0 to 12.5 for the merge, 20.0 to 20.5 at the end.
    assert build_timeline(events.events).overhead_s == pytest.approx(0.5 + 0.1 + 0.5 + 0.5)


def test_the_timing_part_of_a_turns_document(events: _Events) -> None:
    timing = build_timeline(events.events).timing()
    assert set(timing) == {"first_token_s", "first_reply_s", "reply_s", "overhead_s", "agents"}
    assert timing["agents"]["synth"] == {
        "queued_s": 0.02,
        "start_s": 12.5,
        "first_token_s": 14.0,
        "end_s": 20.0,
        "attempts": 1,
    }


def test_without_the_stream_of_words_the_first_token_of_any_agent_counts(events: _Events) -> None:
    kept = [event for event in events.events if not isinstance(event, AgentDelta)]
    assert build_timeline(kept).first_token_s == 5.0


@given(st.randoms(use_true_random=False))
def test_the_order_in_which_events_are_given_does_not_matter(random: Any) -> None:
    events = _Events()
    events(TurnStarted, 0.0, team="c", user="u", session="s", message="m1", agents=("a", "b"))
    events(AgentStarted, 1.0, agent="a", instance="i", attempt=1, prompt_tokens=1)
    events(AgentRepair, 2.0, agent="a", problems=("p",))
    events(AgentStarted, 2.0, agent="a", instance="i", attempt=2, prompt_tokens=1)
    events(AgentFirstToken, 3.0, agent="a", attempt=2)
    shuffled = list(events.events)
    random.shuffle(shuffled)
    assert build_timeline(shuffled) == build_timeline(events.events)


def test_every_beginning_of_a_turn_is_a_timeline(events: _Events) -> None:
    for length in range(len(events.events) + 1):
        timeline = build_timeline(events.events[:length])
        assert timeline.end_s == max((event.elapsed_s for event in events.events[:length]), default=0.0)
        assert 0 <= timeline.overhead_s <= timeline.end_s
        assert timeline.document()["overhead_s"] == timeline.overhead_s
    assert build_timeline([]) == Timeline()


def test_a_turn_that_was_cut_off_has_open_ends(events: _Events) -> None:
    cut = next(n for n, event in enumerate(events.events) if isinstance(event, AgentProgress))
    timeline = build_timeline(events.events[: cut + 1])
    coach, shadow, synth = timeline.agents
    assert (timeline.status, timeline.reply_s, timeline.end_s) == ("running", None, 7.0)
    assert (coach.status, coach.end_s, coach.tries[0].end_s) == ("running", None, None)
    assert (shadow.status, shadow.prompt_tokens) == ("running", 700)
    assert (synth.status, synth.start_s) == ("waiting", None)


def test_a_turn_that_was_taken_from_the_agents() -> None:
    events = _Events()
    events(TurnStarted, 0.0, team="coaching", user="ada", session="s", message="m1", agents=("coach",))
    events(SafetyRouted, 0.1, level="crisis", route="crisis_protocol", reason="self-harm")
    events(ReplyReady, 0.1, which="first", text="Please call")
    events(TurnFinished, 0.2, status="complete")
    timeline = build_timeline(events.events)
    assert (timeline.safety_level, timeline.status, timeline.first_token_s) == ("crisis", "complete", None)
    assert timeline.agents[0].status == "pending"


def test_calls_of_a_program_are_told_with_what_it_added() -> None:
    events = _Events()
    call: dict[str, Any] = {"agent": "coach", "harness": "claude-code", "prompt_tokens": 90, "cached_tokens": 60}
    call |= {"output_tokens": 9, "seconds": 2.5, "added_tokens": 250, "shared_prefix": True}
    events(HarnessFinished, 3.0, status="failed", requests=0, added_sent=False, **call)
    events(HarnessFinished, 6.0, status="answered", requests=2, added_sent=True, **call)
    timeline = build_timeline(events.events)
    [coach] = timeline.agents
    assert [(one.status, one.requests) for one in coach.programs] == [("failed", 0), ("answered", 2)]
    screen = io.StringIO()
    Console(file=screen, width=120).print(render_timeline(timeline, 120))
    shown = " ".join(screen.getvalue().split())
    assert "claude-code failed after 2.5 s, 0 requests, about 250 tokens of its own left out" in shown
    assert "claude-code answered after 2.5 s, 2 requests, about 250 tokens of its own sent behind the shared" in shown


def test_events_of_an_agent_that_was_never_announced_are_kept() -> None:
    events = _Events()
    events(AgentFirstToken, 1.0, agent="stranger", attempt=1)
    _finished(events, 2.0, "stranger", "late", reason="the turn's deadline passed")
    [stranger] = build_timeline(events.events).agents
    assert (stranger.agent, stranger.status, stranger.tries) == ("stranger", "late", ())
