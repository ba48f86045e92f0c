"""Show a pull on stderr: a progress bar on a terminal, a line now and then elsewhere."""

import asyncio
import time
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from repertory.cli.output import side
from repertory.engines.model_store import PullProgress, ensure_model
from repertory.errors import ModelStoreError

__all__ = ("PullView", "fetch_model", "fetch_model_async")

_LINE_EVERY_S = 10.0
_MB = 1e6


class PullView(AbstractContextManager["PullView"]):
    """Draws the reports of pulls. Call it with each report."""

    def __init__(self) -> None:
        self._console = side()
        self._bar: Progress | None = None
        if self._console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                DownloadColumn(),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
        self._tasks: dict[str, TaskID] = {}
        self._source: str | None = None
        self._next_line_s = 0.0
        self._given_up = False

    def give_up(self) -> None:
        """Make the pull end at its next report; what is here of the file stays."""
        self._given_up = True

    def __call__(self, report: PullProgress) -> None:
        """Show one report."""
        if self._given_up:
            raise ModelStoreError("the pull was given up")
        if report.message is not None:
            self._console.print(report.message, markup=False, soft_wrap=True)
        elif self._bar is not None:
            self._draw(self._bar, report)
        else:
            self._line(report)

    def _draw(self, bar: Progress, report: PullProgress) -> None:
        if report.model not in self._tasks:
            bar.start()
            self._tasks[report.model] = bar.add_task("", total=None)
        bar.update(
            self._tasks[report.model],
            description=f"{report.model} {report.source}",
            completed=report.done_bytes,
            total=report.total_bytes or None,
        )

    def _line(self, report: PullProgress) -> None:
        """A line when the source changes, and every ten seconds."""
        now = time.monotonic()
        what = f"{report.model} {report.source}"
        if report.source == "here" or (what == self._source and now < self._next_line_s):
            return
        self._source, self._next_line_s = what, now + _LINE_EVERY_S
        done, total = report.done_bytes / _MB, report.total_bytes / _MB
        amount = f"{done:,.0f} of {total:,.0f} MB" if total else f"{done:,.0f} MB"
        self._console.print(f"{what}: {amount}", markup=False, soft_wrap=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar off the screen."""
        if self._bar is not None:
            self._bar.stop()

    def __enter__(self) -> Self:
        return self


def fetch_model(name: str) -> Path:
    """The file of a model; if it is not here yet it is pulled, with progress on stderr. Blocks.

    Raises:
        UsageError: No such model or file.
        ModelStoreError: It can not be had.
    """
    with PullView() as view:
        return ensure_model(name, view)


async def fetch_model_async(name: str) -> Path:
    """`fetch_model` in a thread. Cancelled, it makes the thread end too, so that Ctrl-C works during a download.

    Raises:
        UsageError: No such model or file.
        ModelStoreError: It can not be had.
    """
    with PullView() as view:
        try:
            return await asyncio.to_thread(ensure_model, name, view)
        except asyncio.CancelledError:
            view.give_up()
            raise
