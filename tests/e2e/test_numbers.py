"""Every number on a page is the API's; those of the overview, of turns and of plans are looked at with their pages."""

import pytest
from playwright.sync_api import expect
from tests.e2e.browser import Window
from tests.e2e.numbers import check_numbers, unnamed_numbers
from tests.e2e.scripted_coaches import GOAL, say
from tests.e2e.stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def played(stage: Stage) -> Stage:
    """The server with a key that has limits, and its files."""
    stage.cli("keys", "create", "limited", "--requests-per-minute", "7")
    stage.cli("keys", "create", "unlimited")
    return stage


def test_numbers_of_the_chat(window: Window, played: Stage) -> None:
    say(window, GOAL, "nora")
    side = window.page.get_by_role("complementary", name="Blackboard")

    def check(least: int) -> None:
        check_numbers(window.page, "blackboard", played.get("/api/blackboard/coaching/nora"), least=least)
        assert unnamed_numbers(window.page) == []

    check(0)
    side.get_by_role("tab", name="Commitments").click()
    check(1)
    side.locator("[data-commitment]").first.get_by_role("button", name="kept", exact=True).click()
    expect(side.locator("[data-commitment]").first.get_by_text("kept", exact=True)).to_be_visible()
    side.get_by_role("tab", name="Predictions").click()
    expect(side.locator(".plot-point")).to_have_count(1)
    check(20)


def test_numbers_of_the_list_of_turns(window: Window, played: Stage) -> None:
    say(window, GOAL, "tina")
    window.open("/teams?team=coaching")
    check_numbers(window.page, "turns", played.get("/api/turns?team=coaching"), least=1)
    assert unnamed_numbers(window.page) == []


def test_numbers_of_an_agent(window: Window, played: Stage) -> None:
    window.open("/engineering?agent=counter")
    window.page.get_by_text("Files", exact=True).click()
    check_numbers(window.page, "agent", played.get("/api/agents/counter"), least=4)
    assert unnamed_numbers(window.page) == []


def test_numbers_of_the_devices(window: Window, played: Stage) -> None:
    del played
    with window.page.expect_response("**/api/devices") as answer:  # what is free changes all the time
        window.open("/plan")
    document = answer.value.json()
    check_numbers(window.page, "devices", document, least=2 * len(document["detected"]))
    options = window.page.get_by_label("Devices").get_by_role("option").all_text_contents()
    for profile in document["profiles"]:
        assert f"{profile['name']} ({profile['memory_gib']:.0f} GiB)" in options
    assert unnamed_numbers(window.page) == []


def test_numbers_of_the_models(window: Window, played: Stage) -> None:
    window.open("/models")
    document = played.get("/api/models")
    weights = sum(len(model["checkpoints"]) for model in document["catalog"])
    check_numbers(
        window.page, "models", document, least=len(document["files"]) + 3 * len(document["catalog"]) + weights
    )
    window.page.get_by_label("Search models").fill("qwen3-30b")
    expect(window.page.get_by_role("table").locator("tbody tr").first).to_contain_text("Qwen3-30B")
    check_numbers(window.page, "models", document, least=4)
    assert unnamed_numbers(window.page) == []


def test_numbers_of_the_keys(window: Window, played: Stage) -> None:
    window.open("/keys")
    document = played.get("/api/keys")
    assert {key["requests_per_minute"] for key in document["keys"]} == {7, None}
    check_numbers(window.page, "keys", document, least=2)
    assert unnamed_numbers(window.page) == []


@pytest.mark.parametrize("path", ["/", "/settings"])
def test_no_number_is_without_its_place(window: Window, played: Stage, path: str) -> None:
    del played
    window.open(path)
    assert unnamed_numbers(window.page) == []
