import asyncio
import threading
from pathlib import Path

import anyio
import pytest

from repertory.cli import model_download
from repertory.cli.model_download import PullView, fetch_model_async
from repertory.engines.model_store import Progress, PullProgress
from repertory.errors import ModelStoreError


def test_without_a_terminal_lines_come_when_something_changes(capsys: pytest.CaptureFixture[str]) -> None:
    with PullView() as view:
        for done in (0, 1_000_000, 2_000_000):
            view(PullProgress("m", done, 4_000_000, "from the package index"))
        view(PullProgress("m", 0, 4_000_000, "from the package index", message="[red]not markup"))
        view(PullProgress("m", 4_000_000, 4_000_000, "checking"))
        view(PullProgress("m", 4_000_000, 4_000_000, "here"))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["m from the package index: 0 of 4 MB", "[red]not markup", "m checking: 4 of 4 MB"]


async def test_cancelled_it_ends_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    running, ended = threading.Event(), threading.Event()

    def endless(name: str, progress: Progress) -> Path:
        running.set()
        try:
            while True:
                progress(PullProgress(name, 0, 1))
        except ModelStoreError:
            ended.set()
            raise

    monkeypatch.setattr(model_download, "ensure_model", endless)
    task = asyncio.create_task(fetch_model_async("m"))
    with anyio.fail_after(20):
        await asyncio.to_thread(running.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(ended.wait, 20)
