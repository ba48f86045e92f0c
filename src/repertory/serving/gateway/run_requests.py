"""A request of a harness, written for the instance of its run."""

import json
from dataclasses import dataclass
from typing import Any, cast

from repertory.serving.gateway.call import Outgoing, WholeReader
from repertory.serving.gateway.harness_runs import HarnessRun
from repertory.serving.gateway.incoming import Incoming
from repertory.serving.gateway.messages_answer import write_message
from repertory.serving.gateway.messages_api import translated_messages
from repertory.serving.gateway.messages_request import read_messages_request
from repertory.serving.gateway.messages_stream import MessagesRelay
from repertory.serving.gateway.replica import Replica
from repertory.serving.gateway.run_prompt import lay_out
from repertory.serving.gateway.sse_relay import EventRelay, Relay, UsageCount
from repertory.serving.gateway.wire_errors import ApiShape, GatewayError

__all__ = ("RUN_PATHS", "run_outgoing")

_CHAT = "/v1/chat/completions"
_COUNT = "/v1/messages/count_tokens"
RUN_PATHS = (_CHAT, "/v1/messages", _COUNT)
"""Where a run's requests may go."""


def run_outgoing(incoming: Incoming, replica: Replica, run: HarnessRun) -> Outgoing:
    """What is sent to the engine in place of a harness's request.

    Raises:
        GatewayError: The request is broken, or the run has asked for all it may.
    """
    if incoming.endpoint.path == _COUNT:
        return translated_messages(incoming, replica)
    run.begin()
    anthropic = incoming.endpoint.shape is ApiShape.ANTHROPIC
    model = replica.upstream.served_model
    chat = read_messages_request(incoming.fields.body, model) if anthropic else _chat_request(incoming, model)
    laid_out = lay_out(chat, run.terms)
    run.added, run.shared = laid_out.added, laid_out.shared
    body = laid_out.body | {"stream": incoming.stream}
    asked_for_counts = isinstance(options := chat.get("stream_options"), dict) and bool(
        cast("dict[str, Any]", options).get("include_usage")
    )
    if incoming.stream:
        body["stream_options"] = {"include_usage": True}
    else:
        body.pop("stream_options", None)

    def relay() -> Relay:
        inner: Relay = MessagesRelay(model=incoming.model) if anthropic else EventRelay(drop_usage=not asked_for_counts)
        return _WatchedRelay(inner, run, inner.usage)

    return Outgoing(_CHAT, _dump(body), relay, _whole(incoming.model if anthropic else None, run))


def _whole(model: str | None, run: HarnessRun) -> WholeReader:
    def read(body: bytes) -> bytes:
        run.see(body)
        return body if model is None else write_message(body, model)

    return read


@dataclass
class _WatchedRelay:
    """A relay, and the run that takes note of how its generation ends."""

    inner: Relay
    run: HarnessRun
    usage: UsageCount
    events: int = 0

    @property
    def ended(self) -> bool:
        return self.inner.ended

    def feed(self, data: bytes) -> bytes:
        self.run.see(data)
        ready = self.inner.feed(data)
        self.events = self.inner.events
        return ready


def _chat_request(incoming: Incoming, model: str) -> dict[str, Any]:
    try:
        value: object = json.loads(incoming.fields.body)
    except (ValueError, RecursionError):
        raise GatewayError("the body is not JSON", code="invalid_json") from None
    if not isinstance(value, dict):
        raise GatewayError("the body is not a JSON object", code="invalid_json")
    return cast("dict[str, Any]", value) | {"model": model}


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
