"""What a probe has proven of a server counts, for as long as it is the same server."""

import json
from pathlib import Path

import pytest
from tests.engines.conftest import Start

from repertory.engines.connect import connect
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind
from repertory.engines.proven import ProvenEngines, server_identity
from repertory.testing import Answer, ScriptedEngine, ScriptedRequest, failing
from repertory.testing.obliging import obliging


def ignores_schemas(request: ScriptedRequest) -> str:
    return "The sea is wide."


def kept_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def prove(engine: OpenAIEngine, folder: Path, **options: bool) -> list[str]:
    said: list[str] = []
    await ProvenEngines(folder).prove(engine, say=said.append, **options)
    return said


@pytest.mark.parametrize("kind", [EngineKind.VLLM, EngineKind.OPENAI, EngineKind.OLLAMA])
async def test_b17_what_was_tried_wins_over_the_profile(start: Start, tmp_path: Path, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine(ignores_schemas, kind=kind))
    assert engine.profile.structured_output
    said = await prove(engine, tmp_path)
    assert not engine.profile.structured_output
    assert "structured_output" in said[-1]


async def test_a_server_is_tried_once_and_the_result_is_kept(start: Start, tmp_path: Path) -> None:
    scripted = ScriptedEngine(ignores_schemas, kind=EngineKind.VLLM)
    first = await start(scripted)
    await prove(first, tmp_path)
    asked = len(scripted.requests)
    again = await start_again(scripted, start)
    said = await prove(again, tmp_path)
    assert (said, len(scripted.requests)) == ([], asked)
    assert again.profile == first.profile
    await prove(again, tmp_path, again=True)
    assert len(scripted.requests) > asked


async def start_again(scripted: ScriptedEngine, start: Start) -> OpenAIEngine:
    """Another connection to an engine that runs."""
    engine = await connect(scripted.url)
    assert isinstance(engine, OpenAIEngine)
    return engine


@pytest.mark.parametrize("change", ["model", "context_tokens"])
async def test_another_server_at_the_same_address_is_tried_again(start: Start, tmp_path: Path, change: str) -> None:
    scripted = ScriptedEngine(obliging("Hello."), kind=EngineKind.VLLM)
    await prove(await start(scripted), tmp_path)
    setattr(scripted, change, "another" if change == "model" else 1024)
    engine = await start_again(scripted, start)
    assert await prove(engine, tmp_path) != []
    await engine.aclose()
    assert len(kept_in(tmp_path)) == 2


async def test_the_identity_does_not_change_by_itself(start: Start) -> None:
    for kind in EngineKind:
        engine = await start(ScriptedEngine("Hello.", kind=kind))
        assert await server_identity(engine) == await server_identity(engine)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"model": 1}'])
async def test_a_kept_result_that_can_not_be_read_is_none(start: Start, tmp_path: Path, content: bytes) -> None:
    engine = await start(ScriptedEngine(obliging("Hello."), kind=EngineKind.VLLM))
    await prove(engine, tmp_path)
    (kept,) = kept_in(tmp_path)
    kept.write_bytes(content)
    assert await prove(engine, tmp_path) != []
    assert json.loads(kept.read_bytes())["model"] == engine.model


async def test_a_try_that_failed_is_not_kept_and_changes_nothing(start: Start, tmp_path: Path) -> None:
    """An engine that is down or overloaded says nothing about what it can do."""
    engine = await start(ScriptedEngine(lambda _: failing(503, "overloaded"), kind=EngineKind.VLLM))
    before = engine.profile
    await prove(engine, tmp_path)
    assert engine.profile == before
    assert kept_in(tmp_path) == []


async def test_a_schema_is_not_called_ignored_because_the_engine_failed(start: Start, tmp_path: Path) -> None:
    def reply(request: ScriptedRequest) -> object:
        return "Hello." if request.json_schema is None else failing(500)

    engine = await start(ScriptedEngine(reply, kind=EngineKind.VLLM))  # pyright: ignore[reportArgumentType] - any reply
    await prove(engine, tmp_path)
    assert engine.profile.structured_output
    assert kept_in(tmp_path) == []


async def test_a_folder_that_can_not_be_written_costs_only_the_memory(start: Start, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    engine = await start(ScriptedEngine(ignores_schemas, kind=EngineKind.VLLM))
    await prove(engine, blocked)
    assert not engine.profile.structured_output


async def test_a_model_that_thinks_for_all_its_tokens_says_nothing_about_schemas(start: Start, tmp_path: Path) -> None:
    """It is asked with more room; when that is not enough either, the profile stays as it is."""
    endless = Answer("", reasoning="I wonder about the sea. " * 60, finish_reason="length")
    scripted = ScriptedEngine(endless, kind=EngineKind.OPENAI, context_tokens=16_000)
    engine = await start(scripted)
    await prove(engine, tmp_path)
    assert engine.profile.structured_output
    assert max(request.max_tokens or 0 for request in scripted.requests if request.json_schema) == 512
