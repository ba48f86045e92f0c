"""The tables engine x feature and engine x keyword for the documentation, made from the profiles."""

from collections.abc import Callable, Mapping

from repertory.engines.profile import EngineKind, EngineProfile
from repertory.engines.profiles import load_profiles

__all__ = ("render_tables",)

_NAMES = {
    EngineKind.LLAMACPP: "llama.cpp",
    EngineKind.VLLM: "vLLM",
    EngineKind.SGLANG: "SGLang",
    EngineKind.OLLAMA: "Ollama",
    EngineKind.OPENAI: "other OpenAI-compatible",
}
_FEATURES: Mapping[str, Callable[[EngineProfile], bool | str | None]] = {
    "constrains answers to a JSON Schema": lambda profile: profile.structured_output,
    "thinking and a schema in one request": lambda profile: profile.grammar_after_reasoning,
    "thinking can be turned off per request": lambda profile: profile.thinking_switch,
    "field of the thinking": lambda profile: profile.reasoning_field and f"`{profile.reasoning_field}`",
    "counts a prompt's tokens beforehand": lambda profile: profile.counts_tokens,
    "says what was cached": lambda profile: profile.reports_cached_tokens,
    "reports prefill progress": lambda profile: profile.reports_progress,
    "how a turn is fanned out": lambda profile: profile.fan_out.value.replace("_", " "),
    "priorities": lambda profile: profile.priority,
    "slots": lambda profile: profile.slots,
    "a cancel can be verified": lambda profile: profile.verifies_cancel,
    "sleep and wake": lambda profile: profile.sleep,
}
_KEYWORD_WORDS = {"grammar": "engine", "client": "us", "reject": "us (engine refuses)"}


def render_tables() -> str:
    """Markdown: what each engine can do, where each JSON Schema keyword is enforced, and what to know of each."""
    profiles = load_profiles()
    features = [[name, *(_cell(read(profile)) for profile in profiles.values())] for name, read in _FEATURES.items()]
    keywords = list(dict.fromkeys(keyword for profile in profiles.values() for keyword in profile.schema_keywords))
    rows = [[f"`{name}`", *(_keyword(profile, name) for profile in profiles.values())] for name in keywords]
    parts = [
        _table(["", *(_NAMES[kind] for kind in profiles)], features),
        "Where a keyword of JSON Schema is enforced (`keyword:type` or `format:name` is the special case):",
        _table(["keyword", *(_NAMES[kind] for kind in profiles)], rows),
    ]
    for kind, profile in profiles.items():
        parts.append("\n".join([f"{_NAMES[kind]}:", "", *(f"- {remark}" for remark in profile.remarks)]))
    return "\n\n".join(parts) + "\n"


def _keyword(profile: EngineProfile, keyword: str) -> str:
    table = profile.schema_keywords
    return _KEYWORD_WORDS[table.get(keyword, table.get(keyword.partition(":")[0], "client"))]


def _cell(value: bool | str | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value or "-"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
