"""The dashboard in a real browser, on a real server with a scripted engine: the main path of each page."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.browser import Window, open_window
from tests.e2e.numbers import check_numbers, shown_numbers
from tests.e2e.scripted_coaches import GOAL, say
from tests.e2e.stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

PAGES = ("", "teams", "chat", "engineering", "plan", "models", "keys", "settings")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_sound_in_light_and_dark(browser: Browser, stage: Stage, name: str, scheme: str) -> None:
    with open_window(browser, stage.url, color_scheme=scheme) as window:
        window.open(f"/{name}")
        assert window.page.locator("html").get_attribute("data-theme") == scheme
        window.check()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_fits_a_phone(browser: Browser, stage: Stage, name: str) -> None:
    with open_window(browser, stage.url, viewport={"width": 390, "height": 844}, has_touch=True) as window:
        window.open(f"/{name}")
        window.check()
        window.page.get_by_role("button", name="Menu").click()
        link = window.page.get_by_role("navigation").get_by_role("link", name="Settings")
        expect(link).to_be_in_viewport()
        link.click()
        expect(window.page.get_by_role("heading", level=1)).to_have_text("Settings")


def test_the_overview_shows_the_numbers_of_the_api(window: Window, stage: Stage) -> None:
    say(window, GOAL, "olga")
    window.open("/")
    expect(window.page.locator('[data-of="totals.turns_running"]')).to_have_attribute("value", "0")
    window.page.wait_for_timeout(2500)  # the next tick
    document = stage.get("/api/overview")
    assert document["totals"]["prompt_tokens"] > 0
    check_numbers(window.page, "overview", document, least=15)
    window.check()


def test_a_talk_streams_and_tells_what_it_rests_on(window: Window, stage: Stage) -> None:
    page = window.page
    window.open("/chat?team=coaching&user=ann")
    expect(page.get_by_text("You are talking to an AI. It can be wrong")).to_be_visible()
    page.get_by_label("Your message").fill(GOAL)
    page.keyboard.press("Enter")
    entry = page.locator("article").last
    expect(entry.locator(".bubble-person")).to_contain_text("first draft of my novel")
    # The Coach's words are there while the others work, and the full reply is not.
    expect(entry.locator(".bubble-first")).to_contain_text("You want the draft")
    assert entry.locator(".bubble-reply").count() == 0
    expect(entry.get_by_role("list", name="Agents at work").get_by_role("listitem")).to_have_count(6)
    expect(entry.locator(".bubble-reply")).to_contain_text("rush job", timeout=60_000)

    page.get_by_role("button", name=re.compile("finish the first draft of your novel")).click()
    why = page.get_by_role("dialog", name="What this rests on")
    expect(why.get_by_text(re.compile("^by "))).not_to_have_count(0)
    expect(why.get_by_text(re.compile("“I want to finish the first draft")).first).to_be_visible()
    window.check()
    page.keyboard.press("Escape")
    expect(why).to_be_hidden()

    side = page.get_by_role("complementary", name="Blackboard")
    shadow = side.get_by_role("group").filter(has_text="shadow")
    expect(shadow.get_by_text("finish the first draft of my novel by spring")).to_be_visible()
    side.get_by_role("tab", name="Commitments").click()
    commitment = side.locator("[data-commitment]").first
    expect(commitment).to_contain_text("write for 30 minutes")
    commitment.get_by_role("button", name="kept", exact=True).click()
    expect(commitment.get_by_text("kept", exact=True)).to_be_visible()
    board = stage.get("/api/blackboard/coaching/ann")
    assert board["commitments"][0]["outcome"] == "kept"
    assert float(commitment.locator("data").get_attribute("value") or 0) == board["commitments"][0]["p"]
    side.get_by_role("tab", name="Predictions").click()
    expect(side.locator(".plot-point")).to_have_count(1)
    window.check()

    page.reload()
    window.settle()
    expect(page.locator("article").last).to_contain_text("first draft of my novel")
    expect(page.locator("article .bubble-reply").last).to_contain_text("rush job")
    assert window.errors == []


def test_ones_own_data_is_taken_away_corrected_forgotten_and_erased(
    window: Window, stage: Stage, tmp_path: Path
) -> None:
    say(window, GOAL, "eve")
    page = window.page
    side = page.get_by_role("complementary", name="Blackboard")
    side.get_by_role("tab", name="My data").click()
    with page.expect_download() as download:
        side.get_by_role("link", name="Export").click()
    download.value.save_as(tmp_path / "export.json")
    assert json.loads((tmp_path / "export.json").read_text("utf-8"))["user"] == "eve"

    side.get_by_label("Trait", exact=True).select_option("openness")
    side.get_by_label("Score from 0 to 100").fill("72")
    side.get_by_role("button", name="Correct").first.click()
    expect(side.get_by_text("It stands as you say.")).to_be_visible()
    ocean = stage.get("/api/blackboard/coaching/eve")["sections"]["persona"]["value"]["ocean"]
    assert (ocean["openness"]["score"], ocean["openness"]["source"]) == (72, "person")
    window.check()

    side.get_by_role("button", name="Twenty statements").click()
    questions = page.get_by_role("dialog", name="Twenty statements")
    groups = questions.get_by_role("group")
    expect(groups).to_have_count(20)
    keep = questions.get_by_role("button", name="Keep my answers")
    expect(keep).to_be_disabled()
    window.check()
    for number, group in enumerate(groups.all()):
        group.get_by_role("radio").nth(number % 5).check()
        expect(questions.get_by_text(f"{19 - number} statements left")).to_have_count(1 if number < 19 else 0)
    keep.click()
    expect(questions).to_be_hidden()
    persona = stage.get("/api/blackboard/coaching/eve")["sections"]["persona"]
    assert persona["value"]["ocean"]["extraversion"]["source"] == "questionnaire"
    # What the person said of one trait stands above their answers.
    assert persona["value"]["ocean"]["openness"]["source"] == "person"
    side.get_by_role("tab", name="Sections").click()
    side.get_by_role("group").filter(has_text="persona").locator("summary").click()
    check_numbers(page, "blackboard", stage.get("/api/blackboard/coaching/eve"), least=15)
    side.get_by_role("tab", name="My data").click()

    side.get_by_label("Words, a message (m3) or a commitment (k1)").fill("rush job")
    side.get_by_role("button", name="Find").click()
    side.get_by_role("button", name="Forget these, for good (1)").click()
    expect(side.get_by_text("Forgotten.")).to_be_visible()
    assert "rush job" not in json.dumps(stage.get("/api/blackboard/coaching/eve/export"))

    side.get_by_role("button", name="Erase everything").click()
    dialog = page.get_by_role("dialog", name="Erase everything")
    erase = dialog.get_by_role("button", name="Erase for good")
    expect(erase).to_be_disabled()
    dialog.get_by_label("Type eve to confirm").fill("eve")
    erase.click()
    expect(page.get_by_text("Nothing is written yet")).to_be_visible()
    assert {"team": "coaching", "user": "eve"} not in stage.get("/api/blackboard")["blackboards"]
    assert window.errors == []


def test_a_team_is_drawn_and_its_turn_is_replayed(window: Window, stage: Stage) -> None:
    say(window, GOAL, "tom")
    turn = stage.get("/api/turns?user=tom")["turns"][0]["id"]
    window.open(f"/teams?team=coaching&turn={turn}")
    page = window.page
    expect(page.locator(".node-agent")).to_have_count(6)
    expect(page.locator(".node-agent[data-state=done]")).to_have_count(6)
    window.check()
    document = stage.get(f"/api/turns/{turn}")
    check_numbers(page, "turn", document, least=20)
    shown = shown_numbers(page, "turn")
    assert {f"agents.{name}.output_tokens" for name in document["agents"]} <= set(shown)
    moment = page.get_by_label("Moment of the turn")
    moment.focus()
    page.keyboard.press("Home")
    expect(page.locator(".node-agent[data-state=done]")).to_have_count(0)
    page.get_by_role("button", name="Replay").click()
    expect(page.locator(".node-agent[data-state=done]")).to_have_count(6)
    assert window.errors == []


def test_a_deployed_agent_is_tried_promoted_and_rolled_back(window: Window, stage: Stage) -> None:
    window.open("/engineering?agent=counter")
    page = window.page
    page.get_by_label("Tool").select_option("count")
    page.get_by_label("Arguments").fill('{"text": "to be or not"}')
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_role("status").locator("pre")).to_have_text("4")
    page.get_by_label("Arguments").fill("{")
    expect(page.get_by_role("button", name="Call", exact=True)).to_be_disabled()
    page.get_by_label("Tool").select_option("misbehave")
    page.get_by_label("Arguments").fill('{"how": "raise"}')
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_text("no such thing")).to_be_visible()
    window.check()

    def live() -> list[int]:
        return [one["version"] for one in stage.get("/api/agents/counter")["versions"] if one["state"] == "live"]

    versions = page.locator(".list > li").filter(has_text="counter@2")
    page.get_by_role("button", name="Promote counter@2").click()
    expect(versions.get_by_text("live", exact=True)).to_be_visible()
    assert live() == [2]
    page.get_by_role("button", name="Roll back").click()
    expect(versions.get_by_text("live", exact=True)).to_be_hidden()
    assert live() == [1]
    assert window.errors == []


def test_a_request_is_carried_by_nine_agents_while_one_looks(window: Window, stage: Stage) -> None:
    window.open("/engineering")
    page = window.page
    page.get_by_label("What is it to do?").fill("Turn blog titles into url slugs.")
    page.get_by_label("Contract (optional)").fill("tool: slugify(text: string) -> string")
    page.get_by_label("Minutes at most").fill("0.5")
    page.get_by_role("button", name="Build it").click()
    board = page.get_by_role("list", name="The nine agents")
    expect(board.get_by_role("listitem")).to_have_count(9)
    # The scripted engine writes no code, so what must come is an honest end.
    expect(page.locator(".card").filter(has=board).get_by_text("not built").first).to_be_visible(timeout=90_000)
    build = stage.get("/api/builds")["builds"][0]
    assert build["status"] == "not_built"
    expect(page.get_by_text(build["why"]).first).to_be_visible()
    window.check()


def test_a_plan_is_cast_and_moves_with_a_need(window: Window) -> None:
    page = window.page
    window.open("/plan")
    page.get_by_label("Team").select_option("coaching")
    page.get_by_label("Devices").select_option("rtx4090")
    with page.expect_response("**/api/plan", timeout=90_000) as answer:
        page.get_by_role("button", name="Cast").click()
    document = answer.value.json()
    assert document["status"] == "optimal"
    expect(page.get_by_text("proven best")).to_be_visible()
    window.settle()
    check_numbers(page, "plan", document, least=15)
    expect(page.get_by_role("row", name="shadow").get_by_text(document["agents"]["shadow"]["why"])).to_be_visible()
    window.check()
    context = page.get_by_label("Context: shadow")
    context.fill("24576")
    with page.expect_response("**/api/plan", timeout=90_000) as again:
        page.keyboard.press("Enter")
    changed = again.value.json()
    assert changed["instances"] != document["instances"]
    window.settle()
    check_numbers(page, "plan", changed, least=15)


def test_models_are_listed_with_their_sizes(window: Window, stage: Stage) -> None:
    window.open("/models")
    page = window.page
    models = stage.get("/api/models")
    expect(page.locator(".list > li")).to_have_count(len(models["files"]))
    expect(page.get_by_role("table").locator("tbody tr")).to_have_count(len(models["catalog"]))
    page.get_by_label("Search models").fill("qwen3-30b")
    expect(page.get_by_role("table").locator("tbody tr").first).to_contain_text("Qwen3-30B")
    assert window.errors == []


def test_a_key_is_made_shown_once_and_revoked(window: Window, stage: Stage) -> None:
    window.open("/keys")
    page = window.page
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog", name="New key")
    dialog.get_by_label("Name").fill("for the phone")
    dialog.get_by_label("coaching").check()
    dialog.get_by_role("button", name="New key").click()
    secret = dialog.locator("[data-secret]").text_content()
    assert secret
    dialog.get_by_role("button", name="Close").last.click()
    row = page.get_by_role("row").filter(has_text="for the phone")
    expect(row).to_contain_text("team:coaching")
    assert secret not in page.content()
    row.get_by_role("button", name="Revoke").click()
    expect(row.get_by_text("revoked")).to_be_visible()
    assert [key["state"] for key in stage.get("/api/keys")["keys"] if key["name"] == "for the phone"] == ["revoked"]
    assert window.errors == []


def test_language_and_appearance_are_kept(window: Window) -> None:
    window.open("/settings")
    page = window.page
    page.get_by_label("Language", exact=True).select_option("pt")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ajustes")
    page.get_by_label("Aparência", exact=True).select_option("dark")
    window.open("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Visão geral")
    assert page.locator("html").get_attribute("lang") == "pt-BR"
    assert page.locator("html").get_attribute("data-theme") == "dark"
    window.check()


def test_the_whole_way_is_possible_without_a_mouse(window: Window) -> None:
    window.open("/")
    page = window.page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    chat = page.get_by_role("navigation").get_by_role("link", name="Chat")
    chat.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Chat")
    expect(page.locator("main")).to_be_focused()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "TEXTAREA":
            break
    expect(page.get_by_label("Your message")).to_be_focused()


def test_an_unknown_page_says_so(window: Window) -> None:
    window.open("/nothing/here")
    expect(window.page.get_by_role("heading", level=1)).to_have_text("No such page")
    window.check()
