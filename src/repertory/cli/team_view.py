"""How a team is shown: a table of its agents, and its schedule drawn from left to right."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from repertory.cli.safe_text import printable
from repertory.runtime.schedule import Schedule
from repertory.runtime.team import Agent, Read, ReadMode, Team

__all__ = ("draw_schedule", "print_team")


def print_team(out: Console, team: Team, schedule: Schedule, code_sections: Sequence[str] = ()) -> None:
    """Print the team for a person."""
    about = f": {printable(team.description, one_line=True)}" if team.description else ""
    out.print(Text(f"{team.name}{about}", style="bold"))
    out.print()
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for column in ("agent", "writes", "reads fresh", "reads latest", "tokens in/out"):
        table.add_column(column, overflow="fold")
    for name, agent in team.agents.items():
        table.add_row(
            Text(name),
            Text(agent.writes),
            Text(_reads(agent, ReadMode.FRESH)),
            Text(_reads(agent, ReadMode.LATEST)),
            Text(f"{agent.max_input_tokens or '-'} / {agent.max_output_tokens}"),
        )
    out.print(table)
    out.print()
    for which, section in (("first", team.replies.first), ("full", team.replies.full)):
        if section is not None:
            out.print(Text(f"{which} reply: {section}"))
    if code_sections:
        out.print(Text(f"written by the team's code: {', '.join(code_sections)}", style="dim"))
    out.print()
    out.print(Text(f"schedule: {len(schedule.stages)} step{'s' * (len(schedule.stages) > 1)}", style="bold"))
    out.print()
    for line in draw_schedule(schedule):
        out.print(Text(line), soft_wrap=True)


def _reads(agent: Agent, mode: ReadMode) -> str:
    return "\n".join(_read(section, read) for section, read in agent.reads.items() if read.mode is mode) or "-"


def _read(section: str, read: Read) -> str:
    if read.mode is ReadMode.LATEST:
        return section
    within = "" if read.within_s is None else f"{read.within_s:g} s, "
    return f"{section} ({within}else {read.on_missing})"


def draw_schedule(schedule: Schedule) -> list[str]:
    """The schedule in lines: one column per step, from left to right, each agent with whom it waits for.

    The agents of a column start together, as soon as those they wait for have committed; `*` marks the critical ones.
    """
    columns = [[_cell(schedule, name) for name in stage] for stage in schedule.stages]
    heads = [f"step {number}" for number in range(1, len(columns) + 1)]
    widths = [max(map(len, [head, *cells])) for head, cells in zip(heads, columns, strict=True)]
    rows = [heads, ["-" * width for width in widths]]
    rows += [[column[row] if row < len(column) else "" for column in columns] for row in range(max(map(len, columns)))]
    lines = ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines, "", f"critical (*): {' -> '.join(schedule.critical_path)}"]


def _cell(schedule: Schedule, name: str) -> str:
    waits = schedule.waits_for[name]
    mark = " *" if name in schedule.critical and schedule.steps > 1 else ""
    return f"{name}{mark}" + (f" <- {', '.join(waits)}" if waits else "")
