"""What a probe tries on an engine, one after the other; each try is a check with what was found."""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from typing import Literal

import anyio
import jsonschema
from pydantic import BaseModel, ConfigDict

from repertory.engines.deadline import Deadline
from repertory.engines.failures import ReasoningExhaustedError, SchemaRejectedError, failure_code, shorten
from repertory.engines.json_text import load_json
from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import FanOut
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
)
from repertory.errors import EngineRejectedError, OutputError, RepertoryError

__all__ = ("ProbeCheck", "ProbeTries")

_FEW_COMPUTED = 32
"""A prompt whose prefix was found computes fewer tokens than this."""
_SHARED_SENTENCES = 12
_QUESTIONS = ("Who spoke?", "Where was it?", "What happened?")
_PROXY_HEADERS = ("via", "cf-ray", "x-served-by", "x-envoy-upstream-service-time", "x-litellm-version")
_PLACES = ("Utrecht", "Vienna")
_WEATHER = {
    "name": "weather",
    "description": "Tells the weather in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
_PROXY_SERVERS = ("nginx", "envoy", "traefik", "haproxy", "caddy", "cloudflare", "apache")


class ProbeCheck(BaseModel):
    """One thing tried.

    `yes` and `no` are findings; `unknown` means that the engine gave no sign either way; `failed` that the try itself
    did not work.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    status: Literal["yes", "no", "unknown", "failed"]
    detail: str = ""


class ProbeTries:
    """All tries on one engine.

    Args:
        engine: The engine.
        deadline: Bounds all of it; what was not tried by then is `unknown`.

    Attributes:
        changes: Settings of the profile that were proven.
        checks: The tries so far.
    """

    def __init__(self, engine: OpenAIEngine, deadline: Deadline) -> None:
        self.engine = engine
        self.deadline = deadline
        self.changes: dict[str, bool | str] = {}
        self.checks: list[ProbeCheck] = []
        self.prompt_tokens = 0
        self.output_tokens = 0
        self._thinks = False

    async def run(self) -> None:
        """Try everything; when the engine does not even answer, nothing else."""
        tries: list[tuple[str, Callable[[], Awaitable[ProbeCheck]]]] = [
            ("answers", self._answers),
            ("direct connection", self._direct),
            ("schema enforced", self._schema),
            ("counts tokens", self._counts),
            ("reports cached tokens", self._cached),
            ("thinking", self._thinking),
            ("prefix shared", self._fan_out),
            ("cancel frees the engine", self._cancel),
            ("calls tools", self._tools),
        ]
        for name, attempt in tries:
            try:
                if self.deadline.remaining_s <= 0:
                    check = ProbeCheck(name=name, status="unknown", detail="no time was left")
                else:
                    check = await attempt()
            except ReasoningExhaustedError as error:
                check = ProbeCheck(name=name, status="unknown", detail=error.message)
            except RepertoryError as error:
                check = ProbeCheck(name=name, status="failed", detail=f"{failure_code(error)}: {error.message}")
            self.checks.append(check)
            if name == "answers" and check.status != "yes":
                return

    async def _generate(self, request: GenerateRequest) -> tuple[Generation, bool]:
        """The generation, and whether thinking came before it."""
        thought, last = False, None
        async with aclosing(self.engine.generate(request)) as parts:
            async for part in parts:
                thought = thought or isinstance(part, ReasoningDelta)
                last = part
        if not isinstance(last, Generation):
            message = "the stream ended without a generation"
            raise RepertoryError(message)
        self.prompt_tokens += last.usage.prompt
        self.output_tokens += last.usage.output
        return last, thought

    def _request(
        self,
        text: str,
        max_output_tokens: int,
        *,
        thinking: bool | None = None,
        json_schema: dict[str, object] | None = None,
        slot: int | None = None,
    ) -> GenerateRequest:
        return GenerateRequest(
            [ChatMessage("system", "You are a helpful assistant."), ChatMessage("user", text)],
            max_output_tokens,
            deadline_s=max(1.0, self.deadline.remaining_s),
            thinking=thinking,
            json_schema=json_schema,
            slot=slot,
        )

    async def _answers(self) -> ProbeCheck:
        generation, thought = await self._lenient(self._request("Say hello.", 64, thinking=self._quiet()))
        self._thinks = thought
        if generation.usage.estimated:
            return ProbeCheck(name="answers", status="yes", detail="without telling how many tokens it used")
        return ProbeCheck(name="answers", status="yes")

    async def _direct(self) -> ProbeCheck:
        """Proxies between us and the engine hold connections open, so that a cancel does not reach it."""
        headers = (await self.engine.client.get("/v1/models")).headers
        signs = [name for name in _PROXY_HEADERS if name in headers]
        server = headers.get("server", "")
        if signs or any(name in server.lower() for name in _PROXY_SERVERS):
            detail = f"a proxy is in between ({', '.join(signs) or server}): check that it passes disconnects on"
            return ProbeCheck(name="direct connection", status="no", detail=shorten(detail))
        return ProbeCheck(name="direct connection", status="yes")

    async def _tools(self) -> ProbeCheck:
        """The engine must take tools, and the model use one with the right argument; twice, or it was luck."""
        for place in _PLACES:
            try:
                called = await self._calls_tool(place)
            except EngineRejectedError as error:
                self.changes["tool_calls"] = False
                return ProbeCheck(name="calls tools", status="no", detail=shorten(error.message))
            if not called:
                self.changes["tool_calls"] = False
                detail = "tools are chosen by a schema instead"
                return ProbeCheck(name="calls tools", status="no", detail=detail)
        self.changes["tool_calls"] = True
        return ProbeCheck(name="calls tools", status="yes")

    async def _calls_tool(self, place: str) -> bool:
        request = self._request(f"What is the weather in {place}?", 96, thinking=self._quiet())
        generation, _ = await self._generate(replace(request, tools=(_WEATHER,)))
        calls = generation.tool_calls
        return len(calls) == 1 and calls[0].name == "weather" and calls[0].arguments == {"city": place}

    def _quiet(self) -> bool | None:
        return False if self.engine.profile.thinking_switch else None

    async def _schema(self) -> ProbeCheck:
        if await self._obeys(self._quiet()):
            self.changes["structured_output"] = True
            detail = "an answer that the model would not give by chance"
            return ProbeCheck(name="schema enforced", status="yes", detail=detail)
        if self._quiet() is False:
            # Some models on Ollama ignore the schema only when thinking is turned off.
            with self._trial(grammar_without_thinking=False):
                obeys = await self._obeys(None)
            if obeys:
                self.changes |= {"structured_output": True, "grammar_without_thinking": False}
                detail = "only when thinking is left to the model"
                return ProbeCheck(name="schema enforced", status="yes", detail=detail)
        self.changes["structured_output"] = False
        return ProbeCheck(name="schema enforced", status="no", detail="JSON is asked for in words and checked by us")

    @contextmanager
    def _trial(self, **changes: object) -> Generator[None]:
        """Another profile for one try."""
        before = self.engine.profile
        self.engine.adopt(before.model_copy(update=changes))
        try:
            yield
        finally:
            self.engine.adopt(before)

    async def _obeys(self, thinking: bool | None) -> bool:
        word = secrets.token_hex(3)
        schema: dict[str, object] = {
            "type": "object",
            "properties": {
                "word": {"type": "string", "enum": [word]},
                "list": {"type": "array", "items": {"type": "string", "maxLength": 6}, "minItems": 2, "maxItems": 2},
            },
            "required": ["word", "list"],
            "additionalProperties": False,
        }
        quiet = thinking is False or not self.engine.profile.thinking_switch
        cap = 64 if quiet and not self._thinks else 512
        request = self._request("Tell me about the sea.", cap, json_schema=schema, thinking=thinking)
        try:
            generation, _ = await self._generate(request)
            value = load_json(generation.text)
        except ReasoningExhaustedError:
            raise  # it never came to the answer
        except (SchemaRejectedError, OutputError, ValueError):
            return False  # any other failure is the engine's and says nothing about schemas
        return jsonschema.Draft202012Validator(schema).is_valid(value)  # pyright: ignore[reportUnknownMemberType] - its stubs are partial

    async def _counts(self) -> ProbeCheck:
        request = self._request("How many tokens is this? Ünïcödé, 漢字, 🙂.", 8, thinking=self._quiet())
        counted = await self.engine.count_request(request)
        generation, _ = await self._lenient(request)
        if generation.usage.estimated:
            return ProbeCheck(name="counts tokens", status="unknown", detail="the engine tells no counts to compare")
        told = generation.usage.prompt
        self.changes["counts_tokens"] = counted == told
        status = "yes" if counted == told else "no"
        return ProbeCheck(name="counts tokens", status=status, detail=f"counted {counted}, the engine says {told}")

    async def _lenient(self, request: GenerateRequest) -> tuple[Generation, bool]:
        """Like `_generate`, but an answer that is not usable still tells its counts."""
        try:
            return await self._generate(request)
        except RepertoryError as error:
            usage = getattr(error, "usage", None)
            if not isinstance(usage, TokenUsage):
                raise
            return Generation(FinishReason.LENGTH, usage, ""), True

    async def _cached(self) -> ProbeCheck:
        request = self._request(_passage(), 4, thinking=self._quiet())
        await self._lenient(request)
        generation, _ = await self._lenient(request)
        cached, prompt = generation.usage.cached, generation.usage.prompt
        if cached is None:
            self.changes["reports_cached_tokens"] = False
            return ProbeCheck(name="reports cached tokens", status="no")
        found = cached * 2 >= prompt
        self.changes["reports_cached_tokens"] = found or self.engine.profile.reports_cached_tokens
        detail = f"{cached} of {prompt} tokens of a repeated prompt"
        return ProbeCheck(name="reports cached tokens", status="yes" if found else "no", detail=detail)

    async def _thinking(self) -> ProbeCheck:
        generation, thought = await self._lenient(self._request("What is 17 + 25?", 96))
        if GenerationNote.LEAKED_THINKING in generation.notes:
            # Thinking that was closed without having been opened was opened by the template.
            self.changes["opens_thinking"] = not thought
            detail = "in tags inside the answer: start the server with its reasoning parser"
            return ProbeCheck(name="thinking", status="yes", detail=detail)
        if not thought:
            return ProbeCheck(name="thinking", status="no", detail="the model does not think")
        if not self.engine.profile.thinking_switch:
            return ProbeCheck(name="thinking", status="yes", detail="and can not be told not to")
        _, thought = await self._lenient(self._request("What is 17 + 25?", 96, thinking=False))
        self.changes["thinking_switch"] = not thought
        detail = "and goes on when told not to" if thought else "and can be told not to"
        return ProbeCheck(name="thinking", status="yes", detail=detail)

    async def _fan_out(self) -> ProbeCheck:
        if isinstance(self.engine, LlamaCppEngine) and self.engine.profile.fan_out is FanOut.COPY_SLOT:
            return await self._copy_slot(self.engine)
        if not self.changes.get("reports_cached_tokens", self.engine.profile.reports_cached_tokens):
            return ProbeCheck(name="prefix shared", status="unknown", detail="the engine does not say what was cached")
        passage = _passage()
        found: list[int] = []

        async def one(question: str) -> None:
            generation, _ = await self._lenient(self._request(passage + question, 4, thinking=self._quiet()))
            found.append(generation.usage.cached or 0)

        async with anyio.create_task_group() as group:
            for question in _QUESTIONS:
                group.start_soon(_quietly, one, question)
        if len(found) < len(_QUESTIONS):
            detail = f"only {len(found)} of {len(_QUESTIONS)} prompts sent at once were answered"
            return ProbeCheck(name="prefix shared", status="failed", detail=detail)
        shared = sum(1 for cached in found if cached >= 64)
        fan_out = FanOut.ALL_AT_ONCE if shared >= 2 else FanOut.PRIME
        self.changes["fan_out"] = fan_out
        detail = f"{shared} of 3 prompts sent at once found what another had computed"
        return ProbeCheck(name="prefix shared", status="yes" if shared >= 2 else "no", detail=detail)

    async def _copy_slot(self, engine: LlamaCppEngine) -> ProbeCheck:
        if engine.slots < 2:
            return ProbeCheck(name="prefix shared", status="unknown", detail="there is one slot only")
        last = engine.slots - 1
        shared = self._request(_passage(), 4)
        limit_s = self.deadline.remaining_s
        try:
            state = await engine.compute_prefix(shared.messages, slot=0, deadline_s=limit_s)
            await engine.restore_prefix(state, slot=last)
        except RepertoryError as error:
            self.changes["fan_out"] = FanOut.PRIME
            return ProbeCheck(name="prefix shared", status="no", detail=error.message)
        asked = self._request(shared.messages[-1].content + "\nWho spoke?", 4, slot=last, thinking=self._quiet())
        generation, _ = await self._lenient(asked)
        computed = generation.usage.prefill
        works = computed < _FEW_COMPUTED
        self.changes["fan_out"] = FanOut.COPY_SLOT if works else FanOut.PRIME
        detail = f"after copying a slot, {computed} of {state.tokens} tokens were computed again"
        return ProbeCheck(name="prefix shared", status="yes" if works else "no", detail=detail)

    async def _cancel(self) -> ProbeCheck:
        slot = 0 if isinstance(self.engine, LlamaCppEngine) else None
        request = self._request("Write a long story about the sea.", 256, slot=slot)
        started = anyio.current_time()
        generation = self.engine.generate(request)
        await _until_text(generation)
        first_s = anyio.current_time() - started
        await generation.aclose()
        took_s = anyio.current_time() - started - first_s
        if not isinstance(self.engine, LlamaCppEngine) or not self.engine.profile.verifies_cancel:
            return ProbeCheck(name="cancel frees the engine", status="unknown", detail="the engine shows no slots")
        freed = not self.engine.leaked_slots
        self.changes["verifies_cancel"] = True
        detail = f"after {took_s:.2f} s" if freed else "the slot goes on working"
        return ProbeCheck(name="cancel frees the engine", status="yes" if freed else "no", detail=detail)


async def _quietly(ask: Callable[[str], Awaitable[None]], question: str) -> None:
    try:
        await ask(question)
    except RepertoryError:
        return


async def _until_text(parts: AsyncGenerator[StreamPart]) -> None:
    async for part in parts:
        if isinstance(part, (TextDelta, ReasoningDelta)):
            return


def _passage() -> str:
    """A few hundred tokens that no cache has seen."""
    name = secrets.token_hex(4)
    sentences = [f"On day {day} the crew of {name} wrote a page about the weather." for day in range(_SHARED_SENTENCES)]
    return " ".join(sentences) + "\n"
