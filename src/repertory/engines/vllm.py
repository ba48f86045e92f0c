"""The adapter for vLLM: priorities, exact counts, cached tokens."""

from collections.abc import Sequence

from repertory.engines.messages import wire_messages
from repertory.engines.openai_compatible import OpenAIEngine, wire_tools
from repertory.engines.protocol import ChatMessage, GenerateRequest

__all__ = ("VllmEngine",)


class VllmEngine(OpenAIEngine):
    """One vLLM server."""

    def body(self, request: GenerateRequest, messages: Sequence[ChatMessage]) -> dict[str, object]:
        """The JSON that is sent."""
        body = super().body(request, messages)
        if self._profile.priority:
            body["priority"] = request.priority
        if request.request_id is not None:
            body["request_id"] = request.request_id
        if (thinking := self.thinking_of(request)) is not None:
            body["chat_template_kwargs"] = {"enable_thinking": thinking}
        return body

    async def count_request(self, request: GenerateRequest) -> int:
        """Tokens of the prompt that `generate` would send, counted by the server."""
        body: dict[str, object] = {
            "model": self._model,
            "messages": wire_messages(self.normalise(request.messages)),
            "add_generation_prompt": True,
        }
        if (thinking := self.thinking_of(request)) is not None:
            body["chat_template_kwargs"] = {"enable_thinking": thinking}
        if request.tools:
            body["tools"] = wire_tools(request.tools)
        count = (await self.client.ask("/tokenize", body)).get("count")
        return count if isinstance(count, int) else await super().count_request(request)
