"""The main path of the chat with a real small model behind it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.browser import open_window
from tests.e2e.scripted_coaches import GOAL
from tests.e2e.stage import open_stage

pytestmark = [pytest.mark.browser, pytest.mark.engine, pytest.mark.timeout(780)]


def test_a_person_talks_to_the_coach(
    browser: Browser, tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPERTORY_MODELS", str(model_folder))
    with (
        open_stage(tmp_path / "home", "--embedded", "--model", "smollm2-135m") as stage,
        open_window(browser, stage.url) as window,
    ):
        window.open("/chat")
        page = window.page
        page.get_by_label("Your message").fill(GOAL)
        page.keyboard.press("Enter")
        entry = page.locator("article").last
        expect(entry.locator(".bubble-first .prose")).not_to_be_empty(timeout=120_000)
        # What a model of this size writes may not pass the checks: then the turn says so, and the first reply stands.
        expect(page.locator("article[data-status=complete], article[data-status=partial]")).to_have_count(
            1, timeout=600_000
        )
        turn = stage.get("/api/turns")["turns"][0]
        detail = stage.get(f"/api/turns/{turn['id']}")
        shown = entry.locator(".bubble-first, .bubble-reply").first.inner_text()
        assert " ".join(detail["first_reply"].split())[:40] in " ".join(shown.split())
        window.open(f"/teams?team=coaching&turn={turn['id']}")
        computed = page.locator('[data-of="tokens.prefill"]')
        expect(computed).to_have_attribute("value", str(detail["tokens"]["prefill"]))
        assert window.errors == []
