from collections.abc import Generator

import pytest
from playwright.sync_api import Browser
from tests.e2e.browser import Window, open_browser, open_window
from tests.e2e.scripted_coaches import coaching_engine
from tests.e2e.stage import Stage, deploy_counter, open_stage


# For one module, not for the session: while Playwright runs, no test of asyncio can run in the same thread.
@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """One Chromium."""
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stage]:
    """One server with both teams and a deployed agent."""
    home = tmp_path_factory.mktemp("stage") / "home"
    deploy_counter(home)
    with (
        coaching_engine().in_thread() as engine,
        open_stage(home, "--engine-url", engine.url, "--team", "coaching", "--team", "engineering") as stage,
    ):
        yield stage


@pytest.fixture
def window(browser: Browser, stage: Stage) -> Generator[Window]:
    """A window of its own on the shared server."""
    with open_window(browser, stage.url) as window:
        yield window
