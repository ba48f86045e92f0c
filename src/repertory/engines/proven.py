"""What probes have proven of servers, kept on disk: a capability that was tried wins over what a profile claims.

A server is tried once. The result belongs to the server as it was then: another version, model file, context or
template at the same address, or another version of Repertory, is another server and is tried again.
"""

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from repertory.engines.failures import error_text
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.probe import ProbeResult, probe_engine
from repertory.engines.profile import EngineKind
from repertory.errors import RepertoryError

__all__ = ("ProvenEngines", "server_identity")

_QUICK_PROBE_S = 60.0
_FACTS: Mapping[EngineKind, tuple[str, ...]] = {
    EngineKind.LLAMACPP: ("/v1/models", "/props"),
    EngineKind.VLLM: ("/v1/models", "/version"),
    EngineKind.SGLANG: ("/v1/models", "/get_model_info"),
    EngineKind.OLLAMA: ("/api/tags", "/api/version"),
    EngineKind.OPENAI: ("/v1/models",),
}
"""Where each engine says what it is."""
_STABLE = {
    "id", "name", "model", "root", "digest", "owned_by", "max_model_len", "context_length", "meta", "n_ctx",
    "n_ctx_train", "n_params", "size", "vocab_type", "total_slots", "model_path", "chat_template", "build_info",
    "version", "tokenizer_path", "data", "models", "default_generation_settings",
}  # fmt: skip
"""Fields that tell servers apart. Others (times, counters, sampling settings) change while a server stays the same."""


async def server_identity(engine: OpenAIEngine) -> str:
    """A hash of what a server says of itself, the model's entry and settings included.

    Raises:
        EngineError: It does not answer.
    """
    facts: dict[str, object] = {
        "repertory": metadata.version("repertory"),
        "address": engine.client.base_url,
        "kind": engine.profile.kind.value,
        "version": engine.profile.version,
        "model": engine.model,
        "context": engine.context_tokens,
    }
    for path in _FACTS[engine.profile.kind]:
        reply = await engine.client.get(path)
        facts[path] = _stable(reply.json(), engine.model) if reply.ok else None
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


class ProvenEngines:
    """A folder of probe results, one small file per server.

    Args:
        folder: Where they are kept; made when the first is written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def prove(
        self, engine: OpenAIEngine, *, say: Callable[[str], None], within_s: float = _QUICK_PROBE_S, again: bool = False
    ) -> ProbeResult | None:
        """Let the engine work as proven: by an earlier probe of this very server, else by one now.

        Args:
            engine: A connected engine; its profile is changed.
            say: Gets a sentence before a probe and after one that found something.
            within_s: Bound of a probe.
            again: Probe even though there is a result.

        Returns:
            The probe's result; None when the server could not be asked, so that its profile stays as it was.
        """
        try:
            path = self._folder / f"{await server_identity(engine)}.json"
            known = None if again else _read(path)
            if known is not None:
                engine.adopt(engine.profile.model_copy(update=_typed(known)))
                return known
            say(f"trying what the engine at {engine.client.base_url} can do (once per server)")
            result = await probe_engine(engine, within_s=within_s)
        except RepertoryError as error:
            say(f"the engine could not be tried: {error_text(error.message) or error.message}")
            return None
        if all(check.status != "failed" for check in result.checks):
            _write(path, result)
        wrong = [name for name, value in _typed(result).items() if value != getattr(engine.profile, name)]
        engine.adopt(result.profile)
        if wrong:
            say(f"it differs from its profile in {', '.join(sorted(wrong))}; what was tried counts")
        return result


def _typed(result: ProbeResult) -> dict[str, object]:
    """The findings with the types that the profile has."""
    known = type(result.profile).model_fields
    return {name: getattr(result.profile, name) for name in result.findings if name in known}


def _stable(value: object, model: str) -> object:
    """What stays the same while a server does; of a list of models only the entry of the one in use."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        return {name: _stable(item, model) for name, item in fields.items() if name in _STABLE}
    if isinstance(value, list):
        items = [_stable(item, model) for item in cast("list[object]", value)]
        return [item for item in items if _names(item, model)] or items
    return value


def _names(item: object, model: str) -> bool:
    return isinstance(item, Mapping) and model in cast("Mapping[str, object]", item).values()


def _read(path: Path) -> ProbeResult | None:
    """A kept result; one that can not be read counts as none."""
    try:
        return ProbeResult.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _write(path: Path, result: ProbeResult) -> None:
    """Keep a result; a folder that can not be written costs only the memory of it."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as file:
            file.write(result.model_dump_json())
        Path(file.name).replace(path)
