"""Every page with something on it, in light and dark: sound for axe, and a picture for the documentation.

`REPERTORY_SCREENSHOTS=docs/images` writes the pictures.
"""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.browser import Window, open_window
from tests.e2e.scripted_coaches import GOAL, coaching_engine
from tests.e2e.stage import Stage, deploy_counter, open_stage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

_SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def played(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Generator[Stage]:
    """A server on which somebody has talked to the coach."""
    home = tmp_path_factory.mktemp("played") / "home"
    deploy_counter(home)
    with (
        coaching_engine(token_delay_s=0.01).in_thread() as engine,
        open_stage(home, "--engine-url", engine.url, "--team", "coaching", "--team", "engineering") as stage,
    ):
        with open_window(browser, stage.url) as window:
            window.open("/chat")
            for number, message in enumerate((GOAL, "I wrote on Tuesday. It felt good, but short."), start=1):
                window.page.get_by_label("Your message").fill(message)
                window.page.keyboard.press("Enter")
                done = window.page.locator("article[data-status=complete]")
                expect(done).to_have_count(number, timeout=60_000)
        yield stage


@pytest.fixture(params=_SCHEMES)
def scheme(request: pytest.FixtureRequest) -> str:
    """Light and dark."""
    return request.param


@pytest.fixture
def shown(browser: Browser, played: Stage, scheme: str) -> Generator[Window]:
    """A window in that scheme."""
    with open_window(browser, played.url, color_scheme=scheme) as window:
        yield window


def _keep(window: Window, name: str, scheme: str) -> None:
    window.settle()
    window.page.mouse.move(0, 0)
    window.check()
    window.picture(f"{name}-{scheme}")


@pytest.mark.parametrize("name", ["engineering", "models", "keys", "settings"])
def test_a_page(shown: Window, scheme: str, name: str) -> None:
    shown.open("/engineering?agent=counter" if name == "engineering" else f"/{name}")
    _keep(shown, name, scheme)


def test_the_overview_while_a_team_plays(shown: Window, scheme: str) -> None:
    shown.open("/chat")
    shown.page.get_by_label("Your message").fill("I will write again on Thursday evening.")
    shown.page.keyboard.press("Enter")
    expect(shown.page.locator(".bubble-first").last).to_contain_text("You want")
    shown.page.get_by_role("navigation").get_by_role("link", name="Overview").click()
    expect(shown.page.locator(".working-agent").first).to_be_visible()
    shown.picture(f"overview-{scheme}")
    expect(shown.page.get_by_text("The stage is quiet")).to_be_visible(timeout=60_000)
    shown.check()


def test_the_chat_with_its_blackboard(shown: Window, scheme: str) -> None:
    shown.open("/chat")
    expect(shown.page.locator("article[data-status=complete]").first).to_be_visible()
    _keep(shown, "chat", scheme)


def test_a_turn_of_a_team(shown: Window, played: Stage, scheme: str) -> None:
    turns = [turn for turn in played.get("/api/turns?team=coaching")["turns"] if turn["number"] == 1]
    shown.open(f"/teams?team=coaching&turn={turns[0]['id']}")
    expect(shown.page.locator(".node-agent[data-state=done]")).to_have_count(6)
    shown.page.set_viewport_size({"width": 1280, "height": 1240})
    _keep(shown, "teams", scheme)


def test_a_plan(shown: Window, scheme: str) -> None:
    shown.open("/plan")
    shown.page.get_by_label("Team").select_option("coaching")
    shown.page.get_by_label("Devices").select_option("2xrtx4090")
    shown.page.get_by_role("button", name="Cast").click()
    expect(shown.page.get_by_role("heading", name="Memory of each device")).to_be_visible(timeout=90_000)
    shown.page.set_viewport_size({"width": 1280, "height": 1240})
    _keep(shown, "plan", scheme)


def test_signing_in(browser: Browser, played: Stage, scheme: str) -> None:
    with (
        coaching_engine().in_thread() as engine,
        open_stage(played.home.parent / f"keys-{scheme}", "--engine-url", engine.url, "--keys") as stage,
        open_window(browser, stage.url, color_scheme=scheme) as window,
    ):
        window.open("/")
        _keep(window, "sign-in", scheme)
