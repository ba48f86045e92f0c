"""A turn on the screen as it happens: the first reply's words, the other agents' progress, then the full reply."""

from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from repertory.cli.output import screen, side
from repertory.cli.safe_text import printable
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
    TurnEvent,
    TurnStarted,
)
from repertory.runtime.team import Team
from repertory.runtime.turn_result import TurnResult

__all__ = ("TurnView",)

_STYLE = {"done": "green", "failed": "red", "late": "red", "skipped": "yellow", "fallback": "yellow"}


@dataclass
class _AgentLine:
    state: str = "waits"
    detail: str = ""
    style: str = "dim"


@dataclass
class TurnView:
    """Shows one turn; give `see` to the runner as a sink.

    On a terminal the words and a small table of the agents are redrawn in place. Elsewhere (a pipe, a log, `--json`)
    progress goes to stderr line by line, and the replies to stdout when they are final.

    Args:
        team: The team whose turn it is.
        quiet: Print nothing on stdout (`--json`).
    """

    team: Team
    quiet: bool = False
    _lines: dict[str, _AgentLine] = field(default_factory=dict[str, _AgentLine])
    _words: str = ""
    _live: Live | None = None
    _out: Console = field(default_factory=screen)
    _err: Console = field(default_factory=side)

    def __enter__(self) -> Self:
        self._lines = {name: _AgentLine() for name in self.team.agents}
        if not self.quiet and self._out.is_terminal:
            self._live = Live(self._picture(), console=self._out, refresh_per_second=12, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def see(self, event: TurnEvent) -> None:
        """Take the next event of the turn."""
        if isinstance(event, NoticeShown):
            self._words = f"{printable(event.text)}\n\n"
        elif isinstance(event, AgentDelta):
            self._words += printable(event.text)
        elif isinstance(event, ReplyReady):
            self._reply(event)
        else:
            self._note(event)
        if self._live is not None:
            self._live.update(self._picture())

    def _note(self, event: TurnEvent) -> None:
        """Progress: a line of the table on a terminal, a line of the log elsewhere."""
        words = _of_program(event) if isinstance(event, HarnessFinished) else _in_words(event)
        agent = getattr(event, "agent", None)
        line = self._lines.get(agent) if isinstance(agent, str) else None
        if line is not None and words:
            line.state, line.detail, line.style = words
        if self._live is None and words and not isinstance(event, AgentProgress):
            who = f"{agent}: " if agent else ""
            self._err.print(Text(f"[{event.elapsed_s:6.1f} s] {who}{' '.join(words[:2])}".rstrip(), style="dim"))

    def _reply(self, event: ReplyReady) -> None:
        if self._live is not None:
            # Final words scroll away above the table; only what still changes is redrawn.
            self._live.console.print(Text(printable(event.text)), "")
            self._words = ""
        elif not self.quiet:
            self._out.print(Text(printable(event.text)), "")

    def _picture(self) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        for name, line in self._lines.items():
            table.add_row(Text(name, style="bold"), Text(line.state, style=line.style), Text(line.detail, style="dim"))
        return Group(Text(self._words), Text(""), table) if self._words else table

    def summary(self, result: TurnResult) -> None:
        """The last line of a turn: how it ended and what it cost."""
        tokens, timing = result.tokens, result.timing
        first = timing.get("first_token_s")
        parts = [
            f"{result.status}" + (f" ({result.reason})" if result.reason else ""),
            f"first word after {first:.1f} s" if first is not None else "",
            f"{tokens.prefill} prompt tokens computed, {tokens.cached} cached, {tokens.output} written",
            f"turn {result.turn}, session {result.session}",
        ]
        style = {"complete": "green", "partial": "yellow", "failed": "red"}[result.status]
        self._err.print(Text(printable("; ".join(part for part in parts if part)), style=style))


def _how_it_ended(event: AgentFinished) -> str:
    detail = printable(event.reason or f"{event.output_tokens} tokens")
    return f"code wrote it in the model's place, because: {detail}" if event.status == "fallback" else detail


def _of_program(event: HarnessFinished) -> tuple[str, str, str]:
    """How the program that runs an agent ended, as (state, detail, style)."""
    detail = f"{event.requests} requests, {event.added_tokens} tokens of its own"
    return f"{event.harness} {event.status}", detail, "dim"


def _in_words(event: TurnEvent) -> tuple[str, str, str] | None:
    """An event as (state, detail, style)."""
    match event:
        case TurnStarted():
            return "starts", f"turn {event.turn}", "dim"
        case PrefixComputed():
            return "shared prefix", f"{event.tokens} tokens, {event.cached} cached, {event.seconds:.1f} s", "dim"
        case AgentQueued():
            return "waits", f"for {', '.join(event.waits_for)}", "dim"
        case AgentStarted():
            return "reads", f"{event.prompt_tokens} tokens", "cyan"
        case AgentFirstToken():
            return "writes", "", "cyan"
        case AgentProgress():
            return "writes", f"{event.output_tokens} tokens", "cyan"
        case AgentRepair():
            return "mends", "; ".join(event.problems), "yellow"
        case AgentFinished():
            return event.status, _how_it_ended(event), _STYLE[event.status]
        case MergeDone():
            blocked = f", blocked: {', '.join(event.blocked_moves)}" if event.blocked_moves else ""
            return "merge", f"{event.claims} claims, {event.conflicts} conflicts{blocked}", "dim"
        case ContextCut():
            return "cut", f"{event.part}: {event.tokens} tokens left out", "yellow"
        case SafetyRouted():
            return "safety", f"{event.level}: {event.reason}", "yellow"
        case _:
            return None
