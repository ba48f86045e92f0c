"""A plan is started from the Plan page: its instances come up under a supervisor, or the page says why they can not."""

import stat
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.browser import Window, open_window
from tests.e2e.numbers import check_numbers
from tests.e2e.scripted_coaches import coaching_engine
from tests.e2e.stage import Stage, open_stage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

_FAKE = Path(__file__).parents[1] / "serving" / "instances" / "fake_engine.py"
_MAKES_ITS_FOLDER = """\
import os, sys
from pathlib import Path

os.chdir({folder!r})
folder = Path(sys.argv[sys.argv.index("serve") + 1])
folder.mkdir(parents=True, exist_ok=True)
(folder / "behaviour.json").write_text('{{"loads_for_tenths": 5}}')
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that is started like vLLM and answers like it, for whatever checkpoint a plan names."""
    folder = tmp_path / "engines"
    folder.mkdir()
    path = folder / "vllm"
    source = _FAKE.read_text("utf-8").replace(
        "import json\n", f"{_MAKES_ITS_FOLDER.format(folder=str(folder))}import json\n", 1
    )
    path.write_text(f"#!{sys.executable}\n{source}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("REPERTORY_VLLM", str(path))
    return path


@pytest.fixture
def stage(program: Path, tmp_path: Path) -> Generator[Stage]:
    """A server of its own, whose supervisor is gone at the end, whatever the test did."""
    del program
    with (
        coaching_engine().in_thread() as engine,
        open_stage(tmp_path / "home", "--engine-url", engine.url) as stage,
    ):
        try:
            yield stage
        finally:
            stage.cli("down")


def cast(window: Window) -> dict[str, object]:
    """Cast the coaching team on one large device, which vLLM serves."""
    page = window.page
    window.open("/plan")
    page.get_by_label("Team").select_option("coaching")
    page.get_by_label("Devices").select_option("own")
    page.get_by_label("Which devices").fill("h100")
    with page.expect_response("**/api/plan", timeout=90_000) as answer:
        page.get_by_role("button", name="Cast").click()
    document = answer.value.json()
    assert {instance["engine"] for instance in document["instances"]} == {"vllm"}
    window.settle()
    check_numbers(page, "plan", document, least=15)
    return document


def test_a_plan_is_started_and_its_instances_answer(browser: Browser, stage: Stage) -> None:
    with open_window(browser, stage.url) as window:
        page = window.page
        cast(window)
        with page.expect_response("**/api/plan/start") as answer:
            page.get_by_role("button", name="Start the instances").click()
        started = answer.value.json()
        assert not started["serves_at_once"]
        expect(page.get_by_text("The instances are up.")).to_be_visible(timeout=90_000)
        window.check()
        until = time.monotonic() + 90
        while True:
            told = {one["id"]: one["status"] for one in stage.cli("status")["instances"]}
            assert set(told) == set(started["instances"])
            if set(told.values()) == {"ready"} or time.monotonic() > until:
                break
            time.sleep(0.5)
        assert set(told.values()) == {"ready"}, stage.cli("status")
        assert window.errors == []


def test_a_plan_that_can_not_be_started_says_why(browser: Browser, stage: Stage, program: Path) -> None:
    program.unlink()
    with open_window(browser, stage.url) as window:
        cast(window)
        window.page.get_by_role("button", name="Start the instances").click()
        notice = window.page.locator(".notice").filter(has_text="vllm")
        expect(notice).to_be_visible(timeout=30_000)
        expect(window.page.get_by_role("button", name="Start the instances")).to_be_enabled()
        assert stage.cli("status")["instances"] == []
        assert window.errors == []
