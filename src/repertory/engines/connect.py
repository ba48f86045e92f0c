"""Finds out what answers at an address, and returns the adapter for it."""

import re
from pathlib import Path
from typing import NamedTuple, cast

from repertory.engines.failures import error_text
from repertory.engines.http import EngineClient, EngineTimeouts, Reply
from repertory.engines.kept_prefixes import KeptPrefixes
from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.ollama import OllamaEngine
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind, FanOut
from repertory.engines.profiles import load_profile
from repertory.engines.protocol import Engine
from repertory.engines.sglang import SglangEngine
from repertory.engines.vllm import VllmEngine
from repertory.errors import EngineRejectedError, EngineTimeoutError, EngineUnavailableError, UsageError

__all__ = ("connect",)

_DETECT_S = 5.0
_UNKNOWN_CONTEXT = 4096
"""Assumed of a server that does not tell its context: what most serve at least."""
_PRIORITY_IGNORED_FROM = 11
"""vLLM before 0.11 can refuse a request with a priority when it schedules in order; later versions ignore it then."""
_OLLAMA_CONTEXT = 8192
"""Asked of Ollama when the model is not loaded yet; its own default of 4096 cuts prompts without a word."""


class _SlotFiles(NamedTuple):
    folder: Path | None
    kept: KeptPrefixes | None


async def connect(
    url: str,
    model: str | None = None,
    api_key: str | None = None,
    kind: EngineKind | None = None,
    *,
    context_tokens: int | None = None,
    timeouts: EngineTimeouts | None = None,
    slot_folder: Path | None = None,
    kept_prefixes: KeptPrefixes | None = None,
) -> Engine:
    """Connect to a running engine.

    Args:
        url: Its address, with or without a `/v1` at the end.
        model: The name of the served model; may be left out when exactly one is served.
        api_key: Its key, for servers that want one.
        kind: The engine, when it is known; else it is found out from its endpoints.
        context_tokens: The longest prompt plus answer, for servers that do not tell (and, for Ollama, to ask for).
        timeouts: How long what may take.
        slot_folder: llama.cpp's folder of slot states, if it is ours to clean.
        kept_prefixes: Keeps what llama.cpp has computed for sessions that come back.

    Raises:
        EngineUnavailableError: Nothing answers there.
        EngineRejectedError: What answers is no engine, or wants a key.
        UsageError: The address is none, or the model has to be named.
    """
    base = re.sub(r"/v1/?$", "", url.strip().rstrip("/"))
    client = EngineClient(base, api_key=api_key, timeouts=timeouts)
    try:
        found = kind or await _detect(client)
        return await _BUILD[found](client, model, context_tokens, _SlotFiles(slot_folder, kept_prefixes))
    except BaseException:
        await client.aclose()
        raise


async def _detect(client: EngineClient) -> EngineKind:
    # The order matters: llama.cpp also answers /v1/models, and Ollama too.
    models = await _get(client, "/v1/models")
    owners = {str(entry.get("owned_by", "")).lower() for entry in _entries(models)}
    server = models.headers.get("server", "").lower()
    if "llama.cpp" in server or "llamacpp" in owners:
        return EngineKind.LLAMACPP
    if "vllm" in owners:
        return EngineKind.VLLM
    if "sglang" in owners:
        return EngineKind.SGLANG
    if models.status in {401, 403}:
        raise _wants_key(client, models)
    version = await _get(client, "/api/version")
    if version.ok and "version" in version.fields():
        return EngineKind.OLLAMA
    props = await _get(client, "/props")
    if props.ok and "default_generation_settings" in props.fields():
        return EngineKind.LLAMACPP
    info = await _get(client, "/get_model_info")
    if info.ok and "model_path" in info.fields():
        return EngineKind.SGLANG
    if models.ok and isinstance(models.fields().get("data"), list):
        return EngineKind.OPENAI
    message = f"something answers at {client.base_url}, but it is no OpenAI-compatible API (HTTP {models.status})"
    raise EngineRejectedError(
        message, where=client.base_url, hint="the address must be the one under which /v1/models answers"
    )


async def _llamacpp(
    client: EngineClient, model: str | None, context_tokens: int | None, slot_files: _SlotFiles
) -> Engine:
    models = await _models(client)
    name = _choose(client, model, models, aliases=True)
    props = (await _get(client, "/props")).fields()
    settings = _object(props.get("default_generation_settings"))
    context = _int(settings.get("n_ctx")) or _int(_object(models[0].get("meta")).get("n_ctx"))
    slots = _int(props.get("total_slots")) or 1
    profile = load_profile(EngineKind.LLAMACPP)
    changes: dict[str, object] = {"version": _text(props.get("build_info"))}
    if not await _copies_slots(client):
        changes |= {"fan_out": FanOut.PRIME}
    if not (await _get(client, "/slots")).ok:
        changes |= {"verifies_cancel": False}
    return LlamaCppEngine(
        client,
        model=name,
        profile=profile.model_copy(update=changes),
        context_tokens=_smaller(context_tokens, context),
        slots=slots,
        slot_folder=slot_files.folder,
        kept_prefixes=slot_files.kept,
    )


async def _copies_slots(client: EngineClient) -> bool:
    """Whether the server may save slots: it refuses a file name that is none only if it would take another."""
    reply = await client.post("/slots/0?action=save", {"filename": "../no"}, within_s=_DETECT_S)
    return reply.status == 400 and "filename" in reply.text.lower()


async def _vllm(client: EngineClient, model: str | None, context_tokens: int | None, _: _SlotFiles) -> Engine:
    models = await _models(client)
    name = _choose(client, model, models)
    entry = next((item for item in models if item.get("id") == name), models[0])
    version = _text((await _get(client, "/version")).fields().get("version"))
    changes: dict[str, object] = {"version": version}
    old = re.match(r"0\.(\d+)\.", version or "")
    if old and int(old[1]) < _PRIORITY_IGNORED_FROM:
        changes |= {"priority": False}
    profile = load_profile(EngineKind.VLLM).model_copy(update=changes)
    context = _int(entry.get("max_model_len"))
    return VllmEngine(
        client, model=name, profile=profile, context_tokens=_smaller(context_tokens, context), max_in_flight=64
    )


async def _sglang(client: EngineClient, model: str | None, context_tokens: int | None, _: _SlotFiles) -> Engine:
    models = await _models(client)
    name = _choose(client, model, models)
    entry = next((item for item in models if item.get("id") == name), models[0])
    info = (await _get(client, "/get_server_info")).fields()
    context = _int(entry.get("max_model_len")) or _int(info.get("context_length"))
    changes: dict[str, object] = {
        "version": _text(info.get("version")),
        "priority": info.get("enable_priority_scheduling") is True,
    }
    profile = load_profile(EngineKind.SGLANG).model_copy(update=changes)
    return SglangEngine(
        client,
        model=name,
        profile=profile,
        context_tokens=_smaller(context_tokens, context),
        low_values_first=info.get("schedule_low_priority_values_first") is True,
    )


async def _ollama(client: EngineClient, model: str | None, context_tokens: int | None, _: _SlotFiles) -> Engine:
    tags = (await _get(client, "/api/tags")).fields().get("models")
    names = [{"id": item.get("model") or item.get("name")} for item in _objects(tags)]
    if model is not None and ":" not in model and {"id": f"{model}:latest"} in names:
        model = f"{model}:latest"
    name = _choose(client, model, names)
    shown = await client.post("/api/show", {"model": name})
    if not shown.ok:
        message = f"Ollama does not show the model {name!r}: {error_text(shown.text)}"
        raise EngineRejectedError(message, where=client.base_url, hint=f"ollama pull {name}")
    trained = next(
        (_int(value) for key, value in _object(shown.fields().get("model_info")).items() if "context_length" in key),
        None,
    )
    running = _objects((await _get(client, "/api/ps")).fields().get("models"))
    loaded = next((_int(item.get("context_length")) for item in running if item.get("model") == name), None)
    capabilities = shown.fields().get("capabilities")
    version = _text((await _get(client, "/api/version")).fields().get("version"))
    can_think = isinstance(capabilities, list) and "thinking" in capabilities
    profile = load_profile(EngineKind.OLLAMA).model_copy(update={"version": version, "thinking_switch": can_think})
    wanted = context_tokens or loaded or _OLLAMA_CONTEXT
    return OllamaEngine(client, model=name, profile=profile, context_tokens=min(wanted, trained or wanted))


async def _openai(client: EngineClient, model: str | None, context_tokens: int | None, _: _SlotFiles) -> Engine:
    models = await _models(client)
    name = _choose(client, model, models)
    entry = next((item for item in models if item.get("id") == name), models[0])
    told = ("max_model_len", "context_length", "max_context_length", "loaded_context_length", "context_window")
    context = next((size for size in (_int(entry.get(field)) for field in told) if size), None)
    loaded = await _lm_studio_context(client, name)
    return OpenAIEngine(
        client,
        model=name,
        profile=load_profile(EngineKind.OPENAI),
        context_tokens=context_tokens or loaded or context or _UNKNOWN_CONTEXT,
    )


async def _lm_studio_context(client: EngineClient, name: str) -> int | None:
    """LM Studio tells the loaded context in its own list of models."""
    entries = _objects((await _get(client, "/api/v0/models")).fields().get("data"))
    return next((_int(item.get("loaded_context_length")) for item in entries if item.get("id") == name), None)


_BUILD = {
    EngineKind.LLAMACPP: _llamacpp,
    EngineKind.VLLM: _vllm,
    EngineKind.SGLANG: _sglang,
    EngineKind.OLLAMA: _ollama,
    EngineKind.OPENAI: _openai,
}


async def _get(client: EngineClient, path: str) -> Reply:
    try:
        return await client.get(path, within_s=_DETECT_S)
    except EngineTimeoutError as error:
        message = f"something at {client.base_url} takes connections, but does not answer {path}"
        raise EngineUnavailableError(
            message, where=client.base_url, hint="is the engine still loading its model?"
        ) from error


async def _models(client: EngineClient) -> list[dict[str, object]]:
    reply = await _get(client, "/v1/models")
    if reply.status in {401, 403}:
        raise _wants_key(client, reply)
    entries = _entries(reply)
    if not entries:
        message = f"the engine serves no model (HTTP {reply.status}: {error_text(reply.text) or 'empty list'})"
        raise EngineUnavailableError(message, where=client.base_url, hint="load a model, or wait until it is loaded")
    return entries


def _wants_key(client: EngineClient, reply: Reply) -> EngineRejectedError:
    return EngineRejectedError(
        f"the engine wants an API key (HTTP {reply.status})", where=client.base_url, hint="give its key with api_key"
    )


def _choose(client: EngineClient, model: str | None, models: list[dict[str, object]], *, aliases: bool = False) -> str:
    names = [name for name in (_text(entry.get("id")) for entry in models) if name]
    served = ", ".join(names) or "none"
    if model is None:
        if len(names) == 1:
            return names[0]
        message = f"the engine serves {len(names)} models: {served}"
        raise UsageError(message, where=client.base_url, hint="name one of them as the model")
    known = set(names)
    if aliases:
        known |= {str(alias) for entry in models for alias in _list(entry.get("aliases"))}
    if model in known:
        return model
    if aliases and len(names) == 1:
        return names[0]  # llama.cpp serves one model under whatever name
    message = f"the engine does not serve {model!r}; it serves: {served}"
    raise UsageError(message, where=client.base_url, hint="name one of them as the model")


def _entries(reply: Reply) -> list[dict[str, object]]:
    return _objects(reply.fields().get("data")) if reply.ok else []


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _objects(value: object) -> list[dict[str, object]]:
    return [_object(item) for item in _list(value)]


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _smaller(asked: int | None, told: int | None) -> int:
    return min(size for size in (asked, told, None if asked or told else _UNKNOWN_CONTEXT) if size)
