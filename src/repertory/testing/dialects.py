"""Writes an answer in the dialect of an engine, one event per token."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repertory.engines.profile import EngineKind
from repertory.testing.script import Pause, Script, Send, Step

__all__ = ("Answer", "split_tokens", "sse", "write_answer")

_TOKEN = re.compile(r"\s*\w{1,12}|\s*[^\w\s]|\s+")


@dataclass(frozen=True)
class Answer:
    """What is to be written.

    Attributes:
        text: The answer.
        reasoning: Thinking before it.
        finish_reason: What the engine says at the end.
        prompt_tokens: Tokens of the prompt.
        cached_tokens: How many of them were cached.
        token_delay_s: Pause before each token.
        prefill_s: Pause before the first token.
    """

    text: str
    reasoning: str = ""
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    cached_tokens: int = 0
    token_delay_s: float = 0.0
    prefill_s: float = 0.0

    @property
    def output_tokens(self) -> int:
        """Tokens of thinking and answer, and one for the end."""
        return len(split_tokens(self.reasoning)) + len(split_tokens(self.text)) + 1


def split_tokens(text: str) -> list[str]:
    """The tokens of a text for the scripted engine: words of at most twelve letters, and signs."""
    return _TOKEN.findall(text)


def sse(*frames: object, done: bool = True, end: str = "\n") -> bytes:
    """Server-sent events with these JSON values, and `[DONE]`."""
    lines = [frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=False) for frame in frames]
    return "".join(f"data: {line}{end}{end}" for line in (*lines, *(("[DONE]",) if done else ()))).encode()


def write_answer(answer: Answer, kind: EngineKind, *, model: str, stream: bool) -> Script:
    """The whole HTTP answer."""
    if kind is EngineKind.OLLAMA:
        return _ollama(answer, model, stream=stream)
    if not stream:
        field = _reasoning_field(kind)
        message: dict[str, object] = {"role": "assistant", "content": answer.text}
        if answer.reasoning:
            message[field] = answer.reasoning
        body = _frame(model, "chat.completion") | {
            "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
            "usage": _usage(answer),
        }
        return Script(_with_pauses([json.dumps(body).encode()], answer), content_type="application/json")
    return Script(_with_pauses(_openai_events(answer, kind, model), answer))


def _openai_events(answer: Answer, kind: EngineKind, model: str) -> list[bytes]:
    field = _reasoning_field(kind)
    head = _frame(model, "chat.completion.chunk")

    def event(delta: Mapping[str, object], finish_reason: str | None = None) -> bytes:
        choice: dict[str, object] = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return sse(head | {"choices": [choice]}, done=False)

    events = [event({"role": "assistant", "content": None if kind is EngineKind.LLAMACPP else ""})]
    events += [event({field: token}) for token in split_tokens(answer.reasoning)]
    events += [event({"content": token}) for token in split_tokens(answer.text)]
    no_choices: list[object] = []
    return [*events, event({}, answer.finish_reason), sse(head | {"choices": no_choices, "usage": _usage(answer)})]


def _ollama(answer: Answer, model: str, *, stream: bool) -> Script:
    end: dict[str, object] = {
        "model": model,
        "done": True,
        "done_reason": answer.finish_reason,
        "prompt_eval_count": answer.prompt_tokens,
        "eval_count": answer.output_tokens,
    }
    if not stream:
        message = {"role": "assistant", "content": answer.text, "thinking": answer.reasoning}
        return Script([Send(json.dumps(end | {"message": message}).encode())], content_type="application/json")
    messages = [{"role": "assistant", "content": "", "thinking": token} for token in split_tokens(answer.reasoning)]
    messages += [{"role": "assistant", "content": token} for token in split_tokens(answer.text)]
    frames: list[dict[str, object]] = [{"model": model, "message": message, "done": False} for message in messages]
    frames.append(end | {"message": {"role": "assistant", "content": ""}})
    lines = [json.dumps(frame, ensure_ascii=False).encode() + b"\n" for frame in frames]
    return Script(_with_pauses(lines, answer), content_type="application/x-ndjson")


def _with_pauses(chunks: Sequence[bytes], answer: Answer) -> list[Step]:
    steps: list[Step] = [Pause(answer.prefill_s)] if answer.prefill_s else []
    for chunk in chunks:
        if answer.token_delay_s:
            steps.append(Pause(answer.token_delay_s))
        steps.append(Send(chunk))
    return steps


def _frame(model: str, kind: str) -> dict[str, object]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": model}


def _usage(answer: Answer) -> dict[str, object]:
    return {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.prompt_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens},
    }


def _reasoning_field(kind: EngineKind) -> str:
    return "reasoning" if kind is EngineKind.VLLM else "reasoning_content"
