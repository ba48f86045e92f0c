"""Agents from their request to their use: built, looked at, tried as a canary, talked to."""

import json
import re
from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.browser import Window, open_window
from tests.e2e.numbers import check_numbers
from tests.e2e.scripted_builders import CONTRACT, REQUEST, SAID, building_engine
from tests.e2e.stage import Stage, deploy_counter, deploy_talker, open_stage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stage]:
    """A server whose engine can build, with an agent of tools and one that talks."""
    home = tmp_path_factory.mktemp("building") / "home"
    deploy_counter(home)
    deploy_talker(home)
    with (
        building_engine().in_thread() as engine,
        open_stage(home, "--engine-url", engine.url, "--team", "coaching", "--team", "engineering") as stage,
    ):
        yield stage


def test_a_request_becomes_an_agent_that_answers(window: Window, stage: Stage) -> None:
    window.open("/engineering")
    page = window.page
    page.get_by_label("What is it to do?").fill(REQUEST)
    page.get_by_label("Contract (optional)").fill(CONTRACT)
    page.get_by_role("button", name="Build it").click()
    board = page.get_by_role("list", name="The nine agents")
    expect(board.get_by_role("listitem")).to_have_count(9)
    view = page.locator("[data-api=build]")
    expect(view.get_by_text("built", exact=True)).to_be_visible(timeout=90_000)
    summary = stage.get("/api/builds")["builds"][0]
    build = stage.get(f"/api/builds/{summary['build']}")
    assert (build["status"], build["tests"]["passed"] > 0) == ("built", True), build["why"]
    expect(view.get_by_text(build["why"]).first).to_be_visible()
    expect(view.get_by_text(REQUEST).first).to_be_visible()
    check_numbers(page, "build", build, least=5)
    # The board adds up the calls of each agent, which the API lists one by one.
    for name in ("builder", "tester"):
        row = board.get_by_role("listitem").filter(has_text=name)
        steps = [step["seconds"] for step in build["steps"] if step["agent"] == name]
        expect(row).to_contain_text(f"{len(steps)} call")
        assert float(row.locator("data").get_attribute("value") or "nan") == pytest.approx(sum(steps))
    view.get_by_role("tab", name="code").click()
    expect(view.get_by_role("tabpanel")).to_contain_text("def count_letters(word):")
    window.check()

    view.get_by_role("link", name=build["agent"]).click()
    name = build["agent"].split("@")[0]
    shown = page.locator("[data-api=agent]")
    expect(shown.get_by_text("Counts letters.").first).to_be_visible()
    expect(shown.get_by_text("live", exact=True)).to_be_visible()
    shown.get_by_text("Evidence", exact=True).click()
    expect(shown.get_by_text(REQUEST).first).to_be_visible()
    evidence = stage.get(f"/api/agents/{name}")["evidence"]
    assert len(evidence["tests"]["passed"]) == build["tests"]["passed"]
    for case in evidence["tests"]["passed"]:
        expect(shown.get_by_text(case["test"], exact=True).first).to_be_visible()
    shown.get_by_text("Files", exact=True).click()
    check_numbers(page, "agent", stage.get(f"/api/agents/{name}"), least=5)
    shown.get_by_role("button", name="tools.py", exact=True).click()
    expect(shown.locator("pre").filter(has_text="letter.isalpha()")).to_be_visible()

    shown.get_by_label("Arguments").fill('{"word": "lighthouse"}')
    with page.expect_response("**/call") as answer:
        shown.get_by_role("button", name="Call", exact=True).click()
    expect(shown.get_by_role("status").locator("pre")).to_have_text("10")
    check_numbers(page, "call", answer.value.json(), least=1)
    window.check()


def test_a_canary_stands_beside_the_live_version_and_goes_on_or_back(window: Window, stage: Stage) -> None:
    def states() -> dict[int, str]:
        return {one["version"]: one["state"] for one in stage.get("/api/agents/counter")["versions"]}

    window.open("/engineering?agent=counter")
    page = window.page
    first = page.locator(".list > li").filter(has_text="counter@1")
    second = page.locator(".list > li").filter(has_text="counter@2")
    page.get_by_role("button", name="Canary counter@2").click()
    expect(second.get_by_text("canary", exact=True)).to_be_visible()
    expect(first.get_by_text("live", exact=True)).to_be_visible()
    assert states() == {1: "live", 2: "canary"}
    expect(page.get_by_role("button", name="Canary counter@2")).to_have_count(0)
    row = stage.get("/api/agents")["agents"]
    assert [(one["live"], one["canary"]) for one in row if one["name"] == "counter"] == [("counter@1", "counter@2")]
    # While it is tried, people still get the live one's answers.
    page.get_by_label("Tool").select_option("count")
    page.get_by_label("Arguments").fill('{"text": "to be or not"}')
    with page.expect_response("**/call") as answer:
        page.get_by_role("button", name="Call", exact=True).click()
    assert (answer.value.json()["agent"], answer.value.json()["result"]) == ("counter@1", 4)
    window.check()
    page.get_by_role("button", name="Promote counter@2").click()
    expect(second.get_by_text("live", exact=True)).to_be_visible()
    assert states() == {1: "retired", 2: "live"}
    page.get_by_role("button", name="Roll back").click()
    expect(first.get_by_text("live", exact=True)).to_be_visible()
    assert states()[1] == "live"
    assert window.errors == []


def test_a_deployed_agent_is_talked_to(window: Window) -> None:
    window.open("/engineering?agent=thermometer")
    page = window.page
    page.get_by_role("link", name="Talk to it").click()
    expect(page.get_by_label("With")).to_have_value("agent:thermometer")
    page.get_by_label("Your message").fill("How many letters?")
    page.keyboard.press("Enter")
    reply = page.locator(".bubble-reply").last
    expect(reply).to_have_text(SAID.replace("**", ""), timeout=60_000)
    expect(reply.locator("strong")).to_have_text("if")
    used = page.get_by_text("used c_to_f")
    before = used.count()
    # What is written as a call is carried out by the sandbox, and the page says which tool answered.
    page.get_by_label("Your message").fill(json.dumps({"tool": "c_to_f", "arguments": {"celsius": 20}}))
    page.keyboard.press("Enter")
    expect(page.locator(".bubble-reply").last).to_have_text("68.0")
    expect(used).to_have_count(before + 1)
    window.check()
    page.get_by_role("button", name="New session").click()
    expect(page.locator(".bubble")).to_have_count(0)


def test_with_keys_a_person_talks_to_whom_they_may_reach_and_nobody_else(browser: Browser, stage: Stage) -> None:
    home = stage.home.parent / "keys"
    deploy_counter(home)
    deploy_talker(home)
    with (
        building_engine().in_thread() as engine,
        open_stage(home, "--engine-url", engine.url, "--keys") as guarded,
        open_window(browser, guarded.url) as window,
    ):
        scopes = {"ann": ("--team", "coaching", "--agent", "thermometer"), "bob": ("--team", "coaching")}
        keys = {
            name: guarded.cli("keys", "create", name, "--user", name, *arguments)["key"]
            for name, arguments in scopes.items()
        }
        page = window.page
        for name, partners in (("bob", ["coaching"]), ("ann", ["coaching", "agent:thermometer"])):
            window.open("/chat")
            page.get_by_label("Key").fill(keys[name])
            page.get_by_role("button", name="Enter").click()
            options = page.get_by_label("With").get_by_role("option")
            expect(options).to_have_text([re.compile(re.escape(partner)) for partner in partners])
            if name == "bob":
                window.errors.clear()  # of the pages before somebody was signed in
                page.goto(f"{guarded.url}/chat?team=agent:thermometer")
                page.get_by_label("Your message").fill("Hello?")
                page.keyboard.press("Enter")
                expect(page.get_by_role("alert")).to_contain_text("there is no agent 'thermometer'")
                expect(page.get_by_label("Your message")).to_have_value("Hello?")
                window.errors.clear()  # the browser tells of the refused request, as it should
                window.open("/settings")
                page.get_by_role("button", name="Sign out").click()
                expect(page.get_by_label("Key")).to_be_visible()
        page.get_by_label("With").select_option("agent:thermometer")
        page.get_by_label("Your message").fill("How many letters?")
        page.keyboard.press("Enter")
        expect(page.locator(".bubble-reply").last).to_have_text(SAID.replace("**", ""), timeout=60_000)
        window.check()
