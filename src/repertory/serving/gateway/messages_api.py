"""Anthropic's endpoints for instances that only have OpenAI's."""

import json
from typing import cast

from repertory.engines.estimate import estimate_output_tokens
from repertory.engines.profile import EngineKind
from repertory.serving.gateway.call import Outgoing, WholeReader
from repertory.serving.gateway.incoming import Incoming
from repertory.serving.gateway.messages_answer import write_message
from repertory.serving.gateway.messages_request import read_messages_request
from repertory.serving.gateway.messages_stream import MessagesRelay
from repertory.serving.gateway.replica import Replica

__all__ = ("translated_messages",)

_CHAT = "/v1/chat/completions"


def translated_messages(incoming: Incoming, replica: Replica) -> Outgoing:
    """What is sent instead of a request to `/v1/messages` or its `count_tokens`.

    Raises:
        GatewayError: The request is broken, or asks for what can not be translated.
    """
    upstream = replica.upstream
    chat = read_messages_request(incoming.fields.body, upstream.served_model)
    if incoming.endpoint.path.endswith("/count_tokens"):
        if upstream.kind is EngineKind.VLLM:
            counted = {name: chat[name] for name in ("model", "messages", "tools") if name in chat}
            return Outgoing("/tokenize", _dump(counted), whole=_count_of_vllm)
        # No engine generates less than one token; the answer's prompt count is exact, and costs one prefill.
        return Outgoing(_CHAT, _dump(chat | {"max_tokens": 1}), whole=_count_of_usage(chat))
    if incoming.stream:
        chat |= {"stream": True, "stream_options": {"include_usage": True}}
        return Outgoing(_CHAT, _dump(chat), relay=lambda: MessagesRelay(model=incoming.model))
    return Outgoing(_CHAT, _dump(chat), whole=lambda body: write_message(body, incoming.model))


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _count_of_vllm(body: bytes) -> bytes:
    return _dump({"input_tokens": _fields(body).get("count")})


def _count_of_usage(chat: dict[str, object]) -> WholeReader:
    def read(body: bytes) -> bytes:
        usage = _fields(body).get("usage")
        prompt = cast("dict[str, object]", usage).get("prompt_tokens") if isinstance(usage, dict) else None
        if isinstance(prompt, int):
            return _dump({"input_tokens": prompt})
        return _dump({"input_tokens": estimate_output_tokens(_dump(chat).decode()), "estimated": True})

    return read


def _fields(body: bytes) -> dict[str, object]:
    try:
        value: object = json.loads(body)
    except ValueError:
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
