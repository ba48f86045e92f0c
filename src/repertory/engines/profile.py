"""What an engine can do, as data. A probe proves it against the live server and model."""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

__all__ = ("EngineKind", "EngineProfile", "FanOut", "KeywordSupport")

KeywordSupport = Literal["grammar", "client", "reject"]
"""Where a JSON Schema keyword is enforced: by the engine's grammar, by our own validation, or not accepted."""


class EngineKind(StrEnum):
    """The engines that have an adapter."""

    LLAMACPP = "llama.cpp"
    VLLM = "vllm"
    SGLANG = "sglang"
    OLLAMA = "ollama"
    OPENAI = "openai"


class FanOut(StrEnum):
    """How the agents of a turn are sent so that their shared prefix is computed once.

    `ALL_AT_ONCE`: the engine shares a prefix that is still being computed (vLLM).
    `COPY_SLOT`: the prefix is computed in one slot and its state copied to the others (llama.cpp).
    `PRIME`: the first reply goes first, the others follow at its first token (unknown engines).
    """

    ALL_AT_ONCE = "all_at_once"
    COPY_SLOT = "copy_slot"
    PRIME = "prime"


class EngineProfile(BaseModel):
    """Capabilities of one engine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: EngineKind
    version: str | None = None
    fan_out: FanOut
    structured_output: bool = True
    """Whether the engine constrains decoding to a JSON Schema."""
    schema_keywords: dict[str, KeywordSupport] = {}
    """Per JSON Schema keyword, where it is enforced; a keyword that is not listed is checked by us."""
    counts_tokens: bool = False
    """Whether the engine counts a rendered prompt's tokens for us."""
    priority: bool = False
    """Whether requests may carry a priority."""
    slots: bool = False
    """Whether requests may name a slot."""
    reports_cached_tokens: bool = False
    """Whether usage says how much of a prompt was cached."""
