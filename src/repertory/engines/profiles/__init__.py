"""The engine profiles: one data file per engine, read when asked for."""

import tomllib
from importlib import resources

from repertory.engines.profile import EngineKind, EngineProfile

__all__ = ("load_profile", "load_profiles")

_FILES = {
    EngineKind.LLAMACPP: "llamacpp.toml",
    EngineKind.VLLM: "vllm.toml",
    EngineKind.SGLANG: "sglang.toml",
    EngineKind.OLLAMA: "ollama.toml",
    EngineKind.OPENAI: "openai.toml",
}


def load_profile(kind: EngineKind) -> EngineProfile:
    """What engines of a kind can do as far as is known before a probe."""
    text = resources.files(__name__).joinpath(_FILES[kind]).read_text(encoding="utf-8")
    return EngineProfile.model_validate(tomllib.loads(text))


def load_profiles() -> dict[EngineKind, EngineProfile]:
    """All profiles."""
    return {kind: load_profile(kind) for kind in _FILES}
