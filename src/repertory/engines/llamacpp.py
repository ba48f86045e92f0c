"""The adapter for llama.cpp's server: slots, slot copying, exact counts, verified cancels."""

import math
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio

from repertory.engines.admission import Admission
from repertory.engines.answer import AnswerReader
from repertory.engines.deadline import Deadline
from repertory.engines.http import EngineClient
from repertory.engines.kept_prefixes import FoundPrefix, KeptPrefixes
from repertory.engines.messages import wire_messages
from repertory.engines.openai_compatible import OpenAIEngine, wire_tools
from repertory.engines.profile import EngineProfile
from repertory.engines.protocol import ChatMessage, GenerateRequest, PrefixState, StreamPart, TokenUsage
from repertory.errors import EngineError, EngineRejectedError, EngineTimeoutError, EngineUnavailableError
from repertory.storage.prefix_states import KeptPrefix

__all__ = ("LlamaCppEngine",)

_SAVED_STATES = 4
"""State files used in turn; each holds a whole prefix (28 KiB per token for a model of 1.5 B), so few are kept."""

_WORTH_BYTES = 512
"""A state is restored when it spares at least so much text (about 100 tokens); less is computed as quickly."""

_LOOSE_END = 8
"""Tokens at the end of a state that a longer prompt may split differently."""


class LlamaCppEngine(OpenAIEngine):
    """One llama.cpp server; also a `repertory.engines.protocol.PrefixCopier`.

    Args:
        client: Speaks HTTP to the server.
        model: The name of the served model.
        profile: What the engine can do.
        context_tokens: The context of one slot.
        slots: How many slots the server has.
        slot_folder: The server's folder of slot states, if it is ours: our files in it are removed at the end.
        kept_prefixes: Keeps computed prefixes beyond the engine's own slots; also a `PrefixKeeper` then.
    """

    def __init__(
        self,
        client: EngineClient,
        *,
        model: str,
        profile: EngineProfile,
        context_tokens: int,
        slots: int,
        slot_folder: Path | None = None,
        kept_prefixes: KeptPrefixes | None = None,
    ) -> None:
        super().__init__(
            client, model=model, profile=profile, context_tokens=context_tokens, max_in_flight=slots, prefix="/v1"
        )
        self._slots = slots
        self._slot_folder = slot_folder
        own = secrets.token_hex(8)
        self._names = tuple(f"repertory-{own}-{number}.bin" for number in range(_SAVED_STATES))
        self._next_name = 0
        self._kept = kept_prefixes
        self._found: dict[str, tuple[FoundPrefix, int, int | None]] = {}
        # What we last computed in each slot. Whoever else uses the server may have replaced it: then a state that would
        # have helped is not restored, and the prompt is computed as it would be without any.
        self._prefix_in: dict[int, bytes] = {}
        self._control = Admission(1)
        self.leaked_slots: set[int] = set()

    @property
    def slots(self) -> int:
        """How many slots the engine has."""
        return self._slots

    def body(self, request: GenerateRequest, messages: Sequence[ChatMessage]) -> dict[str, object]:
        """The JSON that is sent."""
        body = super().body(request, messages)
        body |= {"cache_prompt": True, "return_progress": True} | self._thinking(request)
        if request.slot is not None:
            body["id_slot"] = request.slot
        return body

    async def count_request(self, request: GenerateRequest) -> int:
        """Tokens of the prompt that `generate` would send, counted by the server: exactly what its usage will say."""
        prompt = await self._render(self.normalise(request.messages), request)
        reply = await self.client.ask("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})
        tokens = reply.get("tokens")
        return len(cast("list[object]", tokens)) if isinstance(tokens, list) else 0

    async def compute_prefix(
        self, messages: Sequence[ChatMessage], *, slot: int, deadline_s: float | None = None, owner: str | None = None
    ) -> PrefixState:
        """Compute the rendered prompt up to the end of the last message's text in one slot, and save the slot.

        Raises:
            EngineRejectedError: The server can not save slots.
        """
        deadline = Deadline(deadline_s)
        self._check_slot(slot)
        prefix = await self._render_prefix(self.normalise(messages))
        if self._kept is None or owner is None:
            return await self._compute_prefix(prefix, slot, deadline, None)
        # Looked up before the wait for the slot, so that what the next turn in the queue needs is not evicted.
        async with self._kept.looking_up(owner, prefix) as found:
            return await self._compute_prefix(prefix, slot, deadline, found)

    async def _compute_prefix(
        self, prefix: str, slot: int, deadline: Deadline, found: FoundPrefix | None
    ) -> PrefixState:
        async with self.admission.enter(lane=slot, deadline=deadline, where=self.client.base_url):
            await self._require_idle(slot, deadline)
            restored = await self._bring_back(slot, found)
            self._prefix_in.pop(slot, None)
            limit_s = min(deadline.remaining_s, self.client.timeouts.first_part_s)
            body: dict[str, object] = {"prompt": prefix, "n_predict": 0, "id_slot": slot, "cache_prompt": True}
            try:
                reply = await self.client.ask("/completion", body, within_s=limit_s)
            except BaseException:
                await self._verify_idle(slot)
                raise
            usage = _read_timings(reply)
            self._prefix_in[slot] = prefix.encode("utf-8", "surrogatepass")
            if restored is not None and self._kept is not None and (usage.cached or 0) < restored.tokens - _LOOSE_END:
                await self._kept.drop(restored)  # it is not what it was said to be; the prompt was computed as usual
            name = self._names[self._next_name]
            self._next_name = (self._next_name + 1) % len(self._names)
            saved = await self.client.ask(f"/slots/{slot}?action=save", {"filename": name})
        told, written = saved.get("n_saved"), saved.get("n_written")
        tokens = told if isinstance(told, int) else usage.prompt
        self._found.pop(name, None)
        # Whoever else uses the server may have taken the slot before it was saved: then the state is of their prompt.
        if found is not None and tokens == usage.prompt:
            self._found[name] = (found, tokens, written if isinstance(written, int) else None)
        return PrefixState(name=name, tokens=tokens, usage=usage)

    async def _bring_back(self, slot: int, found: FoundPrefix | None) -> KeptPrefix | None:
        """Restore the state on disk that a prompt begins with, unless the slot holds as much of it already."""
        if found is None or found.kept is None or self._kept is None:
            return None
        kept = found.kept
        worth = found.prefix[: max(0, kept.prefix_bytes - _WORTH_BYTES)]
        if self._prefix_in.get(slot, b"").startswith(worth):
            return None
        name = await self._kept.lay_out(kept)
        if name is None:
            return None
        try:
            await self.client.ask(f"/slots/{slot}?action=restore", {"filename": name})
        except (EngineTimeoutError, EngineUnavailableError):
            return None  # the server's trouble, not the state's; the computation tells if it is gone
        except EngineError:
            await self._kept.drop(kept)
            return None
        finally:
            self._kept.take_back(name)
        return kept

    def set_aside_prefix(self, state: PrefixState) -> None:
        """Move a state's file out of the server's folder; it can not be restored from there any more."""
        known = self._found.pop(state.name, None)
        if known is not None and self._kept is not None:
            found, tokens, written = known
            self._kept.set_aside(state.name, found, tokens=tokens, written=written)

    def keep_prefix(self, state: PrefixState) -> None:
        """Keep a state that was set aside."""
        if self._kept is not None:
            self._kept.keep(state.name)

    async def restore_prefix(self, state: PrefixState, *, slot: int) -> None:
        """Put a saved prefix into another slot; waits until nobody is in that slot.

        Raises:
            EngineRejectedError: The server has no such state, or no room for it.
        """
        self._check_slot(slot)
        deadline = Deadline(self.client.timeouts.control_s)
        async with self.admission.enter(priority=-1, lane=slot, deadline=deadline, where=self.client.base_url):
            await self._require_idle(slot, deadline)
            self._prefix_in.pop(slot, None)
            await self.client.ask(f"/slots/{slot}?action=restore", {"filename": state.name})

    async def idle_slots(self) -> set[int] | None:
        """The slots that work on nothing; None when the server does not show its slots."""
        reply = await self.client.get("/slots", within_s=self.client.timeouts.idle_check_s)
        slots = reply.json()
        if not reply.ok or not isinstance(slots, list):
            return None
        idle: set[int] = set()
        for item in cast("list[object]", slots):
            fields = cast("dict[str, object]", item) if isinstance(item, dict) else {}
            number = fields.get("id")
            if isinstance(number, int) and not fields.get("is_processing") and fields.get("state", 0) == 0:
                idle.add(number)
        return idle

    async def aclose(self) -> None:
        """Close connections and remove our slot states. The engine keeps running."""
        if self._kept is not None:
            await self._kept.settle()
        await super().aclose()
        if self._slot_folder is not None:
            for name in self._names:
                (self._slot_folder / name).unlink(missing_ok=True)

    @asynccontextmanager
    async def _place(self, request: GenerateRequest, deadline: Deadline) -> AsyncGenerator[None]:
        if request.slot is not None:
            self._check_slot(request.slot)
        async with self.admission.enter(
            priority=request.priority, lane=request.slot, deadline=deadline, where=self.client.base_url
        ):
            if request.slot is not None:
                await self._require_idle(request.slot, deadline)
            else:
                self._prefix_in.clear()  # the server chooses the slot, and does not say which
            yield

    async def _exchange(
        self, request: GenerateRequest, messages: Sequence[ChatMessage], answer: AnswerReader, deadline: Deadline
    ) -> AsyncGenerator[StreamPart]:
        whole = False
        parts = super()._exchange(request, messages, answer, deadline)
        try:
            async for part in parts:
                yield part
            whole = answer.finished
        finally:
            await parts.aclose()
            if not whole:
                await self._verify_idle(request.slot)

    async def _verify_idle(self, slot: int | None) -> None:
        """After a broken-off request, wait (bounded) until its slot is idle; else remember the slot as leaked.

        The place in our queue is held meanwhile, so nobody is sent into a slot that still works.
        """
        with anyio.CancelScope(shield=True):
            pause_s = 0.01
            end = anyio.current_time() + self.client.timeouts.idle_check_s
            while True:
                try:
                    idle = await self.idle_slots()
                except EngineTimeoutError:
                    idle = set[int]()  # it answers between two batches only
                except EngineError:
                    return  # the server is gone: there is no slot to leak
                if idle is None:
                    return
                if slot in idle or (slot is None and self._slots - len(idle) < self.admission.inside):
                    self.leaked_slots -= {slot}
                    return
                if anyio.current_time() >= end:
                    break
                await anyio.sleep(pause_s)
                pause_s = min(pause_s * 2, 0.2)
            if slot is not None:
                self.leaked_slots.add(slot)

    async def _require_idle(self, slot: int, deadline: Deadline) -> None:
        """Wait until a slot that did not stop after a cancel is idle again."""
        waited_s = 0.05
        while slot in self.leaked_slots:
            try:
                idle = await self.idle_slots()
            except EngineTimeoutError:
                idle = set[int]()
            if idle is None or slot in idle:
                self.leaked_slots.discard(slot)
                return
            if deadline.remaining_s <= waited_s and not math.isinf(deadline.remaining_s):
                message = f"slot {slot} still works on a request that was cancelled"
                raise EngineUnavailableError(message, where=self.client.base_url, hint="restart the engine")
            await anyio.sleep(waited_s)
            waited_s = min(waited_s * 2, 1.0)

    async def _render(self, messages: Sequence[ChatMessage], request: GenerateRequest | None = None) -> str:
        body: dict[str, object] = {"messages": wire_messages(messages)}
        if request is not None:
            body |= self._thinking(request)
            body |= {"tools": wire_tools(request.tools)} if request.tools else {}
        reply = await self.client.ask("/apply-template", body)
        prompt = reply.get("prompt")
        if not isinstance(prompt, str):
            message = "the server does not render chat templates"
            raise EngineRejectedError(message, where=self.client.base_url, hint="start it with --jinja")
        return prompt

    async def _render_prefix(self, messages: Sequence[ChatMessage]) -> str:
        """The rendered prompt up to the end of the last message's text.

        A mark that no text holds is put behind that text and looked for, because templates trim and rewrite texts.
        """
        mark = f"=={secrets.token_hex(12)}=="
        last = messages[-1]
        marked = [*messages[:-1], ChatMessage(last.role, last.content + mark)]
        # Templates may say so at the very beginning when thinking is off, which it is for most who share a prefix.
        quiet = GenerateRequest(marked, max_output_tokens=1, thinking=False)
        prefix, found, _ = (await self._render(marked, quiet)).partition(mark)
        if not found:
            message = "the chat template does not keep the last message's text"
            raise EngineRejectedError(message, where=self.client.base_url)
        return prefix

    def _thinking(self, request: GenerateRequest) -> dict[str, object]:
        thinking = self.thinking_of(request)
        return {} if thinking is None else {"chat_template_kwargs": {"enable_thinking": thinking}}

    def _check_slot(self, slot: int) -> None:
        if not 0 <= slot < self._slots:
            message = f"there is no slot {slot}; the server has {self._slots}"
            raise EngineRejectedError(message, where=self.client.base_url)


def _read_timings(reply: Mapping[str, object]) -> TokenUsage:
    timings = reply.get("timings")
    fields = cast("dict[str, object]", timings) if isinstance(timings, dict) else {}
    computed, cached = fields.get("prompt_n"), fields.get("cache_n")
    if not isinstance(computed, int):
        evaluated = reply.get("tokens_evaluated")
        return TokenUsage(prompt=evaluated if isinstance(evaluated, int) else 0, output=0)
    found = cached if isinstance(cached, int) else 0
    return TokenUsage(prompt=computed + found, output=0, cached=found)
