"""Structured calls on the embedded engine with a real small model."""

import json
import string
import time
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest
from benchmarks.structured_cases import CASES, Case, request_for
from jsonschema import Draft202012Validator
from tests.engines.schema.test_field_guide import GUIDE

from repertory.engines.connect import connect
from repertory.engines.embedded import RunningEngine
from repertory.engines.protocol import ChatMessage, Engine, GenerateRequest
from repertory.engines.schema import compile_schema, field_guide
from repertory.runtime.structured import FailureKind, GrammarHealth, StructuredResult, structured_call

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]


@pytest.fixture
async def engine(embedded_engine: RunningEngine) -> AsyncGenerator[Engine]:
    connected = await connect(embedded_engine.url, api_key=embedded_engine.api_key)
    yield connected
    await connected.aclose()


async def test_of_thirty_calls_four_at_a_time_no_unusable_answer_is_accepted(engine: Engine) -> None:
    health = GrammarHealth()
    results: list[tuple[Case, StructuredResult]] = []
    numbers = iter(range(30))

    async def work() -> None:
        for number in numbers:
            case, request = request_for(number)
            deadline = time.monotonic() + 300
            results.append(
                (case, await structured_call(engine, request, case.schema, deadline=deadline, health=health))
            )

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(work)

    assert len(results) == 30
    for case, result in results:
        if result.usable:
            assert json.loads(result.attempts[-1].text) == result.value
            validator: Any = Draft202012Validator(case.schema)
            assert validator.is_valid(result.value)
        else:
            assert isinstance(result.failure, FailureKind)
    # The tuple case can fail (no grammar holds its positions); the others are held by the grammar.
    failed = {case.name: result.reason for case, result in results if not result.usable}
    assert set(failed) <= {"pair", "joined", "probability"}, failed
    assert health.refused == set()


PUNCTUATION = "".join(char for char in string.punctuation if char not in '"\\')


@pytest.mark.parametrize(
    "pattern",
    [
        r"^zq[0-9]{3}-(ab|cd)\.x{1,3}$",
        r"^[\w\-\.\$]{5,9}$",
        r"^[A-Z] [a-z]{1,5}/[\]\^]$",
        "^[" + "".join(f"\\{char}" for char in PUNCTUATION) + "]{5,9}$",
        "^zz" + "".join(f"\\{char}" for char in PUNCTUATION) + "$",
    ],
)
async def test_b8_every_pattern_that_is_sent_is_enforced(engine: Engine, pattern: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    compiled = compile_schema(schema, engine.profile)
    assert compiled.client_keywords == (("/properties/a", "maxLength"),)
    request = GenerateRequest((ChatMessage("user", "Answer with JSON: a is hello."),), max_output_tokens=120)
    result = await structured_call(engine, request, schema, deadline=time.monotonic() + 120)
    assert [attempt.kind for attempt in result.attempts] == [None]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_b13_the_guide_costs_few_tokens(engine: Engine, case: Case) -> None:
    assert await tokens_of(engine, field_guide(case.schema)) < 150


async def test_b13_the_guide_of_a_typical_section_costs_few_tokens(engine: Engine) -> None:
    assert await tokens_of(engine, GUIDE) < 150


async def tokens_of(engine: Engine, text: str) -> int:
    """Tokens of a text alone: those of a prompt with it, without those of a prompt of one letter."""
    counted = await engine.count_tokens((ChatMessage("user", text),))
    return counted - await engine.count_tokens((ChatMessage("user", "a"),)) + 1
