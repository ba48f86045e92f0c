"""How the one retry differs from the first try, by what went wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from repertory.engines.protocol import ChatMessage, Engine, GenerateRequest
from repertory.errors import RepertoryError
from repertory.runtime.structured.failures import FailureKind
from repertory.runtime.structured.stream import Streamed

__all__ = ("Retry", "ask_for_json", "plan_retry")

_JSON_IN_WORDS = (
    "Answer with one JSON object and nothing else: no Markdown fence, no words before or after it, exactly the fields "
    "named above."
)
_LEAST_CAP = 32
_MAX_QUOTED = 6000
"""Characters of an unusable answer that are shown to the model again."""

_REPAIRED = frozenset({FailureKind.NOT_JSON, FailureKind.SCHEMA_INVALID, FailureKind.CHECK_FAILED})
_AS_IT_WAS = frozenset(
    {
        FailureKind.ENGINE_UNAVAILABLE,
        FailureKind.CONTEXT_EXHAUSTED,
        FailureKind.STREAM_STALLED,
        FailureKind.HARNESS_FAILED,
        FailureKind.TIMEOUT,
    }
)
_WITHOUT_GRAMMAR = frozenset({FailureKind.GRAMMAR_WHITESPACE_LOOP, FailureKind.ENGINE_ERROR, FailureKind.STREAM_BROKEN})
_WARMER = frozenset(
    {FailureKind.GRAMMAR_WHITESPACE_LOOP, FailureKind.REPETITION_LOOP, FailureKind.EMPTY, FailureKind.OUTPUT_UNUSABLE}
)
_LONGER = frozenset({FailureKind.TRUNCATED, FailureKind.REASONING_EXHAUSTED})


@dataclass(frozen=True)
class Retry:
    """The second request, and whether a grammar still constrains it."""

    request: GenerateRequest
    grammar: bool


async def plan_retry(
    engine: Engine, request: GenerateRequest, failed: Streamed, problems: Sequence[str], *, grammar: bool, json: bool
) -> Retry | None:
    """The second request, or None when sending anything again can not help.

    The prompt keeps every message it had, byte for byte, so that what the engine has computed of it is used again; a
    repair is appended.

    Args:
        engine: Where it will be sent.
        request: The first request, as the caller made it (without a schema).
        failed: What came of it.
        problems: What was wrong with the answer.
        grammar: Whether a grammar constrained the first try.
        json: Whether the answer is JSON (else text).
    """
    kind = failed.kind
    if kind in _REPAIRED:
        return await _with_repair(engine, request, failed.text, problems, grammar=grammar, json=json)
    if kind in _LONGER:
        stops_thinking = kind is FailureKind.REASONING_EXHAUSTED and request.thinking is not False
        return await _with_longer_cap(engine, request, grammar=grammar, stops_thinking=stops_thinking)
    if kind in _WARMER or kind in _WITHOUT_GRAMMAR:
        again = _warmer(request) if kind in _WARMER else request
        return Retry(again, grammar=grammar and kind not in _WITHOUT_GRAMMAR)
    return Retry(request, grammar=grammar) if kind in _AS_IT_WAS else None


def ask_for_json(request: GenerateRequest, guide: str) -> GenerateRequest:
    """The request with JSON asked for in words, for an answer that no grammar constrains."""
    messages = list(request.messages)
    known = any(guide in message.content for message in messages)
    words = _JSON_IN_WORDS if known else f"# Answer as one JSON object\n{guide}\n\n{_JSON_IN_WORDS}"
    if messages and messages[-1].role == "user":
        messages[-1] = ChatMessage("user", f"{messages[-1].content}\n\n{words}")
    else:
        messages.append(ChatMessage("user", words))
    return replace(request, messages=tuple(messages))


def _warmer(request: GenerateRequest) -> GenerateRequest:
    return replace(request, temperature=min(max(0.7, request.temperature + 0.3), 1.5), seed=(request.seed or 0) + 1)


async def _with_repair(
    engine: Engine, request: GenerateRequest, answer: str, problems: Sequence[str], *, grammar: bool, json: bool
) -> Retry | None:
    listed = "\n".join(f"- {problem}" for problem in problems)
    again = "Write the whole JSON object again" if json else "Write the whole text again"
    asked = ChatMessage("user", f"This answer can not be used:\n{listed}\n{again} with this mended, and nothing else.")
    shown = answer if len(answer) <= _MAX_QUOTED else f"{answer[:_MAX_QUOTED]} ..."
    for extra in ((ChatMessage("assistant", shown), asked), (asked,)):
        repaired = replace(request, messages=(*request.messages, *extra))
        room = await _room(engine, repaired)
        if room is None or room >= min(request.max_output_tokens, _LEAST_CAP):
            cap = request.max_output_tokens if room is None else min(request.max_output_tokens, room)
            return Retry(replace(repaired, max_output_tokens=cap), grammar=grammar)
    return None


async def _with_longer_cap(
    engine: Engine, request: GenerateRequest, *, grammar: bool, stops_thinking: bool
) -> Retry | None:
    """Twice the cap, as far as the context allows: with the same one it would be cut again at the same place."""
    quiet = replace(request, thinking=False) if stops_thinking else request
    room = await _room(engine, quiet)
    longer = 2 * request.max_output_tokens
    longer = longer if room is None else min(longer, max(room, request.max_output_tokens))
    if longer == request.max_output_tokens and not stops_thinking:
        return None
    return Retry(replace(quiet, max_output_tokens=longer), grammar=grammar)


async def _room(engine: Engine, request: GenerateRequest) -> int | None:
    """Tokens that the context leaves for the answer beside the thinking; None when the engine can not say."""
    thinking = request.cap - request.max_output_tokens
    try:
        return engine.context_tokens - await engine.count_tokens(request.messages) - thinking
    except RepertoryError:
        return None
