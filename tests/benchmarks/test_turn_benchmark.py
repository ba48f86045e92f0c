"""The turn benchmark against a scripted engine: what it counts, and that a page comes of it."""

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from benchmarks.turn.__main__ import findings, session, summary
from benchmarks.turn.engines import MeasuredEngine
from benchmarks.turn.proxy import RecordedTurn, RecordingProxy, Sent, compact_json, with_first_values
from benchmarks.turn.tokens import UniqueTokens
from benchmarks.turn.work import AGENTS, REPLY_TOKENS, make_work
from docs.turn_benchmark import chart, render

from repertory.engines.profile import EngineKind
from repertory.testing import ScriptedEngine
from repertory.testing.script import Script, Send
from repertory.testing.scripted_request import ScriptedRequest

KEY = "secret"


def example(schema: dict[str, Any]) -> object:
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: example(part) for name, part in schema["properties"].items()}
    return [example(schema["items"])] * schema["minItems"]


SCHEMAS = {
    f"root ::= {compact_json(with_first_values(agent['schema']))}": agent["schema"]
    for agent in AGENTS
    if agent["schema"]
}


def reply(request: ScriptedRequest) -> Any:
    schema = SCHEMAS.get(str(request.fields.get("grammar")))
    if schema is not None:
        return example(schema)
    chance = random.Random(request.number)
    return " ".join(
        chance.choice("abcdefgh") * chance.randint(2, 9) for _ in range(2 * REPLY_TOKENS)
    )  # longer than the cap


class Counted:
    """A scripted llama.cpp that counts what it computes, as the real one does."""

    def __init__(self) -> None:
        self.engine = ScriptedEngine(
            reply,
            kind=EngineKind.LLAMACPP,
            slots=len(AGENTS),
            context_tokens=20_000,
            model="m",
            api_key=KEY,
            routes={"/metrics": self.metrics},
        )
        self.prefilled = 0
        taken = self.engine.memory.take

        def take(tokens: Any, slot: int) -> int:
            cached = taken(tokens, slot)
            self.prefilled += len(tokens) - cached
            return cached

        self.engine.memory.take = take

    def metrics(self, _: ScriptedRequest) -> Script:
        text = f"llamacpp:prompt_tokens_total {self.prefilled}\nllamacpp:tokens_predicted_total 7\n"
        return Script([Send(text.encode())], content_type="text/plain")


@pytest.fixture
def counted() -> Iterator[Counted]:
    made = Counted()
    with made.engine.in_thread():
        yield made


def test_our_session_on_a_scripted_engine(counted: Counted) -> None:
    url = counted.engine.url.removesuffix("/v1")
    measured = MeasuredEngine(url, KEY, "m", EngineKind.LLAMACPP, "scripted")
    with RecordingProxy(url, KEY, EngineKind.LLAMACPP).running() as proxy:
        work = make_work(proxy.url, KEY, "m", case="xyz", sentences=40, turns=2)
        rows = session(measured, proxy, "repertory", work, 60)
    assert [row.get("error") for row in rows] == [None, None]
    assert [row["status"] for row in rows] == ["complete", "complete"]
    for row in rows:
        assert row["generations"] == len(AGENTS)
        assert row["with_schema"] == 4
        assert row["refused"] == 0
        assert 0 < row["first_token_s"] < row["coach_s"] < row["reply_s"] <= row["wall_s"]
        assert 0 < row["own_overhead_s"] < row["wall_s"]
        assert row["unique_tokens"] < row["prompt_tokens"] / 3
        assert row["prefilled_tokens"] < 1.3 * row["unique_tokens"]
    # The same for everybody: a grammar for what has a schema, and a length for what has none.
    asked = [request.fields for request in counted.engine.requests if "messages" in request.fields]
    assert {str(fields.get("grammar")) in SCHEMAS for fields in asked} == {True, False}
    assert not any("response_format" in fields for fields in asked)
    texts = [fields for fields in asked if "grammar" not in fields]
    assert {(fields["max_tokens"], fields["ignore_eos"]) for fields in texts} == {(REPLY_TOKENS, True)}


def test_compact_json_of_a_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"enum": ["x", 2]},
            "b": {"type": "array", "items": {"enum": [1]}, "minItems": 2, "maxItems": 2},
        },
    }
    assert compact_json(schema) == r'''"{" "\"a\":" ("\"x\"" | "2") "," "\"b\":" "[" ("1") "," ("1") "]" "}"'''
    with pytest.raises(ValueError, match="no grammar"):
        compact_json({"type": "string"})


def test_an_engine_that_refuses_is_seen(counted: Counted) -> None:
    url = counted.engine.url.removesuffix("/v1")
    measured = MeasuredEngine(url, KEY, "m", EngineKind.LLAMACPP, "scripted")
    with RecordingProxy(url, KEY, EngineKind.LLAMACPP).running() as proxy:
        work = make_work(proxy.url, "wrong", "m", case="xyz", sentences=4, turns=1)
        (row,) = session(measured, proxy, "repertory", work, 60)
    assert "wants an API key" in row["error"]


def test_unique_tokens_are_those_no_earlier_prompt_began_with(counted: Counted) -> None:
    counter = UniqueTokens(counted.engine.url.removesuffix("/v1"), KEY, EngineKind.LLAMACPP, "m")
    said = [{"role": "user", "content": "one two three"}]
    sent = Sent("/v1/chat/completions", {"messages": said}, 0.0, 1.0)
    total, new = counter.add(RecordedTurn(1, [sent, sent]))
    assert total == 2 * new
    assert counter.add(RecordedTurn(2, [sent]))[1] == 0
    counter.close()


def test_the_engines_part_of_a_turn_is_counted_once_where_requests_overlap() -> None:
    times = [(0.0, 2.0), (1.0, 3.0), (5.0, 6.0), (5.2, 5.4)]
    turn = RecordedTurn(1, [Sent("/completion", {}, *pair) for pair in times])
    assert turn.busy_s == pytest.approx(4.0)


def row(driver: str, turn: int, reply_s: float) -> dict[str, Any]:
    return {
        "driver": driver,
        "turn": turn,
        "context_tokens": 1500,
        "first_token_s": reply_s / 4,
        "coach_s": reply_s / 2,
        "reply_s": reply_s,
        "wall_s": reply_s,
        "own_overhead_s": 0.01,
        "prefilled_tokens": 110,
        "unique_tokens": 100,
        "generated_tokens": 400,
        "peak_mib": 80.0,
        "version": "1",
    }


def test_a_page_and_a_chart_come_of_a_result() -> None:
    rows = [row(name, turn, seconds) for turn in (1, 2, 5) for name, seconds in (("repertory", 4.0), ("A <b>", 8.0))]
    shown = summary([*rows, {"driver": "B", "error": "no", "context_tokens": 1500}])
    assert len(shown) == 6
    assert findings(shown)[0]["reply_to_best_peer"] == 0.5
    result = {
        "measured_at": "2026-12-01T00:00:00+00:00",
        "machine": {"cpu": "c", "cores": 2, "memory_gib": 8},
        "result": {
            "engine": {"kind": "llama.cpp", "version": "v", "model": "m"},
            "quick": False,
            "tokens_of_a_free_text": REPLY_TOKENS,
            "summary": shown,
            "rows": rows,
        },
    }
    page = render([result])
    assert "| 1,500 | 5 | **repertory** | 1.00 s | 2.00 s | 4.00 s | 110 | 1.10 | 400 | 10 ms | 80 MiB |" in page
    assert "| 1,500 | 2 |" not in page
    picture = chart(result)
    assert "A &lt;b&gt;" in picture
    bars = [float(width) for width in re.findall(r'<rect [^>]*width="([0-9.]+)"', picture)]
    assert len(bars) == 4
    assert bars[1] == pytest.approx(2 * bars[0])
