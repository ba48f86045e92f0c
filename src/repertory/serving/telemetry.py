"""OpenTelemetry: the names of all attributes, and the spans' names. Nothing else in the project spells them.

Names that begin with `gen_ai`, `server` or `error` are those of OpenTelemetry's semantic conventions; ours begin with
`repertory`. Without the extra `otel` (and a configured SDK) spans are no-ops. No span ever holds what people or models
wrote, a key, or an address with one.
"""

from collections.abc import Iterable

from opentelemetry import context, propagate, trace

__all__ = (
    "AGENT_NAME",
    "ATTEMPTS",
    "CACHED_TOKENS",
    "ERROR_TYPE",
    "INPUT_TOKENS",
    "INSTANCE",
    "KEY_ID",
    "MODEL",
    "OPERATION",
    "OUTPUT_TOKENS",
    "QUEUED_S",
    "RESPONSE_STATUS",
    "SPAN_AGENT",
    "SPAN_CALL",
    "SPAN_TURN",
    "STATUS",
    "STREAM",
    "TEAM",
    "TTFT_S",
    "TURN",
    "remote_parent",
    "tracer",
)

SPAN_TURN = "turn"
SPAN_AGENT = "invoke_agent"
SPAN_CALL = "chat"

OPERATION = "gen_ai.operation.name"
MODEL = "gen_ai.request.model"
STREAM = "gen_ai.request.stream"
AGENT_NAME = "gen_ai.agent.name"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
ERROR_TYPE = "error.type"
RESPONSE_STATUS = "http.response.status_code"

TURN = "repertory.turn"
TEAM = "repertory.team"
STATUS = "repertory.status"
INSTANCE = "repertory.instance"
ATTEMPTS = "repertory.attempts"
KEY_ID = "repertory.key.id"
QUEUED_S = "repertory.queued_s"
TTFT_S = "repertory.time_to_first_token_s"


def tracer() -> trace.Tracer:
    """The tracer of all our spans."""
    return trace.get_tracer("repertory")


def remote_parent(headers: Iterable[tuple[bytes, bytes]]) -> context.Context:
    """The span that the caller of a request is in, from its headers."""
    return propagate.extract({name.decode("latin-1"): value.decode("latin-1") for name, value in headers})
