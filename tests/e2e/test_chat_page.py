"""A chat page of others in front of the gateway: a person writes there to a team, and to a model, and reads along."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.browser import open_window
from tests.e2e.chat_page import ChatPage, open_chat_page
from tests.e2e.scripted_coaches import GOAL, coaching_engine
from tests.e2e.stage import Stage, open_stage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

FIRST = "What would make Tuesday evening easier to protect?"
FULL = "What could stop the next rush job before Tuesday evening?"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stage]:
    """A gateway that wants keys."""
    home = tmp_path_factory.mktemp("gateway") / "home"
    with coaching_engine().in_thread() as engine, open_stage(home, "--engine-url", engine.url, "--keys") as stage:
        yield stage


@pytest.fixture(scope="module")
def key(stage: Stage) -> str:
    """A key that speaks for one person."""
    return stage.cli("keys", "create", "chat-page", "--user", "ada")["key"]


@contextmanager
def chat(browser: Browser, stage: Stage, model: str, key: str) -> Generator[ChatPage]:
    with (
        open_chat_page(stage.url, model, key, stage.home.parent / "chat-page.log") as url,
        open_window(browser, url) as window,
    ):
        page = ChatPage(window.page)
        page.open(url)
        yield page


def turns_of(stage: Stage, key: str) -> list[dict[str, Any]]:
    answer = httpx2.get(f"{stage.url}/api/turns", headers={"Authorization": f"Bearer {key}"}, trust_env=False)
    return answer.raise_for_status().json()["turns"]


def grew(seen: Sequence[str]) -> bool:
    """Whether an answer came bit by bit. Not every step adds: a mark that is completed is shown as what it means."""
    return len(seen) > 3 and len(seen[0]) < len(seen[-1]) / 2


def test_a_person_talks_to_a_team(browser: Browser, stage: Stage, key: str) -> None:
    with chat(browser, stage, "coaching", key) as page:
        page.say(GOAL)
        expect(page.answers.last).to_contain_text(FIRST)
        expect(page.answers.last).to_contain_text(FULL)
        page.settle()
        assert grew(page.seen()), page.seen()
        assert any(FIRST in text and FULL not in text for text in page.seen()), "the first reply had to wait"
        page.say("I told the client that Tuesdays are taken.")
        expect(page.answers).to_have_count(2)
        expect(page.answers.last).to_contain_text(FULL)
        page.settle()
    turns = turns_of(stage, key)
    assert [turn["user"] for turn in turns] == ["ada"] * 2
    assert len({turn["session"] for turn in turns}) == 1, "the second message began another session"


def test_a_person_talks_to_a_model(browser: Browser, stage: Stage, key: str) -> None:
    with chat(browser, stage, "coaching/shadow", key) as page:
        page.say("Hello.")
        expect(page.answers.last).to_contain_text(FIRST)
        page.settle()
        assert grew(page.seen()), page.seen()


@pytest.mark.parametrize(
    ("model", "token", "said"),
    [("nobody", None, "there is no model"), ("coaching", "a-wrong-key", "key")],
    ids=["unknown model", "wrong key"],
)
def test_a_refusal_is_shown(browser: Browser, stage: Stage, key: str, model: str, token: str | None, said: str) -> None:
    before = len(turns_of(stage, key))
    with chat(browser, stage, model, token or key) as page:
        page.say("Hello.")
        expect(page.page.get_by_test_id("toast-body")).to_contain_text(said)
    assert len(turns_of(stage, key)) == before


@pytest.mark.engine
def test_a_real_model_answers(
    browser: Browser, tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPERTORY_MODELS", str(model_folder))
    with open_stage(tmp_path / "home", "--embedded", "--model", "smollm2-135m", "--keys") as stage:
        key = stage.cli("keys", "create", "chat-page", "--user", "ada")["key"]
        with chat(browser, stage, "smollm2-135m", key) as page:
            page.say("Write three short sentences about the sea.")
            expect(page.answers.last).not_to_be_empty(timeout=120_000)
            page.settle(timeout_s=120)
            assert grew(page.seen()), page.seen()
