from collections.abc import Awaitable, Callable

import pytest

from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.probe import ProbeResult, probe_engine
from repertory.engines.profile import EngineKind, FanOut
from repertory.testing import Answer, Reply, Script, ScriptedEngine, ScriptedRequest, Send, failing, silent

pytestmark = pytest.mark.virtual_time

Start = Callable[[ScriptedEngine], Awaitable[OpenAIEngine]]


def example(schema: dict[str, object]) -> dict[str, object]:
    """A value for the probe's schema, as an engine with a grammar would write it."""
    properties = schema["properties"]
    assert isinstance(properties, dict)
    return {"word": properties["word"]["enum"][0], "list": ["a", "b"]}


def obedient(request: ScriptedRequest) -> Reply:
    return example(request.json_schema) if request.json_schema else "It is a long way over the sea."


def status(result: ProbeResult) -> dict[str, str]:
    return {check.name: check.status for check in result.checks}


async def test_llamacpp_proves_its_profile(start: Start) -> None:
    engine = await start(ScriptedEngine(obedient, kind=EngineKind.LLAMACPP, token_delay_s=0.002))
    result = await probe_engine(engine)
    assert status(result) == {
        "answers": "yes",
        "direct connection": "yes",
        "schema enforced": "yes",
        "counts tokens": "yes",
        "reports cached tokens": "yes",
        "thinking": "no",
        "prefix shared": "yes",
        "cancel frees the engine": "yes",
        "calls tools": "no",
    }
    assert not result.profile.tool_calls
    assert result.profile.fan_out is FanOut.COPY_SLOT
    assert result.profile.structured_output
    assert ProbeResult.model_validate_json(result.model_dump_json()) == result
    engine.adopt(result.profile)
    assert engine.profile == result.profile


async def test_tools_count_as_proven_when_the_model_calls_one_with_the_right_argument(start: Start) -> None:
    def calls(request: ScriptedRequest, city: str) -> Reply:
        if "tools" not in request.fields:
            return obedient(request)
        return f'<tool_call>{{"name": "weather", "arguments": {{"city": "{city}"}}}}</tool_call>'

    def right(request: ScriptedRequest) -> Reply:
        return calls(request, "Vienna" if "Vienna" in request.text else "Utrecht")

    engine = await start(ScriptedEngine(right, kind=EngineKind.VLLM))
    assert (await probe_engine(engine)).profile.tool_calls
    always_one = await start(ScriptedEngine(lambda request: calls(request, "Utrecht"), kind=EngineKind.VLLM))
    result = await probe_engine(always_one)
    assert (status(result)["calls tools"], result.profile.tool_calls) == ("no", False)


async def test_vllm_shares_a_prefix_that_is_being_computed(start: Start) -> None:
    engine = await start(ScriptedEngine(obedient, kind=EngineKind.VLLM))
    result = await probe_engine(engine)
    assert result.profile.fan_out is FanOut.ALL_AT_ONCE
    assert status(result)["cancel frees the engine"] == "unknown"


async def test_b8_b17_a_schema_taken_and_ignored_is_found_out(start: Start) -> None:
    engine = await start(ScriptedEngine("Once upon a time.", kind=EngineKind.OLLAMA))
    result = await probe_engine(engine)
    assert status(result)["schema enforced"] == "no"
    assert not result.profile.structured_output


async def test_c9_a_schema_that_holds_only_while_thinking_is_allowed(start: Start) -> None:
    def reply(request: ScriptedRequest) -> Reply:
        ignored = request.fields.get("think") is False
        return example(request.json_schema) if request.json_schema and not ignored else "Once upon a time."

    result = await probe_engine(await start(ScriptedEngine(reply, kind=EngineKind.OLLAMA)))
    check = next(check for check in result.checks if check.name == "schema enforced")
    assert (check.status, result.profile.structured_output) == ("yes", True)
    assert "thinking" in check.detail


@pytest.mark.parametrize(("obeys", "detail"), [(True, "can be told not to"), (False, "goes on when told not to")])
async def test_a_thinking_model(start: Start, obeys: bool, detail: str) -> None:
    def reply(request: ScriptedRequest) -> Reply:
        if request.json_schema:
            return example(request.json_schema)
        told = '"enable_thinking":false' in request.body.decode()
        return Answer("42", reasoning="" if told and obeys else "17 and 25, hm.")

    result = await probe_engine(await start(ScriptedEngine(reply, kind=EngineKind.VLLM)))
    check = next(check for check in result.checks if check.name == "thinking")
    assert check.status == "yes"
    assert detail in check.detail
    assert result.profile.thinking_switch is obeys


@pytest.mark.parametrize(("text", "opens"), [("<think>hm</think>\n42", False), ("hm\n</think>\n\n42", True)])
async def test_c6_thinking_that_leaks_into_the_answer(start: Start, text: str, opens: bool) -> None:
    def reply(request: ScriptedRequest) -> Reply:
        return example(request.json_schema) if request.json_schema else text

    result = await probe_engine(await start(ScriptedEngine(reply, kind=EngineKind.VLLM)))
    check = next(check for check in result.checks if check.name == "thinking")
    assert "reasoning parser" in check.detail
    assert result.profile.opens_thinking is opens


@pytest.mark.parametrize("header", [("Via", "1.1 somewhere"), ("Server", "nginx/1.29")])
async def test_g13_a_proxy_in_between_is_seen(start: Start, header: tuple[str, str]) -> None:
    body = b'{"data":[{"id":"scripted","owned_by":"vllm"}]}'
    models = Script([Send(body)], content_type="application/json", headers=dict([header]))
    scripted = ScriptedEngine(obedient, kind=EngineKind.VLLM, routes={"/v1/models": models})
    result = await probe_engine(await start(scripted))
    assert status(result)["direct connection"] == "no"


async def test_slots_that_can_not_be_copied(start: Start) -> None:
    scripted = ScriptedEngine(obedient, kind=EngineKind.LLAMACPP, routes={"/slots/7": failing(400, "no room")})
    result = await probe_engine(await start(scripted))
    assert result.profile.fan_out is FanOut.PRIME
    assert status(result)["prefix shared"] == "no"


async def test_an_engine_that_does_not_answer_is_not_asked_further(start: Start) -> None:
    scripted = ScriptedEngine(failing(500))
    result = await probe_engine(await start(scripted))
    assert [(check.name, check.status) for check in result.checks] == [("answers", "failed")]
    assert "engine_fault" in result.checks[0].detail
    assert len(scripted.requests) == 1


async def test_the_probe_is_bounded_in_time(start: Start) -> None:
    result = await probe_engine(await start(ScriptedEngine(silent())), within_s=0.2)
    assert status(result) == {"answers": "failed"}


async def test_the_probe_asks_for_little(start: Start) -> None:
    scripted = ScriptedEngine(obedient, kind=EngineKind.VLLM)
    result = await probe_engine(await start(scripted))
    assert len(scripted.requests) <= 12
    assert result.prompt_tokens < 4000
    assert all((asked.max_tokens or 0) <= 512 for asked in scripted.requests)
