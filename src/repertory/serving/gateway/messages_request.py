"""A request to Anthropic's `/v1/messages`, written as one to OpenAI's `/v1/chat/completions`.

The request is validated here, since the engine can not: what is not understood is refused with the place, not dropped.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("read_messages_request",)


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Text(_Lenient):
    type: Literal["text"]
    text: str


class _ImageSource(_Lenient):
    type: Literal["base64", "url"]
    media_type: str = "image/png"
    data: str = ""
    url: str = ""


class _Image(_Lenient):
    type: Literal["image"]
    source: _ImageSource


class _Thinking(_Lenient):
    type: Literal["thinking", "redacted_thinking"]


class _ToolUse(_Lenient):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


_Part = Annotated[_Text | _Image, Field(discriminator="type")]


class _ToolResult(_Lenient):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[_Part] = ""
    is_error: bool = False


_Block = Annotated[_Text | _Image | _Thinking | _ToolUse | _ToolResult, Field(discriminator="type")]


class _Message(_Lenient):
    role: Literal["user", "assistant"]
    content: str | list[_Block]


class _Tool(_Lenient):
    type: Literal["custom"] | None = None
    name: str
    description: str = ""
    input_schema: dict[str, Any]


class _ToolChoice(_Lenient):
    type: Literal["auto", "any", "tool", "none"]
    name: str = ""
    disable_parallel_tool_use: bool = False


class _MessagesRequest(_Lenient):
    messages: list[_Message] = Field(min_length=1)
    system: str | list[_Text] = ""
    max_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None
    tools: list[_Tool] = []
    tool_choice: _ToolChoice | None = None


def read_messages_request(body: bytes, model: str) -> dict[str, object]:
    """The body for `/v1/chat/completions`, not streaming.

    Args:
        body: The request's body.
        model: The instance's name for the model.

    Raises:
        GatewayError: It is no such request, or asks for something that has no counterpart.
    """
    try:
        request = _MessagesRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        message = f"{place}: {first['msg']}"
        raise GatewayError(message, code="invalid_value", param=place or None) from None
    messages: list[dict[str, object]] = []
    system = request.system if isinstance(request.system, str) else "\n\n".join(part.text for part in request.system)
    if system:
        messages.append({"role": "system", "content": system})
    for item in request.messages:
        messages += _user(item) if item.role == "user" else [_assistant(item)]
    chat: dict[str, object] = {"model": model, "messages": messages}
    plain = {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "top_k": request.top_k,
        "stop": request.stop_sequences,
    }
    chat |= {name: value for name, value in plain.items() if value is not None}
    if request.tools:
        chat["tools"] = [_function(tool) for tool in request.tools]
        chat |= _choice(request.tool_choice)
    return chat


def _user(message: _Message) -> list[dict[str, object]]:
    if isinstance(message.content, str):
        return [{"role": "user", "content": message.content}]
    results: list[dict[str, object]] = []
    parts: list[_Text | _Image] = []
    for block in message.content:
        if isinstance(block, _ToolResult):
            text = block.content if isinstance(block.content, str) else _words(block.content)
            results.append({"role": "tool", "tool_call_id": block.tool_use_id, "content": text})
        elif isinstance(block, _Text | _Image):
            parts.append(block)
        else:
            message_text = f"a user's message can not hold a {block.type!r} block"
            raise GatewayError(message_text, code="invalid_value", param="messages")
    if not parts:
        return results
    if all(isinstance(part, _Text) for part in parts):
        return [*results, {"role": "user", "content": _words(parts)}]
    return [*results, {"role": "user", "content": [_part(part) for part in parts]}]


def _assistant(message: _Message) -> dict[str, object]:
    if isinstance(message.content, str):
        return {"role": "assistant", "content": message.content}
    texts = [block.text for block in message.content if isinstance(block, _Text)]
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {"name": block.name, "arguments": json.dumps(block.input, ensure_ascii=False)},
        }
        for block in message.content
        if isinstance(block, _ToolUse)
    ]
    said: dict[str, object] = {"role": "assistant", "content": "\n\n".join(texts)}
    return said | {"tool_calls": calls} if calls else said


def _words(parts: Sequence[_Text | _Image]) -> str:
    texts = [part.text for part in parts if isinstance(part, _Text)]
    if len(texts) < len(parts):
        raise GatewayError("images in tool results are not handed on", code="invalid_value", param="messages")
    return "\n\n".join(texts)


def _part(part: _Text | _Image) -> dict[str, object]:
    if isinstance(part, _Text):
        return {"type": "text", "text": part.text}
    source = part.source
    url = source.url if source.type == "url" else f"data:{source.media_type};base64,{source.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _function(tool: _Tool) -> dict[str, object]:
    about = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": about}


def _choice(choice: _ToolChoice | None) -> dict[str, object]:
    if choice is None:
        return {}
    plain: dict[str, object] = {"auto": "auto", "any": "required", "none": "none"}
    named = {"type": "function", "function": {"name": choice.name}}
    chosen: dict[str, object] = {"tool_choice": plain.get(choice.type, named)}
    return chosen | {"parallel_tool_calls": False} if choice.disable_parallel_tool_use else chosen
