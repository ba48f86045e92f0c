"""What every request of a harness carries to the engine: the members that our own request would have."""

from repertory.engines.openai_compatible import OpenAIEngine, response_format
from repertory.engines.protocol import ChatMessage, Engine, GenerateRequest

__all__ = ("engine_members", "engine_messages")

_OF_THE_REQUEST = frozenset({"model", "messages", "stream", "stream_options", "tools", "return_progress", "request_id"})


def engine_messages(engine: Engine, request: GenerateRequest) -> tuple[ChatMessage, ...]:
    """The prompt as the engine gets it."""
    return engine.normalise(request.messages) if isinstance(engine, OpenAIEngine) else tuple(request.messages)


def engine_members(engine: Engine, request: GenerateRequest) -> dict[str, object]:
    """Reserve, temperature, schema, slot and priority, in the engine's own words."""
    if isinstance(engine, OpenAIEngine):
        body = engine.body(request, request.messages)
        return {name: value for name, value in body.items() if name not in _OF_THE_REQUEST}
    members: dict[str, object] = {"max_tokens": request.cap, "temperature": request.temperature}
    if request.json_schema is not None and engine.profile.structured_output:
        members["response_format"] = response_format(request.json_schema)
    return members
