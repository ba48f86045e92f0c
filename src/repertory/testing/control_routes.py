"""What a scripted engine answers beside generations: who it is, its models, its slots, its counts."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, cast
from zlib import crc32

from repertory.engines.profile import EngineKind
from repertory.testing.dialects import split_tokens
from repertory.testing.faults import failing
from repertory.testing.script import Script, Send
from repertory.testing.scripted_request import ScriptedRequest
from repertory.testing.slot_memory import SlotMemory

__all__ = ("ControlRoutes", "ScriptedServer")


class ScriptedServer(Protocol):
    """What the routes need to know of their engine."""

    kind: EngineKind
    model: str
    context_tokens: int
    slots: int
    memory: SlotMemory
    busy_slots: set[int]

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The rendered prompt."""
        ...


class ControlRoutes:
    """The endpoints of each engine that are not generations.

    Args:
        engine: The engine they belong to.
    """

    def __init__(self, engine: ScriptedServer) -> None:
        self._engine = engine
        self._routes: dict[str, Callable[[ScriptedRequest], Script]] = {"/v1/models": self._models} | {
            EngineKind.LLAMACPP: self._llamacpp_routes,
            EngineKind.VLLM: self._vllm_routes,
            EngineKind.SGLANG: self._sglang_routes,
            EngineKind.OLLAMA: self._ollama_routes,
            EngineKind.OPENAI: dict,
        }[engine.kind]()

    def answer(self, request: ScriptedRequest) -> Script:
        """The answer to one request."""
        path = request.path.partition("?")[0]
        if path.startswith("/slots/") and self._engine.kind is EngineKind.LLAMACPP:
            return self._slot_action(request)
        route = self._routes.get(path)
        return route(request) if route is not None else failing(404, "File Not Found", kind="not_found_error")

    def overflow(self, tokens: int) -> Script:
        """The refusal of a prompt that is too long, in the engine's words."""
        context = self._engine.context_tokens
        if self._engine.kind is EngineKind.LLAMACPP:
            message = f"request ({tokens} tokens) exceeds the available context size ({context} tokens)"
            return failing(400, message, kind="exceed_context_size_error")
        message = f"This model's maximum context length is {context} tokens. However, you requested {tokens} tokens."
        return failing(400, message, kind="BadRequestError")

    def completion(self, prompt: int, cached: int, slot: int) -> Script:
        """llama.cpp's answer to a raw prompt of which nothing is to be generated."""
        timings = {"prompt_n": prompt - cached, "cache_n": cached, "predicted_n": 0}
        return _json({"content": "", "id_slot": slot, "stop": True, "tokens_evaluated": prompt, "timings": timings})

    def _models(self, _: ScriptedRequest) -> Script:
        entry: dict[str, object] = {"id": self._engine.model, "object": "model", "created": 0}
        owner = {EngineKind.LLAMACPP: "llamacpp", EngineKind.OPENAI: "somebody"}
        entry["owned_by"] = owner.get(self._engine.kind, self._engine.kind.value)
        if self._engine.kind is not EngineKind.LLAMACPP:
            entry["max_model_len"] = self._engine.context_tokens
        return _json({"object": "list", "data": [entry]})

    def _llamacpp_routes(self) -> dict[str, Callable[[ScriptedRequest], Script]]:
        engine = self._engine
        settings = {"n_ctx": engine.context_tokens}
        return {
            "/health": lambda _: _json({"status": "ok"}),
            "/props": lambda _: _json({"default_generation_settings": settings, "total_slots": engine.slots}),
            "/slots": lambda _: _json(
                [{"id": slot, "is_processing": slot in engine.busy_slots} for slot in range(engine.slots)]
            ),
            "/apply-template": lambda request: _json({"prompt": engine.render(request.messages)}),
            "/tokenize": lambda request: _json({"tokens": _token_ids(str(request.fields.get("content", "")))}),
        }

    def _vllm_routes(self) -> dict[str, Callable[[ScriptedRequest], Script]]:
        return {"/version": lambda _: _json({"version": "0.32.0"}), "/tokenize": self._count}

    def _sglang_routes(self) -> dict[str, Callable[[ScriptedRequest], Script]]:
        return {
            "/get_model_info": lambda _: _json({"model_path": self._engine.model, "is_generation": True}),
            "/get_server_info": lambda _: _json({"version": "0.5.6", "context_length": self._engine.context_tokens}),
            "/v1/tokenize": self._count_texts,
        }

    def _ollama_routes(self) -> dict[str, Callable[[ScriptedRequest], Script]]:
        engine = self._engine
        named = {"name": engine.model, "model": engine.model}
        shown = {
            "model_info": {"general.architecture": "scripted", "scripted.context_length": engine.context_tokens},
            "capabilities": ["completion", "tools", "thinking"],
        }
        return {
            "/api/version": lambda _: _json({"version": "0.30.5"}),
            "/api/tags": lambda _: _json({"models": [named]}),
            "/api/ps": lambda _: _json({"models": [named | {"context_length": engine.context_tokens}]}),
            "/api/show": lambda _: _json(shown),
        }

    def _count(self, request: ScriptedRequest) -> Script:
        tokens = split_tokens(self._engine.render(request.messages))
        return _json({"count": len(tokens), "max_model_len": self._engine.context_tokens})

    def _count_texts(self, request: ScriptedRequest) -> Script:
        prompt = request.fields.get("prompt")
        if not isinstance(prompt, list):
            return failing(400, "prompt: Field required", kind="BadRequestError")
        return _json({"count": [len(split_tokens(str(text))) for text in cast("list[object]", prompt)]})

    def _slot_action(self, request: ScriptedRequest) -> Script:
        path, _, query = request.path.partition("?")
        slot, name = int(path.removeprefix("/slots/")), str(request.fields.get("filename", ""))
        memory = self._engine.memory
        if "/" in name:
            return failing(400, "Invalid filename", kind="invalid_request_error")
        if query == "action=save":
            written = memory.save(slot, name)
            return _json({"id_slot": slot, "filename": name, "n_saved": len(memory.held[slot]), "n_written": written})
        if not memory.restore(slot, name):
            return failing(400, "Unable to restore slot: invalid slot save file", kind="invalid_request_error")
        return _json({"id_slot": slot, "filename": name, "n_restored": len(memory.held[slot])})


def _token_ids(text: str) -> list[int]:
    return [crc32(token.encode("utf-8", "replace")) for token in split_tokens(text)]


def _json(value: object) -> Script:
    return Script([Send(json.dumps(value).encode())], content_type="application/json")
