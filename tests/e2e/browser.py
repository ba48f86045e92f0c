"""A real Chromium for the tests, which sees what a person would not: console errors, and what axe finds."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

__all__ = ("Window", "open_browser", "open_window")

ROOT = Path(__file__).resolve().parents[2]
_CHROMIUM = Path(os.environ.get("REPERTORY_CHROMIUM") or "/usr/bin/chromium")
_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
_STEP_MS = 20_000
_SCREENSHOTS = os.environ.get("REPERTORY_SCREENSHOTS")
"""A folder to write the screenshots of the documentation to; without it none are written."""


@dataclass
class Window:
    """A page of the browser, and what went wrong on it."""

    page: Page
    url: str
    errors: list[str] = field(default_factory=list[str])

    def open(self, path: str) -> None:
        """Go to a page of the dashboard, and wait until it has loaded its data."""
        self.page.goto(self.url + path)
        self.settle()

    def settle(self) -> None:
        """Wait until the page shows its heading and loads nothing."""
        self.page.wait_for_selector("h1")
        # Not `wait_for_function`: it would evaluate text in the page, which the page's policy forbids.
        expect(self.page.locator(".skeleton, [aria-busy=true]")).to_have_count(0, timeout=_STEP_MS)
        self.page.evaluate("document.fonts.ready.then(() => true)")

    def check(self) -> None:
        """Fail on anything that the console or axe complains of, and on a page wider than its window."""
        assert self.errors == []
        assert self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "the page is too wide"
        self.page.evaluate(_axe())
        found: list[dict[str, Any]] = self.page.evaluate("axe.run().then(result => result.violations)")
        serious = [
            f"{item['id']}: {item['help']}: {[node['html'][:200] for node in item['nodes'][:3]]}"
            for item in found
            if item["impact"] in ("serious", "critical")
        ]
        assert serious == []

    def picture(self, name: str, *, most_kb: int = 200) -> None:
        """Write a screenshot for the documentation, if that was asked for."""
        if _SCREENSHOTS is None:
            return
        path = ROOT / _SCREENSHOTS / f"dashboard-{name}.png"
        # One must see the page, not a moment of its movement.
        self.page.screenshot(path=path, animations="disabled", caret="hide")
        assert path.stat().st_size < most_kb * 1000, f"{path} is too large for the documentation"


@contextmanager
def open_browser() -> Generator[Browser]:
    """Chromium, without a window."""
    if not _CHROMIUM.exists():
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"no Chromium at {_CHROMIUM}; install Debian's `chromium`, or name one in REPERTORY_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_window(browser: Browser, url: str, **options: Any) -> Generator[Window]:
    """A window of its own: no cookies, no storage, no choices of another test."""
    options = {"viewport": {"width": 1280, "height": 860}, "locale": "en-GB", "timezone_id": "Europe/Lisbon"} | options
    context = browser.new_context(**options)
    context.set_default_timeout(_STEP_MS)
    window = Window(context.new_page(), url)

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            window.errors.append(f"{message.text} ({message.location.get('url')})")

    window.page.on("console", note)
    window.page.on("pageerror", lambda error: window.errors.append(str(error)))
    try:
        yield window
    finally:
        context.close()


@cache
def _axe() -> str:
    script = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.fail(f"{script} is not there; `make web` installs it")
    return script.read_text("utf-8")
