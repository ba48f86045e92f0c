"""`run`, `chat` and `doctor` work with what a probe has shown of the engine at `--engine-url`."""

import pytest

from repertory.cli.doctor_checks import check_engine_at
from repertory.cli.engine_choice import EngineChoice, open_engine
from repertory.engines.profile import EngineKind
from repertory.home import locate_home
from repertory.testing import ScriptedEngine


def kept() -> int:
    folder = locate_home().probes
    return len(list(folder.iterdir())) if folder.exists() else 0


async def test_an_engine_is_probed_at_first_sight_and_then_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPERTORY_PROBE", "1")
    said: list[str] = []
    asked = 0
    async with ScriptedEngine("I ignore schemas.", kind=EngineKind.VLLM) as scripted:
        for _ in range(2):
            async with open_engine(EngineChoice(url=scripted.url), agents=1, say=said.append) as engine:
                assert not engine.profile.structured_output
            asked = len(scripted.requests)
        assert kept() == 1
        async with open_engine(EngineChoice(url=scripted.url), agents=1, say=said.append):
            assert len(scripted.requests) == asked
    assert sum("trying what the engine" in line for line in said) == 1
    assert any("differs from its profile in" in line and "structured_output" in line for line in said)


async def test_the_probe_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPERTORY_PROBE", "0")
    async with ScriptedEngine("I ignore schemas.", kind=EngineKind.VLLM) as scripted:
        async with open_engine(EngineChoice(url=scripted.url), agents=1, say=lambda _: None) as engine:
            assert engine.profile.structured_output
        assert scripted.requests == []
    assert kept() == 0


async def test_doctor_shows_what_the_probe_found_and_keeps_it() -> None:
    async with ScriptedEngine("I ignore schemas.", kind=EngineKind.VLLM) as scripted:
        findings = await check_engine_at(scripted.url, None, None)
        again = await check_engine_at(scripted.url, None, None)
        asked_twice = len(scripted.requests)
    rows = {finding.name: finding for finding in findings}
    assert rows["probe: schema enforced"].status == "warn"
    assert rows["probe: answers"].status == "ok"
    assert {finding.name for finding in again} == set(rows)
    assert asked_twice > 10  # doctor always looks anew
    assert kept() == 1
