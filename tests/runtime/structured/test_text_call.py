import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.runtime.structured.fake_engine import FakeEngine, Say, Step, ask

from repertory.engines.failures import EngineFaultError, StreamIncompleteError
from repertory.engines.protocol import FinishReason, GenerateRequest, StreamPart, TextDelta
from repertory.errors import EngineRejectedError, EngineUnavailableError, OutputError
from repertory.runtime.structured import FailureKind, TextResult, text_call

pytestmark = pytest.mark.virtual_time


async def call(
    engine: FakeEngine,
    request: GenerateRequest | None = None,
    check: Callable[[str], list[str]] | None = None,
    within_s: float = 20.0,
    **more: Any,
) -> TextResult:
    return await text_call(engine, request or ask(), check=check, deadline=time.monotonic() + within_s, **more)


async def test_text_is_streamed_and_handed_back_clean() -> None:
    pieces: list[str] = []

    def hear(part: StreamPart, attempt: int) -> None:
        if isinstance(part, TextDelta):
            pieces.append(part.text)

    result = await call(FakeEngine([Say("  Well done.\0 \ud800 \n")]), on_part=hear)
    assert result.require() == "Well done."
    assert "".join(pieces) == "  Well done.\0 \ud800 \n"


async def test_no_schema_is_sent() -> None:
    engine = FakeEngine([Say("Yes.")])
    await call(engine, ask(json_schema={"type": "object"}))
    assert engine.requests[0].json_schema is None


async def test_a_failed_check_is_repaired_and_the_last_whole_text_is_kept() -> None:
    engine = FakeEngine([Say("You are lazy."), Say("You are lazy, still.")])
    result = await call(engine, check=lambda text: ["do not judge the person"] if "lazy" in text else [])
    assert result.failure is FailureKind.CHECK_FAILED
    assert result.text == "You are lazy, still."
    assert result.problems == ("do not judge the person",)
    roles = [message.role for message in engine.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]
    with pytest.raises(OutputError, match="do not judge"):
        result.require()


async def test_a_cut_text_is_asked_again_with_twice_the_cap() -> None:
    engine = FakeEngine([Say("You said that you", finish=FinishReason.LENGTH), Say("You said so.")])
    result = await call(engine, ask(cap=50))
    assert result.text == "You said so."
    assert engine.requests[1].max_output_tokens == 100


async def test_words_that_were_shown_are_not_asked_for_again() -> None:
    engine = FakeEngine([Say("You said that you", finish=FinishReason.LENGTH), Say("never")])
    result = await call(engine, may_retry=lambda: False)
    assert len(engine.requests) == 1
    assert result.failure is FailureKind.TRUNCATED
    assert result.text is None
    assert result.partial == "You said that you"


@pytest.mark.parametrize("text", ["I hear you. " * 300, "Well.\n" + "\n" * 900])
async def test_a_loop_is_cut_and_asked_again_warmer(text: str) -> None:
    engine = FakeEngine([Say(text), Say("Good.")])
    result = await call(engine)
    assert result.text == "Good."
    assert result.attempts[0].kind is FailureKind.REPETITION_LOOP
    assert engine.closed_early == 1
    assert engine.requests[1].temperature >= 0.7


@pytest.mark.parametrize(
    ("step", "kind", "requests"),
    [
        (EngineUnavailableError("refused"), FailureKind.ENGINE_UNAVAILABLE, 2),
        (EngineFaultError("500", status=500), FailureKind.ENGINE_ERROR, 2),
        (StreamIncompleteError("cut"), FailureKind.STREAM_BROKEN, 2),
        (EngineRejectedError("no such model"), FailureKind.ENGINE_REJECTED, 1),
        (Say(reasoning="Let me see."), FailureKind.EMPTY, 2),
        (Say(reasoning="Let me see.", finish=FinishReason.LENGTH), FailureKind.REASONING_EXHAUSTED, 2),
        (Say(""), FailureKind.EMPTY, 2),
    ],
)
async def test_every_failure_has_a_kind(step: Step, kind: FailureKind, requests: int) -> None:
    engine = FakeEngine([step])
    result = await call(engine)
    assert result.failure is kind
    assert result.text is None
    assert len(engine.requests) == requests
    assert result.problems
