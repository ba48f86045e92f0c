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
    """Per JSON Schema keyword, where it is enforced; a keyword that is not listed is checked by us. A key may be
    narrower, and then decides: `minimum:integer` (for one type), `format:uuid` (for one format)."""
    counts_tokens: bool = False
    """Whether the engine counts a rendered prompt's tokens for us."""
    priority: bool = False
    """Whether requests may carry a priority."""
    slots: bool = False
    """Whether requests may name a slot."""
    reports_cached_tokens: bool = False
    """Whether usage says how much of a prompt was cached."""
    reports_progress: bool = False
    """Whether the stream reports how far prefill has come."""
    thinking_switch: bool = False
    """Whether a request may turn the model's thinking on and off."""
    reasoning_field: str | None = None
    """The field in which this engine writes thinking; every adapter reads all fields known."""
    grammar_after_reasoning: bool = True
    """Whether the grammar waits until thinking has ended, so that thinking and a schema go together."""
    grammar_without_thinking: bool = True
    """Whether the grammar also holds when thinking is turned off (some models on Ollama then ignore it)."""
    opens_thinking: bool = False
    """Whether the chat template itself opens the thinking, so that an answer begins inside it."""
    folds_system: bool = False
    """Whether the chat template has no system role; its text then goes in front of the first user message."""
    schema_in_prompt: bool = False
    """Whether the engine shows the schema to the model; where not, the prompt must describe the fields."""
    tool_calls: bool = False
    """Whether the model calls tools in the engine's own way; nobody promises that, a probe shows it."""
    verifies_cancel: bool = False
    """Whether we can see that a cancelled request has left the engine."""
    sleep: bool = False
    """Whether the engine can free its memory and wake up again."""
    remarks: tuple[str, ...] = ()
    """What a user should know, one sentence each."""
