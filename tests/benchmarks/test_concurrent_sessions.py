"""The benchmark of many sessions at once notices what it is there to notice."""

import argparse
from pathlib import Path

import pytest
from benchmarks.concurrent_sessions import Talked, answer, measure

from benchmarks import concurrent_sessions
from repertory.engines.profile import EngineKind
from repertory.testing import ScriptedEngine
from repertory.testing.scripted_request import ScriptedRequest


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrent_sessions, "WARM_S", 0.2)
    monkeypatch.setattr(concurrent_sessions, "ANSWER_TOKENS", 10)


def options(sessions: int) -> argparse.Namespace:
    return argparse.Namespace(sessions=sessions, places=8, token_ms=2.0, seconds=1.0)


async def test_sessions_at_once_keep_to_themselves(tmp_path: Path) -> None:
    async with ScriptedEngine(answer, kind=EngineKind.VLLM, slots=8, token_delay_s=0.002) as engine:
        result = await measure(options(16), engine.url, tmp_path)
        assert engine.peak_streams <= 8
    assert result["turns"] >= 16
    assert (result["turns_not_complete"], result["cross_talk"], result["words_not_heard"]) == (0, 0, 0)
    assert result["sections_kept"] == 6 * result["turns"]
    assert result["tokens_per_s"] > 0


async def test_words_of_others_and_words_that_are_lost_are_noticed(tmp_path: Path) -> None:
    def mixed(request: ScriptedRequest) -> str | dict[str, object]:
        told = answer(request)
        if isinstance(told, str) and "w1x1" in told:
            return told.replace("w1x1", "w0x9")
        return told

    async with ScriptedEngine(mixed, kind=EngineKind.VLLM, slots=8, token_delay_s=0.001) as engine:
        result = await measure(options(3), engine.url, tmp_path)
    assert result["cross_talk"] > 0
    assert result["words_not_heard"] > 0
    assert any("w0x9" in example for example in result["examples"])


def test_a_longer_number_is_somebody_else() -> None:
    talked = Talked()
    talked.check(1, "here", "w1x1 and w1x22", "w1x22")
    assert talked.cross_talk == talked.unheard == []
    talked.check(1, "here", "w11x1")
    talked.check(1, "here", "w1x22", "w1x2")
    assert len(talked.cross_talk) == len(talked.unheard) == 1
