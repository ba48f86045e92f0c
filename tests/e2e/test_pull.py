"""A model file is pulled from the Models page, from a hub that is slow enough to see how far it is."""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.browser import open_window
from tests.e2e.numbers import shown_numbers
from tests.e2e.scripted_coaches import coaching_engine
from tests.e2e.stage import open_stage

from repertory.catalog.checkpoint_files import find_checkpoint_file

pytestmark = [pytest.mark.browser, pytest.mark.engine, pytest.mark.timeout(300)]

MODEL = "qwen2.5-coder-0.5b"
_CHUNK = 4 * 1024 * 1024
_PAUSE_S = 0.08


@contextmanager
def slow_hub(file: Path, sha256: str) -> Generator[str]:
    """A hub that has one file, and sends it in pieces with pauses between."""
    size = file.stat().st_size

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _begin(self, start: int) -> None:
            self.send_response(206 if start else 200)
            for name, value in (
                ("ETag", f'"{sha256}"'),
                ("X-Repo-Commit", "0" * 40),
                ("Content-Length", str(size - start)),
                ("Content-Range", f"bytes {start}-{size - 1}/{size}"),
                ("Accept-Ranges", "bytes"),
            ):
                self.send_header(name, value)
            self.end_headers()

        def do_HEAD(self) -> None:
            self._begin(0)

        def do_GET(self) -> None:
            start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
            self._begin(start)
            with file.open("rb") as source:
                source.seek(start)
                while piece := source.read(_CHUNK):
                    self.wfile.write(piece)
                    time.sleep(_PAUSE_S)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_model_is_pulled_while_one_looks_and_removed_again(
    browser: Browser, tmp_path: Path, small_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = find_checkpoint_file(MODEL)
    assert known is not None
    with slow_hub(small_model, known.sha256) as hub, coaching_engine().in_thread() as engine:
        monkeypatch.setenv("HF_ENDPOINT", hub)
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("REPERTORY_MODELS", str(tmp_path / "models"))
        monkeypatch.delenv("REPERTORY_MODEL_FILES", raising=False)
        with (
            open_stage(tmp_path / "home", "--engine-url", engine.url) as stage,
            open_window(browser, stage.url) as window,
        ):
            window.open("/models")
            page = window.page

            def state() -> str:
                return next(one["state"] for one in stage.get("/api/models")["files"] if one["name"] == MODEL)

            row = page.locator(".list > li").filter(has=page.get_by_text(MODEL, exact=True))
            assert state() == "available"
            row.get_by_role("button", name=f"Pull {MODEL}").click()
            expect(row.get_by_text("being pulled", exact=True)).to_be_visible()
            pull = row.locator("[data-api=pull]")
            expect(pull).to_be_visible(timeout=60_000)  # the hub's library loads slowly
            seen: list[float] = []
            while len(seen) < 3:
                expect(pull).to_be_visible()
                shown = shown_numbers(page, "pull")
                assert shown.get("total_bytes", known.bytes) == known.bytes
                done = shown.get("done_bytes")
                if done is not None and (not seen or done != seen[-1]):
                    seen.append(done)
                page.wait_for_timeout(100)
            assert seen == sorted(seen)
            assert seen[-1] <= known.bytes
            assert state() == "pulling"
            window.check()
            # Whoever comes in the middle of it sees that it goes on.
            page.reload()
            expect(pull).to_be_visible()
            expect(row.get_by_text("here", exact=True)).to_be_visible(timeout=120_000)
            assert state() == "present"
            expect(pull).to_have_count(0)

            row.get_by_role("button", name=f"Remove {MODEL}").click()
            page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
            expect(row.get_by_text("can be pulled", exact=True)).to_be_visible()
            assert state() == "available"
            assert window.errors == []
