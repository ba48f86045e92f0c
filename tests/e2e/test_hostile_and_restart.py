"""What a dashboard must withstand: hostile text of a model, a server that goes away, people without a key."""

import gzip
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.browser import open_window
from tests.e2e.scripted_coaches import coaching_engine
from tests.e2e.stage import open_stage

from repertory.server.panel.pages import bundle_folder
from repertory.testing import ScriptedEngine
from repertory.testing.obliging import obliging

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

_HOSTILE = (
    '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> [go](javascript:window.hacked=1) **bold**'
)


# The coaching team's own checks would take the marks out; a team without rules hands everything on.
_PLAIN_TEAM = """\
name: plain
preamble: You answer a person.
reply: answer
sections:
  answer: {text: true}
agents:
  one: {writes: answer, instructions: Answer.}
"""


def test_text_of_a_model_stays_text(browser: Browser, tmp_path: Path) -> None:
    team = tmp_path / "plain.yaml"
    team.write_text(_PLAIN_TEAM)
    engine = ScriptedEngine(obliging(_HOSTILE), model="scripted")
    with (
        engine.in_thread(),
        open_stage(tmp_path / "home", "--engine-url", engine.url, "--team", str(team)) as stage,
        open_window(browser, stage.url) as window,
    ):
        window.open("/chat")
        page = window.page
        page.get_by_label("Your message").fill(f"My plan: {_HOSTILE}")
        page.keyboard.press("Enter")
        entry = page.locator("article").last
        expect(entry.locator(".bubble-reply")).to_contain_text("<script>", timeout=60_000)
        expect(entry.locator(".bubble-person")).to_contain_text("<script>")
        assert entry.locator("img, script, a[href^=javascript]").count() == 0
        assert page.evaluate("window.hacked") is None
        expect(entry.locator("strong").first).to_have_text("bold")
        assert window.errors == []


def test_the_page_stays_live_through_a_restart(browser: Browser, tmp_path: Path) -> None:
    with (
        coaching_engine().in_thread() as engine,
        open_stage(tmp_path / "home", "--engine-url", engine.url) as stage,
        open_window(browser, stage.url) as window,
    ):
        window.open("/chat?user=ann")
        page = window.page
        live = page.locator(".live-mark[data-live]")
        expect(live).to_be_visible()
        stage.stop()
        expect(page.get_by_text("Reconnecting")).to_be_visible()
        stage.start()
        expect(live).to_be_visible(timeout=30_000)
        expect(page.get_by_text("Reconnecting")).to_be_hidden()
        # The token of the server before is worth nothing now, and a message goes through all the same.
        page.get_by_label("Your message").fill("I will call my sister on Sunday.")
        page.keyboard.press("Enter")
        expect(page.locator("article .bubble-first").last).to_contain_text("You want the draft", timeout=60_000)
        # The browser tells that nobody answered for a while; nothing else went wrong.
        assert [error for error in window.errors if "net::ERR_" not in error] == []


def test_a_person_signs_in_with_a_key_and_sees_their_own_alone(browser: Browser, tmp_path: Path) -> None:
    with (
        coaching_engine().in_thread() as engine,
        open_stage(tmp_path / "home", "--engine-url", engine.url, "--keys") as stage,
        open_window(browser, stage.url) as window,
    ):
        key = stage.cli("keys", "create", "ann's phone", "--team", "coaching", "--user", "ann")["key"]
        page = window.page
        window.open("/chat")
        expect(page.get_by_role("heading", level=1)).to_have_text("Repertory")
        window.check()
        page.get_by_label("Key").fill("rk-nonsense")
        page.get_by_role("button", name="Enter").click()
        expect(page.get_by_role("alert")).to_be_visible()
        window.errors.clear()  # the browser tells of the refused request, as it should
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Enter").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Chat")
        expect(page.get_by_role("link", name="Keys")).to_have_count(0)
        expect(page.get_by_label("As", exact=True)).to_have_count(0)
        page.get_by_label("Your message").fill("I will call my sister on Sunday.")
        page.keyboard.press("Enter")
        expect(page.locator("article .bubble-first").last).to_contain_text("You want the draft", timeout=60_000)
        assert not page.evaluate("document.cookie"), "a script can read the cookie"
        for path in ("/", "/teams", "/engineering", "/plan", "/models", "/keys", "/settings"):
            window.open(path)
            assert window.errors == [], path
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Key")).to_be_visible()


def test_the_bundle_is_small_and_keeps_to_itself() -> None:
    folder = bundle_folder()
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"index.html"} <= {path.name for path in files}, "`make web` builds the pages"
    sent = {path: len(gzip.compress(path.read_bytes())) for path in files}
    assert sum(sent.values()) < 400_000, sent
    index = (folder / "index.html").read_text("utf-8")
    assert "<style" not in index
    assert "style=" not in index
    assert 'src="http' not in index
    for path in files:
        if path.suffix in {".css", ".html"}:
            assert "//" not in path.read_text("utf-8").replace("http://www.w3.org", ""), path
