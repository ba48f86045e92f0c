"""The adapter for SGLang: exact counts, cached tokens, priorities when the server was started with them."""

import json
from collections.abc import Sequence
from typing import cast

from repertory.engines.estimate import estimate_output_tokens, estimate_prompt_tokens
from repertory.engines.http import EngineClient
from repertory.engines.openai_compatible import OpenAIEngine, wire_tools
from repertory.engines.profile import EngineProfile
from repertory.engines.protocol import ChatMessage, GenerateRequest

__all__ = ("SglangEngine",)


class SglangEngine(OpenAIEngine):
    """One SGLang server.

    Args:
        client: Speaks HTTP to the server.
        model: The name of the served model.
        profile: What the engine can do.
        context_tokens: The longest prompt plus answer.
        low_values_first: The server runs low priority values first; by its default it runs high ones first.
    """

    def __init__(
        self,
        client: EngineClient,
        *,
        model: str,
        profile: EngineProfile,
        context_tokens: int,
        low_values_first: bool = False,
    ) -> None:
        super().__init__(client, model=model, profile=profile, context_tokens=context_tokens, max_in_flight=64)
        self._low_values_first = low_values_first

    def body(self, request: GenerateRequest, messages: Sequence[ChatMessage]) -> dict[str, object]:
        """The JSON that is sent."""
        body = super().body(request, messages)
        if self._profile.priority:
            body["priority"] = request.priority if self._low_values_first else -request.priority
        if request.request_id is not None:
            body["rid"] = request.request_id
        if (thinking := self.thinking_of(request)) is not None:
            body["chat_template_kwargs"] = {"enable_thinking": thinking}
        return body

    async def count_request(self, request: GenerateRequest) -> int:
        """Upper bound of the prompt's tokens: the texts are counted by the server, the template's own are bounded."""
        messages = self.normalise(request.messages)
        texts = [message.content for message in messages]
        body: dict[str, object] = {"model": self._model, "prompt": texts, "add_special_tokens": False}
        reply = await self.client.post("/v1/tokenize", body)
        counts = reply.fields().get("count") if reply.ok else None
        if not isinstance(counts, list):
            return await super().count_request(request)
        counted = sum(count for count in cast("list[object]", counts) if isinstance(count, int))
        template = estimate_prompt_tokens([ChatMessage(message.role, "") for message in messages])
        tools = estimate_output_tokens(json.dumps(wire_tools(request.tools))) if request.tools else 0
        return counted + template + tools
