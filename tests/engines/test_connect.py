from collections.abc import Callable

import anyio
import pytest

from repertory.engines.connect import connect
from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.ollama import OllamaEngine
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind, FanOut
from repertory.engines.protocol import PrefixCopier
from repertory.engines.sglang import SglangEngine
from repertory.engines.vllm import VllmEngine
from repertory.errors import EngineRejectedError, EngineUnavailableError, UsageError
from repertory.testing import Script, ScriptedEngine, ScriptedRequest, Send, failing, silent

pytestmark = pytest.mark.virtual_time

ADAPTERS = {
    EngineKind.LLAMACPP: LlamaCppEngine,
    EngineKind.VLLM: VllmEngine,
    EngineKind.SGLANG: SglangEngine,
    EngineKind.OLLAMA: OllamaEngine,
    EngineKind.OPENAI: OpenAIEngine,
}

Routes = dict[str, Script | Callable[[ScriptedRequest], Script]]


def json_script(text: str) -> Script:
    return Script([Send(text.encode())], content_type="application/json")


@pytest.mark.parametrize("kind", list(EngineKind))
@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
async def test_the_engine_is_found_out_from_its_endpoints(kind: EngineKind, ending: str) -> None:
    async with ScriptedEngine(kind=kind, model="some-model", context_tokens=6000) as scripted:
        engine = await connect(scripted.url.removesuffix("/v1") + ending)
        assert type(engine).__name__ == ADAPTERS[kind].__name__
        assert engine.profile.kind is kind
        assert engine.model == "some-model"
        assert engine.context_tokens == 6000
        await engine.aclose()


async def test_llamacpp_is_a_prefix_copier_and_knows_its_slots() -> None:
    async with ScriptedEngine(kind=EngineKind.LLAMACPP, slots=5) as scripted:
        engine = await connect(scripted.url)
        assert isinstance(engine, PrefixCopier)
        assert engine.slots == 5
        assert engine.profile.fan_out is FanOut.COPY_SLOT
        await engine.aclose()


async def test_llamacpp_without_a_folder_for_slots_is_primed() -> None:
    refused = failing(501, "This server does not support slots action. Start it with `--slot-save-path`")
    async with ScriptedEngine(kind=EngineKind.LLAMACPP, routes={"/slots/0": refused}) as scripted:
        engine = await connect(scripted.url)
        assert engine.profile.fan_out is FanOut.PRIME
        await engine.aclose()


async def test_e9_llamacpps_context_is_that_of_one_slot() -> None:
    async with ScriptedEngine(kind=EngineKind.LLAMACPP, slots=4, context_tokens=2048) as scripted:
        engine = await connect(scripted.url)
        assert engine.context_tokens == 2048
        await engine.aclose()


TWO_MODELS = json_script('{"object":"list","data":[{"id":"a","owned_by":"vllm"},{"id":"b","owned_by":"vllm"}]}')


async def test_several_models_have_to_be_named() -> None:
    async with ScriptedEngine(kind=EngineKind.VLLM, routes={"/v1/models": TWO_MODELS}) as scripted:
        with pytest.raises(UsageError, match="2 models: a, b"):
            await connect(scripted.url)
        engine = await connect(scripted.url, model="b")
        assert engine.model == "b"
        await engine.aclose()


@pytest.mark.parametrize("kind", [EngineKind.VLLM, EngineKind.OLLAMA, EngineKind.OPENAI, EngineKind.SGLANG])
async def test_a_model_that_is_not_served(kind: EngineKind) -> None:
    async with ScriptedEngine(kind=kind, model="real") as scripted:
        with pytest.raises(UsageError, match="does not serve 'other'; it serves: real"):
            await connect(scripted.url, model="other")


async def test_ollamas_default_tag_may_be_left_out() -> None:
    async with ScriptedEngine(kind=EngineKind.OLLAMA, model="qwen3:latest") as scripted:
        engine = await connect(scripted.url, model="qwen3")
        assert engine.model == "qwen3:latest"
        await engine.aclose()


async def test_nothing_listens() -> None:
    async with ScriptedEngine() as scripted:
        url = scripted.url
    with pytest.raises(EngineUnavailableError, match="nothing answers at"):
        await connect(url)


@pytest.mark.parametrize(
    "page", [Script([Send(b"<h1>It works</h1>")], content_type="text/html"), failing(404, "not found")]
)
async def test_something_else_listens(page: Script) -> None:
    async with ScriptedEngine(routes={"/v1/models": page}) as scripted:
        with pytest.raises(EngineRejectedError, match="no OpenAI-compatible API"):
            await connect(scripted.url)


@pytest.mark.parametrize("kind", [EngineKind.VLLM, EngineKind.OPENAI])
async def test_a_key_is_wanted(kind: EngineKind) -> None:
    async with ScriptedEngine(kind=kind, api_key="k") as scripted:
        with pytest.raises(EngineRejectedError, match="wants an API key"):
            await connect(scripted.url)
        with pytest.raises(EngineRejectedError, match="wants an API key"):
            await connect(scripted.url, api_key="wrong")
        engine = await connect(scripted.url, api_key="k")
        await engine.aclose()


async def test_no_model_is_loaded_yet() -> None:
    empty = json_script('{"object":"list","data":[]}')
    async with ScriptedEngine(routes={"/v1/models": empty}) as scripted:
        with pytest.raises(EngineUnavailableError, match="serves no model"):
            await connect(scripted.url)


async def test_e3_the_limit_is_the_servers_own_and_may_be_lowered() -> None:
    async with ScriptedEngine(kind=EngineKind.VLLM, context_tokens=2048) as scripted:
        for asked, expected in [(None, 2048), (1000, 1000), (100_000, 2048)]:
            engine = await connect(scripted.url, context_tokens=asked)
            assert engine.context_tokens == expected
            await engine.aclose()


@pytest.mark.parametrize(
    ("version", "priority"),
    [("0.8.4", False), ("0.10.2", False), ("0.11.0", True), ("0.32.0+cpu", True), ("1.0.0", True)],
)
async def test_old_vllm_may_refuse_priorities(version: str, priority: bool) -> None:
    routes: Routes = {"/version": json_script(f'{{"version":"{version}"}}')}
    async with ScriptedEngine(kind=EngineKind.VLLM, routes=routes) as scripted:
        engine = await connect(scripted.url)
        assert engine.profile.priority is priority
        assert engine.profile.version == version
        await engine.aclose()


async def test_a_server_that_does_not_tell_its_context_gets_the_one_given() -> None:
    plain = json_script('{"object":"list","data":[{"id":"m"}]}')
    async with ScriptedEngine(routes={"/v1/models": plain}) as scripted:
        for asked, expected in [(None, 4096), (20_000, 20_000)]:
            engine = await connect(scripted.url, context_tokens=asked)
            assert engine.context_tokens == expected
            await engine.aclose()


async def test_lm_studio_tells_its_context_in_a_list_of_its_own() -> None:
    plain = json_script('{"object":"list","data":[{"id":"m"}]}')
    own = json_script('{"data":[{"id":"m","loaded_context_length":12345}]}')
    async with ScriptedEngine(routes={"/v1/models": plain, "/api/v0/models": own}) as scripted:
        engine = await connect(scripted.url)
        assert engine.context_tokens == 12345
        await engine.aclose()


@pytest.mark.parametrize(
    ("running", "asked", "expected"),
    [
        ("[]", None, 8192),
        ("[]", 16_000, 16_000),
        ("[]", 99_000, 40_000),
        ('[{"model":"m","context_length":5000}]', None, 5000),
    ],
)
async def test_e8_ollamas_context(running: str, asked: int | None, expected: int) -> None:
    shown = json_script('{"model_info":{"qwen3.context_length":40000},"capabilities":["completion"]}')
    routes: Routes = {"/api/show": shown, "/api/ps": json_script(f'{{"models":{running}}}')}
    async with ScriptedEngine(kind=EngineKind.OLLAMA, model="m", routes=routes) as scripted:
        engine = await connect(scripted.url, context_tokens=asked)
        assert engine.context_tokens == expected
        assert not engine.profile.thinking_switch
        await engine.aclose()


@pytest.mark.parametrize("kind", list(EngineKind))
@pytest.mark.parametrize(
    "body", ["[]", "null", "1", "{}", '{"data":[1,null,{"id":5}]}', "not json", '{"data":{"a":1}}']
)
async def test_odd_lists_of_models_are_errors_in_words(kind: EngineKind, body: str) -> None:
    routes: Routes = {"/v1/models": json_script(body), "/api/tags": json_script(body)}
    async with ScriptedEngine(kind=kind, routes=routes) as scripted:
        with pytest.raises((EngineRejectedError, EngineUnavailableError, UsageError)):
            (await connect(scripted.url, kind=kind, model="x")).model.index("nothing")


async def test_connecting_is_bounded_in_time() -> None:
    async with ScriptedEngine(routes={"/v1/models": silent()}) as scripted:
        with anyio.fail_after(20), pytest.raises(EngineUnavailableError, match="does not answer /v1/models"):
            await connect(scripted.url)
