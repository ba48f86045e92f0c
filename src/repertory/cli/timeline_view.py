"""A turn's timeline, drawn: one bar per agent over time."""

import math

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from repertory.cli.safe_text import printable
from repertory.runtime.timeline import AgentTimeline, ProgramCall, Timeline

__all__ = ("render_timeline",)

_WAITING, _PREFILL, _DECODE, _REPAIR = "·", "░", "█", "▞"
_STYLES = {_WAITING: "dim", _PREFILL: "cyan", _DECODE: "green", _REPAIR: "yellow"}
_STATUS_STYLES = {"done": "green", "failed": "red", "late": "red", "skipped": "yellow", "fallback": "yellow"}
_MIN_BAR, _MAX_BAR = 10, 100
_COLUMNS_BESIDE_BAR = 52
"""Characters that the other columns of the table need."""


class _Bar:
    """A row of characters over the length of the turn; later marks go over earlier ones."""

    def __init__(self, width: int, length_s: float) -> None:
        self._cells = [" "] * width
        self._scale = width / length_s if length_s > 0 else 0.0

    def mark(self, start_s: float, end_s: float, char: str) -> None:
        """Fill a span; one that is too short to see still gets one character."""
        last = len(self._cells) - 1
        first = min(int(start_s * self._scale), last)
        end = min(max(first, math.ceil(end_s * self._scale) - 1), last)
        self._cells[first : end + 1] = [char] * (end + 1 - first)

    def text(self) -> Text:
        drawn = Text(no_wrap=True, overflow="crop")
        for cell in self._cells:
            drawn.append(cell, style=_STYLES.get(cell, ""))
        return drawn


def _agent_bar(agent: AgentTimeline, width: int, length_s: float) -> Text:
    bar = _Bar(width, length_s)
    over = length_s if agent.end_s is None else agent.end_s
    if agent.queued_s is not None:
        bar.mark(agent.queued_s, over if agent.start_s is None else agent.start_s, _WAITING)
    for attempt in agent.tries:
        end = over if attempt.end_s is None else attempt.end_s
        first = end if attempt.first_token_s is None else attempt.first_token_s
        bar.mark(attempt.start_s, first, _PREFILL)
        if attempt.first_token_s is not None:
            bar.mark(first, end, _DECODE)
    for repair in agent.repairs:
        bar.mark(repair.at_s, repair.at_s, _REPAIR)
    return bar.text()


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def render_timeline(timeline: Timeline, width: int) -> RenderableType:
    """Draw a turn: bars, then who waited for whom, repairs, cuts and failures in words.

    Args:
        timeline: The turn's timeline.
        width: How many characters wide the screen is.
    """
    length_s = timeline.end_s
    bar_width = max(_MIN_BAR, min(width - _COLUMNS_BESIDE_BAR, _MAX_BAR))
    table = Table(box=None, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("agent", no_wrap=True, max_width=16)
    table.add_column(Text(f"0{_seconds(length_s) + ' s':>{bar_width - 1}}"), no_wrap=True, width=bar_width)
    for name in ("first", "end", "computed", "cached", "out"):
        table.add_column(name, justify="right", no_wrap=True)
    if timeline.prefix:
        prefix, bar = timeline.prefix, _Bar(bar_width, length_s)
        bar.mark(prefix.start_s, prefix.end_s, _PREFILL)
        counts = (str(prefix.prefill_tokens), str(prefix.cached_tokens), "-")
        table.add_row(Text("shared prefix", style="bold"), bar.text(), "-", _seconds(prefix.end_s), *counts)
    for agent in timeline.agents:
        table.add_row(
            Text(printable(agent.agent, one_line=True), style=_STATUS_STYLES.get(agent.status, "dim")),
            _agent_bar(agent, bar_width, length_s),
            _seconds(agent.first_token_s),
            _seconds(agent.end_s),
            str(agent.prefill_tokens),
            str(agent.cached_tokens),
            str(agent.output_tokens),
        )
    counts = (str(timeline.prefill_tokens), str(timeline.cached_tokens), str(timeline.output_tokens))
    table.add_row(Text("together", style="bold"), "", _seconds(timeline.first_token_s), _seconds(length_s), *counts)
    legend = Text(
        f"{_WAITING} waits  {_PREFILL} reads (prefill)  {_DECODE} writes (decode)  {_REPAIR} asked again", style="dim"
    )
    return Group(table, legend, *_notes(timeline))


def _notes(timeline: Timeline) -> list[Text]:
    notes = [note for agent in timeline.agents for note in _agent_notes(agent)]
    if timeline.safety_level:
        notes.append(("yellow", f"safety: level {timeline.safety_level}, the agents were not asked"))
    if timeline.claims or timeline.conflicts or timeline.blocked_moves:
        blocked = f", blocked: {', '.join(timeline.blocked_moves)}" if timeline.blocked_moves else ""
        notes.append(("dim", f"merge: {timeline.claims} claims, {timeline.conflicts} conflicts{blocked}"))
    return [Text(printable(words, one_line=True), style=style) for style, words in notes]


def _asked_for(call: ProgramCall) -> str:
    """What a program asked the engine for, and what it wrote beside the agent's prompt, in words."""
    what = "sent behind the shared part" if call.added_sent and call.shared_prefix else "left out"
    if call.added_sent and not call.shared_prefix:
        what = "sent as it was"
    return f"{call.requests} requests, about {call.added_tokens} tokens of its own {what}"


def _agent_notes(agent: AgentTimeline) -> list[tuple[str, str]]:
    """What the bars can not say, as (style, words)."""
    notes: list[tuple[str, str]] = []
    if agent.waits_for:
        until = "" if agent.start_s is None else f" until {agent.start_s:.1f} s"
        notes.append(("dim", f"{agent.agent} waited for {', '.join(agent.waits_for)}{until}"))
    notes += [
        ("yellow", f"{agent.agent} was asked again at {repair.at_s:.1f} s: {'; '.join(repair.problems)}")
        for repair in agent.repairs
    ]
    notes += [
        ("dim", f"{agent.agent}: {call.harness} {call.status} after {call.seconds:.1f} s, {_asked_for(call)}")
        for call in agent.programs
    ]
    notes += [("yellow", f"{agent.agent}: {cut.tokens} tokens of {cut.part} left out") for cut in agent.cuts]
    if agent.status in {"failed", "late", "skipped", "fallback"}:
        notes.append(
            (_STATUS_STYLES[agent.status], f"{agent.agent} {agent.status}: {agent.reason or 'no reason given'}")
        )
    return notes
