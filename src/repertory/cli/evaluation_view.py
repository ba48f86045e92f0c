"""An evaluation in the terminal: per scenario, per kind of check, and what failed."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from repertory.cli.safe_text import printable
from repertory.teams.coaching.evaluation import ScenarioReport, summarize

__all__ = ("show_evaluation",)


def show_evaluation(out: Console, reports: Sequence[ScenarioReport], *, model: str) -> None:
    """Print an evaluation."""
    total = summarize(reports)
    out.print(_by_scenario(reports))
    out.print(_by_kind(reports))
    failed = [(report.id, check) for report in reports for check in report.checks if not check.passed]
    if failed:
        out.print(Text("\nwhat did not hold", style="bold"))
    for name, check in sorted(failed, key=lambda pair: not pair[1].must):
        must = "MUST " if check.must else ""
        words = f"  {must}{name} after {check.after}: {check.check}; found {check.found or 'nothing'}"
        out.print(Text(printable(words, one_line=True), style="red" if check.must else ""))
    share = "" if total.share is None else f"; others {total.share:.0%}"
    out.print(
        f"\n{printable(model, one_line=True)}: {total.passed} of {total.total} checks hold "
        f"(must {total.must_passed} of {total.must_total}{share}); "
        f"{total.sections_valid} of {total.sections_total} sections valid; "
        f"{total.turns} turns in {total.seconds:.0f} s",
        markup=False,
    )


def _by_scenario(reports: Sequence[ScenarioReport]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name, right in (("scenario", False), ("must", True), ("checks", True), ("sections", True), ("seconds", True)):
        table.add_column(name, justify="right" if right else "left")
    for report in reports:
        musts = [check.passed for check in report.checks if check.must]
        others = [check.passed for check in report.checks if not check.must]
        one = summarize([report])
        table.add_row(
            Text(printable(f"{report.id} {report.title}", one_line=True)),
            f"{sum(musts)}/{len(musts)}",
            f"{sum(others)}/{len(others)}",
            f"{one.sections_valid}/{one.sections_total}",
            f"{report.seconds:.0f}",
        )
    return table


def _by_kind(reports: Sequence[ScenarioReport]) -> Table:
    table = Table(box=None, pad_edge=False, title="\nper kind of check", title_justify="left")
    table.add_column("check")
    table.add_column("holds", justify="right")
    for kind in summarize(reports).kinds:
        table.add_row(Text(printable(kind.kind, one_line=True)), f"{kind.passed}/{kind.total}")
    return table
