"""Ask a connected engine one question, in one line."""

from contextlib import aclosing

from repertory.engines.protocol import ChatMessage, Engine, GenerateRequest, Generation, StreamPart

__all__ = ("ask", "ask_parts")


async def ask_parts(
    engine: Engine,
    text: str | list[ChatMessage] = "Hello.",
    *,
    max_output_tokens: int = 256,
    json_schema: dict[str, object] | None = None,
    deadline_s: float | None = 10.0,
    slot: int | None = None,
    priority: int = 0,
    thinking: bool | None = None,
    tools: list[dict[str, object]] | None = None,
) -> list[StreamPart]:
    """All parts of one generation; the last is the `Generation`."""
    messages = [ChatMessage("user", text)] if isinstance(text, str) else text
    request = GenerateRequest(
        messages,
        max_output_tokens,
        json_schema=json_schema,
        deadline_s=deadline_s,
        slot=slot,
        priority=priority,
        thinking=thinking,
        tools=tools or (),
    )
    async with aclosing(engine.generate(request)) as parts:
        return [part async for part in parts]


async def ask(
    engine: Engine,
    text: str | list[ChatMessage] = "Hello.",
    *,
    max_output_tokens: int = 256,
    json_schema: dict[str, object] | None = None,
    deadline_s: float | None = 10.0,
    slot: int | None = None,
    priority: int = 0,
    thinking: bool | None = None,
    tools: list[dict[str, object]] | None = None,
) -> Generation:
    """The end of one generation, with the whole answer."""
    parts = await ask_parts(
        engine,
        text,
        max_output_tokens=max_output_tokens,
        json_schema=json_schema,
        deadline_s=deadline_s,
        slot=slot,
        priority=priority,
        thinking=thinking,
        tools=tools,
    )
    last = parts[-1]
    if not isinstance(last, Generation):
        message = f"the last part is no generation but {type(last).__name__}"
        raise TypeError(message)
    return last
