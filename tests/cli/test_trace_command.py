import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner, Result

from repertory.cli import trace
from repertory.cli.timeline_view import render_timeline
from repertory.errors import RepertoryError, UsageError
from repertory.home import locate_home
from repertory.runtime.events import (
    AgentFinished,
    AgentFirstToken,
    AgentQueued,
    AgentRepair,
    AgentStarted,
    ContextCut,
    MergeDone,
    PrefixComputed,
    SafetyRouted,
    TurnFinished,
    TurnStarted,
)
from repertory.runtime.timeline import Timeline, build_timeline
from repertory.storage.store import Store

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
HOSTILE = "evidence [/x] \x1b[2J is\nmissing"


def _events(turn: str) -> list[Any]:
    events: list[Any] = []

    def add(kind: type[Any], elapsed_s: float, **fields: Any) -> None:
        at = NOW + timedelta(seconds=elapsed_s)
        events.append(kind(turn=turn, seq=len(events) + 1, at=at, elapsed_s=elapsed_s, **fields))

    def finish(elapsed_s: float, agent: str, status: str = "done", reason: str | None = None) -> None:
        counts = {"attempts": 1, "prompt_tokens": 700, "cached_tokens": 600, "output_tokens": 90}
        add(AgentFinished, elapsed_s, agent=agent, status=status, reason=reason, **counts)

    add(TurnStarted, 0, team="coaching", user="me", session="s", message="m1", agents=("coach", "shadow", "synth"))
    add(AgentQueued, 0, agent="synth", waits_for=("shadow",))
    add(PrefixComputed, 4, tokens=600, cached=200, seconds=4)
    for agent in ("coach", "shadow"):
        add(AgentStarted, 4, agent=agent, instance="local", attempt=1, prompt_tokens=700)
        add(AgentFirstToken, 5, agent=agent, attempt=1)
    add(ContextCut, 5, agent="shadow", part="history", tokens=120)
    add(AgentRepair, 8, agent="shadow", problems=(HOSTILE,))
    finish(10, "coach")
    finish(12, "shadow", "failed", HOSTILE)
    add(MergeDone, 12, claims=5, conflicts=1, blocked_moves=("push",))
    add(AgentStarted, 12, agent="synth", instance="local", attempt=1, prompt_tokens=700)
    add(AgentFirstToken, 14, agent="synth", attempt=1)
    finish(20, "synth")
    add(TurnFinished, 20, status="partial", reason="shadow: failed")
    return events


@pytest.fixture
def turns() -> list[str]:
    """Two turns of two users, the second not finished."""
    ids: list[str] = []
    with Store.open() as store:
        for user in ("me", "bob"):
            session = store.sessions.start("coaching", user, "s", NOW)
            turn = store.turns.begin_turn(session, at=NOW)
            events = _events(turn.id)
            store.turns.append_events(turn.id, [(event.seq, event.type, event.model_dump_json()) for event in events])
            ids.append(turn.id)
        store.turns.finish_turn(ids[0], "partial", {}, at=NOW)
    return ids


def _run(*arguments: str) -> Result:
    app = typer.Typer(rich_markup_mode=None)
    trace.register(app)
    result = CliRunner().invoke(app, list(arguments))
    if isinstance(result.exception, RepertoryError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


def test_without_any_turn_it_says_so_and_makes_no_file() -> None:
    with pytest.raises(UsageError, match="no turn yet"):
        _run()
    assert not locate_home().root.exists()


def test_the_last_turn_is_the_default(turns: list[str]) -> None:
    assert json.loads(_run("--json").stdout)["turn"] == turns[1]
    assert json.loads(_run("--user", "me", "--json").stdout)["turn"] == turns[0]
    with pytest.raises(UsageError, match="no turn yet"):
        _run("--team", "other")


def test_as_json(turns: list[str]) -> None:
    document = json.loads(_run(turns[0], "--json").stdout)
    assert (document["status"], document["reason"], document["number"]) == ("partial", "shadow: failed", 1)
    assert document["tokens"] == {"prefill": 700, "cached": 2000, "output": 270}
    assert document["agents"]["synth"]["waits_for"] == ["shadow"]
    assert document["agents"]["shadow"]["repairs"] == [{"at_s": 8.0, "problems": [HOSTILE]}]
    assert document["timing"]["agents"]["coach"]["end_s"] == 10.0
    assert [event["type"] for event in document["events"]] == [event.type for event in _events(turns[0])]


def test_a_turn_by_the_beginning_of_its_id(turns: list[str]) -> None:
    assert json.loads(_run(turns[0][:-1] if turns[0][:-1] != turns[1][:-1] else turns[0], "--json").stdout)
    for unknown in ("tzz", "%", "'"):
        with pytest.raises(UsageError, match="there is no turn"):
            _run(unknown)
    with pytest.raises(UsageError, match="there is no turn"):
        _run(turns[0], "--user", "bob")


def test_in_words_nothing_gets_through_to_the_terminal(turns: list[str]) -> None:
    shown = _run(turns[0]).stdout
    assert "\x1b" not in shown
    assert "evidence [/x] [2J is missing" in shown
    assert f"turn {turns[0]}: coaching, user me, session s, partial (shadow: failed)" in shown


def test_events_of_another_version_are_counted_and_passed_over(turns: list[str]) -> None:
    with Store.open() as store:
        store.turns.append_events(turns[0], [(99, "from_the_future", '{"type":"from_the_future"}')])
    result = _run(turns[0])
    assert "1 events could not be read" in result.stderr
    assert json.loads(_run(turns[0], "--json").stdout)["unread_events"] == 1


@pytest.fixture
def draw() -> Callable[[Timeline, int], list[str]]:
    def drawn(timeline: Timeline, width: int) -> list[str]:
        console = Console(file=io.StringIO(), width=width, color_system=None)
        console.print(render_timeline(timeline, width))
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue().splitlines()

    return drawn


def test_the_bars(draw: Callable[[Timeline, int], list[str]]) -> None:
    lines = draw(build_timeline(_events("t1")), 92)
    start = lines[0].index("0 ")
    bars = {line[:start].strip(): line[start : start + 40] for line in lines[1:5]}
    # 40 characters for 20 seconds: two per second.
    assert bars["shared prefix"] == "░" * 8 + " " * 32
    assert bars["coach"] == " " * 8 + "░" * 2 + "█" * 10 + " " * 20
    assert bars["shadow"] == " " * 8 + "░" * 2 + "█" * 6 + "▞" + " " * 23
    assert bars["synth"] == "·" * 24 + "░" * 4 + "█" * 12


def test_the_notes(draw: Callable[[Timeline, int], list[str]]) -> None:
    text = "\n".join(draw(build_timeline(_events("t1")), 120))
    assert "synth waited for shadow until 12.0 s" in text
    assert "shadow was asked again at 8.0 s" in text
    assert "shadow: 120 tokens of history left out" in text
    assert "shadow failed: evidence" in text
    assert "merge: 5 claims, 1 conflicts, blocked: push" in text


@pytest.mark.parametrize("width", [1, 20, 60, 80, 200, 1000])
def test_every_width_and_every_beginning_of_a_turn_can_be_drawn(
    draw: Callable[[Timeline, int], list[str]], width: int
) -> None:
    events = _events("t1")
    for length in range(len(events) + 1):
        lines = draw(build_timeline(events[:length]), width)
        assert all(len(line) <= width for line in lines)


def test_a_turn_that_was_taken_from_the_agents_says_so(draw: Callable[[Timeline, int], list[str]]) -> None:
    routed = SafetyRouted(turn="t", seq=1, at=NOW, elapsed_s=0.1, level="crisis", route="crisis_protocol", reason="x")
    assert "safety: level crisis, the agents were not asked" in "\n".join(draw(build_timeline([routed]), 100))
