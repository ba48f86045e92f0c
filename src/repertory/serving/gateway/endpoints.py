"""The endpoints that are handed on to instances."""

from collections.abc import Mapping
from dataclasses import dataclass

from repertory.serving.gateway.wire_errors import ApiShape

__all__ = ("ENDPOINTS", "Endpoint")


@dataclass(frozen=True)
class Endpoint:
    """One endpoint.

    Attributes:
        path: Its path.
        shape: Whose JSON it speaks.
        prompt: Members that hold the prompt, in the order in which a template puts them.
        streams: Whether it can answer with events.
        counts: Whether counts of tokens have to be asked for in a stream (`stream_options`).
    """

    path: str
    shape: ApiShape
    prompt: tuple[str, ...]
    streams: bool = True
    counts: bool = False


ENDPOINTS: Mapping[str, Endpoint] = {
    endpoint.path: endpoint
    for endpoint in (
        Endpoint("/v1/chat/completions", ApiShape.OPENAI, ("messages",), counts=True),
        Endpoint("/v1/completions", ApiShape.OPENAI, ("prompt",), counts=True),
        Endpoint("/v1/embeddings", ApiShape.OPENAI, ("input",), streams=False),
        Endpoint("/v1/messages", ApiShape.ANTHROPIC, ("system", "messages")),
        Endpoint("/v1/messages/count_tokens", ApiShape.ANTHROPIC, ("system", "messages"), streams=False),
    )
}
