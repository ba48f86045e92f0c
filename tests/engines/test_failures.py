"""An engine's own words, told apart."""

import json

import pytest

from repertory.engines.failures import (
    ContextExhaustedError,
    EngineBusyError,
    EngineFaultError,
    ReasoningExhaustedError,
    SchemaRejectedError,
    StreamEngineError,
    TemplateRejectedError,
    classify_failure,
    classify_in_band,
    error_text,
    failure_code,
    shorten,
)
from repertory.engines.protocol import TokenUsage
from repertory.errors import (
    ContextBudgetError,
    EngineRejectedError,
    EngineTimeoutError,
    EngineUnavailableError,
    RepertoryError,
    StreamError,
)

pytestmark = pytest.mark.virtual_time

WHERE = "http://127.0.0.1:8000"


def openai(message: str, kind: str = "BadRequestError") -> str:
    return json.dumps({"error": {"message": message, "type": kind, "code": 400}})


REJECTED_SCHEMAS = {
    "B1 vLLM, xgrammar": (400, openai("The provided JSON schema contains features not supported by xgrammar.")),
    "B1 vLLM, guided decoding": (400, openai("guided_json: minItems is not supported by xgrammar 0.8.4")),
    "B7 no word about which": (400, openai("Grammar error: unsupported feature")),
    "A9 as a fault": (500, openai("Failed to convert the output grammar from JSON Schema to regex", "server_error")),
    "llama.cpp": (
        400,
        openai(
            "Unable to generate parser for this template. Automatic parser generation failed: JSON schema error at"
            " #/properties/a: cannot resolve $ref #/$defs/none, $defs not found",
            "invalid_request_error",
        ),
    ),
    "response_format": (400, openai("'response_format.type' must be 'json_object'")),
}


@pytest.mark.parametrize(("status", "body"), REJECTED_SCHEMAS.values(), ids=REJECTED_SCHEMAS.keys())
def test_b1_a_refused_schema_is_not_a_failure_of_the_model(status: int, body: str) -> None:
    error = classify_failure(status, body, where=WHERE, with_schema=True)
    assert isinstance(error, SchemaRejectedError)
    assert failure_code(error) == "schema_rejected"


@pytest.mark.parametrize(("status", "body"), REJECTED_SCHEMAS.values(), ids=REJECTED_SCHEMAS.keys())
def test_without_a_schema_it_is_something_else(status: int, body: str) -> None:
    assert not isinstance(classify_failure(status, body, where=WHERE), SchemaRejectedError)


@pytest.mark.parametrize(
    ("message", "keyword", "pointer"),
    [
        ("JSON schema error at #/properties/tags: uniqueItems is not supported", "uniqueItems", "#/properties/tags"),
        ("Unsupported keyword in json schema: multipleOf", "multipleOf", None),
        ("json_schema: this feature is not supported", None, None),
        ("The provided JSON schema contains features not supported by xgrammar.", None, None),
        ("response_format: the schema exceeds the maximum depth", None, None),
        ("invalid schema: format error in line 3", None, None),
        ("json_schema keyword not supported", None, None),
        ("guided_json: 'contains' is not supported", "contains", None),
        ("json schema: pattern is not supported", "pattern", None),
        ("Unsupported keyword in schema: minimum; drop the minimum keyword", "minimum", None),
        ("schema: unknown format 'idn-email'", "format", None),
        ("schema error at #/properties/pattern: minLength is not supported", "minLength", "#/properties/pattern"),
        ("schema error: cannot resolve $ref #/$defs/x", None, "#/$defs/x"),
    ],
)
def test_b7_the_error_names_keyword_and_place(message: str, keyword: str | None, pointer: str | None) -> None:
    error = classify_failure(400, openai(message), where=WHERE, with_schema=True)
    assert isinstance(error, SchemaRejectedError)
    assert (error.keywords[:1], error.pointer) == ((keyword,) if keyword else (), pointer)
    assert WHERE in str(error)
    assert (keyword or "schema") in str(error)


OVERFLOWS = [
    (
        400,
        openai("request (3030 tokens) exceeds the available context size (2048 tokens)", "exceed_context_size_error"),
    ),
    (400, openai("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.")),
    (400, openai("The decoder prompt (length 5000) is longer than the maximum model length of 4096.")),
    (400, openai("The input (5000 tokens) is longer than the model's context length (4096 tokens).")),
    (413, '{"error":"prompt is too long"}'),
    (400, '{"object":"error","message":"Please reduce the length of the messages.","type":"BadRequestError"}'),
    (500, openai("the request exceeds the available context size. try increasing the context size", "server_error")),
]


@pytest.mark.parametrize(("status", "body"), OVERFLOWS)
@pytest.mark.parametrize("with_schema", [False, True])
def test_e1_too_long_a_prompt_is_known_by_the_words(status: int, body: str, with_schema: bool) -> None:
    error = classify_failure(status, body, where=WHERE, with_schema=with_schema)
    assert isinstance(error, ContextBudgetError)
    assert failure_code(error) == "context_overflow"


@pytest.mark.parametrize(
    "said", ["Context size has been exceeded.", "KV cache is full", "failed to decode: out of memory"]
)
def test_e10_an_exhausted_cache_is_not_the_requests_own_fault(said: str) -> None:
    in_stream = classify_in_band(said, where=WHERE, with_schema=False)
    at_once = classify_failure(500, openai(said, "server_error"), where=WHERE)
    assert isinstance(in_stream, ContextExhaustedError)
    assert isinstance(at_once, ContextExhaustedError)
    assert not isinstance(at_once, ContextBudgetError)


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize(
    "said",
    [
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "jinja2.exceptions.TemplateError: System role not supported",
        "Error rendering prompt with jinja template",
        "chat template error: raise_exception called",
    ],
)
def test_h9_a_template_error_is_permanent_whatever_the_status(status: int, said: str) -> None:
    error = classify_failure(status, openai(said, "server_error"), where=WHERE)
    assert isinstance(error, TemplateRejectedError)
    assert isinstance(error, EngineRejectedError)
    assert not isinstance(error, EngineUnavailableError)


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (500, openai("internal"), EngineFaultError, "engine_fault"),
        (502, "<html><h1>Bad gateway</h1></html>", EngineFaultError, "engine_fault"),
        (503, openai("Loading model", "unavailable_error"), EngineBusyError, "engine_busy"),
        (429, '{"detail":"Too many requests"}', EngineBusyError, "engine_busy"),
        (401, openai("Invalid API Key"), EngineRejectedError, "engine_rejected"),
        (404, openai("The model `x` does not exist."), EngineRejectedError, "engine_rejected"),
        (422, '{"detail":[{"loc":["body"],"msg":"field required"}]}', EngineRejectedError, "engine_rejected"),
        (504, "", EngineTimeoutError, "deadline"),
        (418, "", EngineRejectedError, "engine_rejected"),
    ],
)
def test_every_status_has_a_type(status: int, body: str, kind: type[RepertoryError], code: str) -> None:
    error = classify_failure(status, body, where=WHERE)
    assert type(error) is kind
    assert failure_code(error) == code
    assert str(status) in error.message


def test_g16_an_overloaded_engine_says_when_to_come_back() -> None:
    error = classify_failure(503, "", where=WHERE, retry_after="2.5")
    assert isinstance(error, EngineBusyError)
    assert error.retry_after_s == 2.5


@pytest.mark.parametrize("header", ["soon", "", None, "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_an_odd_retry_after_is_no_number(header: str | None) -> None:
    error = classify_failure(429, "", where=WHERE, retry_after=header)
    assert isinstance(error, EngineBusyError)
    assert error.retry_after_s is None


def test_in_band_errors_are_stream_errors() -> None:
    error = classify_in_band("EngineCore encountered an issue", where=WHERE, with_schema=False)
    assert isinstance(error, StreamEngineError)
    assert isinstance(error, StreamError)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"error":{"message":"m"}}', "m"),
        ('{"error":"m"}', "m"),
        ('{"message":"m"}', "m"),
        ('{"detail":[{"msg":"m"}]}', "m"),
        ("plain", "plain"),
        ("{}", ""),
        ("[]", ""),
        ("", ""),
        ('{"error":{"message":{"deep":1}}}', ""),
    ],
)
def test_the_text_is_found_in_every_shape(body: str, text: str) -> None:
    assert error_text(body) == text


def test_untrusted_text_is_short_and_printable() -> None:
    text = shorten("a\x1b[31mred\x07\n" + "x" * 10_000)
    assert len(text) == 300
    assert text.isprintable()


def test_c15_the_counts_are_in_the_message() -> None:
    error = ReasoningExhaustedError(usage=TokenUsage(prompt=10, output=400), cap=400)
    assert "400" in error.message
    assert failure_code(error) == "reasoning_exhausted"


def test_codes_of_strangers() -> None:
    assert failure_code(ValueError()) == "internal"
    assert failure_code(StreamError("x")) == "stream_error"
