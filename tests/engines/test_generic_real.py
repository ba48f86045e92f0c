"""The adapter for any OpenAI-compatible server against a real one that it is told nothing about (llama.cpp's)."""

import time
from collections.abc import AsyncIterator

import pytest

from repertory.engines.connect import connect
from repertory.engines.embedded import RunningEngine
from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import ChatMessage, FinishReason, GenerateRequest
from repertory.engines.proven import ProvenEngines, server_identity
from repertory.runtime.structured import structured_call
from repertory.testing import ask

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "mood": {"enum": ["good", "bad"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 12}, "minItems": 1, "maxItems": 3},
    },
    "required": ["mood", "tags"],
    "additionalProperties": False,
}


@pytest.fixture
async def engine(embedded_engine: RunningEngine) -> AsyncIterator[OpenAIEngine]:
    connected = await connect(embedded_engine.url, api_key=embedded_engine.api_key, kind=EngineKind.OPENAI)
    assert isinstance(connected, OpenAIEngine)
    assert not isinstance(connected, LlamaCppEngine)
    yield connected
    await connected.aclose()


async def test_it_answers_with_its_own_counts(engine: OpenAIEngine) -> None:
    generation = await ask(engine, "Say hello.", max_output_tokens=12, deadline_s=60)
    assert generation.text.strip()
    assert not generation.usage.estimated
    counted = await engine.count_tokens([ChatMessage("user", "Say hello.")])
    assert counted >= 2
    cut = await ask(engine, "Write a long story.", max_output_tokens=5, deadline_s=60)
    assert cut.finish_reason is FinishReason.LENGTH


async def test_a_structured_call_is_valid(engine: OpenAIEngine) -> None:
    request = GenerateRequest([ChatMessage("user", "How was the run on Monday?")], max_output_tokens=120)
    result = await structured_call(engine, request, SCHEMA, deadline=time.monotonic() + 120)
    assert result.require()["mood"] in {"good", "bad"}


async def test_the_probe_finds_out_what_nobody_said(
    engine: OpenAIEngine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("probes")
    assert not engine.profile.reports_cached_tokens
    result = await ProvenEngines(folder).prove(engine, say=lambda _: None)
    assert result is not None
    found = {check.name: check.status for check in result.checks}
    assert found["answers"] == found["schema enforced"] == found["reports cached tokens"] == "yes"
    assert engine.profile.structured_output
    assert engine.profile.reports_cached_tokens
    assert await server_identity(engine) == await server_identity(engine)
