"""Collects one answer while it streams and decides at its end what it is, the same for every dialect."""

from collections.abc import Sequence

from repertory.engines.estimate import estimate_output_tokens, estimate_prompt_tokens
from repertory.engines.failures import (
    EmptyAnswerError,
    ReasoningExhaustedError,
    StreamEngineError,
    StreamFrameError,
    StreamIncompleteError,
)
from repertory.engines.json_text import load_json
from repertory.engines.protocol import (
    ChatMessage,
    FinishReason,
    GenerateRequest,
    Generation,
    GenerationNote,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    TokenUsage,
    ToolCall,
)
from repertory.engines.reasoning import Piece, ThinkSplitter, strip_thinking
from repertory.engines.tool_calls import ToolCallHold, ToolCallReader, find_leaked_calls, looks_like_tool_call

__all__ = ("AnswerReader",)

_FINISH = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "eos_token": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
}
_BROKEN_OFF = {"abort", "error", "content_filter", "cancelled", "repetition"}
_BYTES_PER_TOKEN = 64
"""No tokenizer in use has tokens longer than this on average over an answer; more text means the cap is ignored."""
_EXHAUSTED_FROM = 8
"""An empty answer cut at fewer tokens than this can be half a character rather than hidden thinking."""


class AnswerReader:
    """Takes text, thinking, tool calls, counts and the end of one answer.

    Args:
        request: What was asked.
        messages: The messages as sent.
        where: The engine's address, for errors.
        starts_inside_thinking: The chat template opens the thinking itself.
    """

    def __init__(
        self,
        request: GenerateRequest,
        messages: Sequence[ChatMessage],
        *,
        where: str,
        starts_inside_thinking: bool = False,
    ) -> None:
        self.usage: TokenUsage | None = None
        self.ended = False
        self._request = request
        self._messages = messages
        self._where = where
        self._constrained = request.json_schema is not None
        self._splitter = ThinkSplitter(starts_inside=starts_inside_thinking, only_leading=self._constrained)
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._tools = ToolCallReader()
        self._hold = ToolCallHold() if request.tools else None
        self._finish: FinishReason | None = None
        self._notes: set[GenerationNote] = set()
        self._left = 65_536 + _BYTES_PER_TOKEN * request.cap

    @property
    def finished(self) -> bool:
        """Whether the engine said why the answer ends."""
        return self._finish is not None

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._text)

    def add_text(self, text: str) -> list[StreamPart]:
        """Take a piece of the answer."""
        self._spend(text)
        return self._keep_all(self._splitter.feed(text))

    def add_reasoning(self, text: str) -> list[StreamPart]:
        """Take a piece of the thinking from its own field."""
        self._spend(text)
        self._reasoning.append(text)
        return [ReasoningDelta(text)]

    def add_tool_calls(self, pieces: object) -> None:
        """Take the `tool_calls` of a delta or message."""
        self._tools.feed(pieces)
        self._spend("" if pieces is None else str(pieces))

    def set_finish(self, reason: str) -> None:
        """Take the engine's reason of the end.

        Raises:
            StreamEngineError: The engine says that it broke the answer off.
        """
        if reason in _BROKEN_OFF:
            message = f"the engine broke the answer off (finish reason {reason!r})"
            raise StreamEngineError(message, where=self._where)
        self._finish = _FINISH.get(reason, FinishReason.STOP)
        if reason not in _FINISH:
            self._notes.add(GenerationNote.UNKNOWN_FINISH_REASON)

    def finish(self) -> tuple[list[StreamPart], Generation]:
        """The parts held back until the end, and the generation.

        Raises:
            StreamIncompleteError: Nothing said that the answer is whole.
            OutputError: There is no answer in it.
        """
        held = self._keep_all(self._splitter.finish())
        if self._finish is None and not self.ended:
            raise self.incomplete("the stream ended without saying that the answer is whole")
        if self._finish is None:
            self._notes.add(GenerationNote.NO_FINISH_REASON)
        usage = self.usage or self._estimated_usage()
        finish = self._finish or FinishReason.STOP
        text, reasoning = self._settle_text()
        finish, calls, text = self._settle_calls(finish, usage, text)
        if not text.strip() and not calls and not self._tools.any:
            self._refuse_empty(finish, usage, reasoning)
        rest = self._hold.finish() if self._hold is not None else ""
        if rest and GenerationNote.LEAKED_TOOL_CALL not in self._notes:
            held.append(TextDelta(rest))
        notes = tuple(sorted(self._notes))
        return held, Generation(finish, usage, text, reasoning, calls, notes)

    def incomplete(self, message: str) -> StreamIncompleteError:
        """The error that keeps what came as partial."""
        return StreamIncompleteError(
            message, partial="".join(self._text), reasoning="".join(self._reasoning), where=self._where
        )

    def _keep_all(self, pieces: Sequence[Piece]) -> list[StreamPart]:
        parts: list[StreamPart] = []
        for piece in pieces:
            if piece.thinking:
                self._notes.add(GenerationNote.LEAKED_THINKING)
                self._reasoning.append(piece.text)
                parts.append(ReasoningDelta(piece.text))
                continue
            self._text.append(piece.text)
            shown = self._hold.feed(piece.text) if self._hold is not None else piece.text
            if shown:
                parts.append(TextDelta(shown))
        return parts

    def _spend(self, text: str) -> None:
        self._left -= len(text)
        if self._left < 0:
            message = f"the engine goes on far beyond the cap of {self._request.cap} tokens"
            raise StreamFrameError(message, where=self._where)

    def _settle_text(self) -> tuple[str, str]:
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        if not self._constrained:
            text, stray = strip_thinking(text)
            if stray:
                self._notes.add(GenerationNote.LEAKED_THINKING)
                reasoning = f"{reasoning}\n{stray}".strip()
            return text, reasoning
        if not text.strip() and reasoning.strip():
            answer = _last_json(reasoning)
            if answer is not None and _satisfies(answer, self._request.json_schema or {}):
                self._notes.add(GenerationNote.MISROUTED_ANSWER)
                return answer, reasoning.strip().removesuffix(answer)
        elif not _parses(text) and "</think>" in text:
            thought, _, answer = text.rpartition("</think>")
            if _parses(answer):
                self._notes.add(GenerationNote.LEAKED_THINKING)
                return answer.strip(), f"{reasoning}\n{thought}".strip()
        return text, reasoning

    def _settle_calls(
        self, finish: FinishReason, usage: TokenUsage, text: str
    ) -> tuple[FinishReason, tuple[ToolCall, ...], str]:
        calls = self._tools.calls()
        at_cap = not usage.estimated and usage.output >= self._request.cap
        if calls is None or (calls and (at_cap or finish is FinishReason.LENGTH)):
            self._notes.add(GenerationNote.CUT_TOOL_CALL)
            return FinishReason.LENGTH, (), text
        if calls:
            return FinishReason.TOOL_CALLS, calls, text
        if self._request.tools and looks_like_tool_call(text):
            self._notes.add(GenerationNote.LEAKED_TOOL_CALL)
            leaked = find_leaked_calls(text)
            if leaked is None or finish is FinishReason.LENGTH:
                return FinishReason.LENGTH, (), text
            return FinishReason.TOOL_CALLS, leaked, ""
        if finish is FinishReason.TOOL_CALLS:
            # The engine claims calls and sent none. At the cap they were cut; else the text is the answer.
            finish = FinishReason.LENGTH if at_cap else FinishReason.STOP
        return finish, (), text

    def _refuse_empty(self, finish: FinishReason, usage: TokenUsage, reasoning: str) -> None:
        if finish is FinishReason.LENGTH:
            if reasoning or usage.output >= _EXHAUSTED_FROM:
                cap = self._request.cap
                raise ReasoningExhaustedError(usage=usage, cap=cap, reasoning=reasoning, where=self._where)
            return
        message = "the engine ended the answer with nothing in it"
        raise EmptyAnswerError(message, usage=usage, reasoning=reasoning, where=self._where)

    def _estimated_usage(self) -> TokenUsage:
        output = estimate_output_tokens("".join(self._text) + "".join(self._reasoning))
        return TokenUsage(prompt=estimate_prompt_tokens(self._messages), output=output, estimated=True)


def _parses(text: str) -> bool:
    try:
        load_json(text)
    except ValueError:
        return False
    return True


def _last_json(reasoning: str) -> str | None:
    """The JSON that a text ends with, or is."""
    body = reasoning.strip()
    for tag in ("<think>", "</think>"):
        body = body.removeprefix(tag).removesuffix(tag).strip()
    if _parses(body):
        return body
    for start in (position for position, char in enumerate(body) if char in "{[" and body[:position].endswith("\n")):
        if _parses(body[start:]):
            return body[start:]
    return None


def _satisfies(answer: str, schema: dict[str, object]) -> bool:
    import jsonschema  # noqa: PLC0415 - 60 ms that only this rare case needs

    return jsonschema.Draft202012Validator(schema).is_valid(load_json(answer))  # pyright: ignore[reportUnknownMemberType] - its stubs are partial
