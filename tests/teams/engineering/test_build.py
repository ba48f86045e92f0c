"""Builds with a scripted model: who is asked, what the runner's results decide, and when it says no."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files

import pytest

from repertory.clock import system_clock
from repertory.engines.protocol import GenerateRequest
from repertory.runtime.cast import cast_on_one
from repertory.runtime.context import SharedContext
from repertory.runtime.direct_call import DirectCalls
from repertory.runtime.recorder import Recorder
from repertory.runtime.team_file import parse_team
from repertory.sandbox import Sandbox
from repertory.storage.records import Message
from repertory.teams.engineering.build import Build, Built
from repertory.teams.engineering.contract_text import read_contract
from repertory.teams.engineering.execution import Examiner
from repertory.testing.scripted_model import Answer, ScriptedModel, agent_of

pytestmark = pytest.mark.anyio

TEAM = parse_team(files("repertory.teams.engineering").joinpath("team.yaml").read_text(encoding="utf-8"))
CONTRACT = "tool: double(n: int 0..100) -> int"
RIGHT = "```python\ndef double(n):\n    if not 0 <= n <= 100:\n        raise ValueError('no')\n    return n * 2\n```"
WRONG = RIGHT.replace("n * 2", "n * 3")
TESTS = "```python\nassert double(2) == 4\nassert double(0) == 0\nassert double(50) == 100\nassert double(5) == 11\n```"
SURE = TESTS.replace("\nassert double(5) == 11", "")

PLAIN: dict[str, Answer] = {
    "requirements_analyst": json.dumps(
        {"summary": "Doubles a number.", "criteria": ["2 gives 4"], "edge_cases": ["0"], "assumptions": []}
    ),
    "researcher": json.dumps({"modules": ["math"]}),
    "architect": json.dumps({"steps": ["Check, then double."], "difficulty": "trivial", "keeps_state": False}),
    "prompt_engineer": json.dumps(
        {"description": "Doubles whole numbers.", "tools": [{"name": "double", "description": "n times two"}]}
    ),
    "orchestrator": json.dumps({"why": "A fault is named.", "decision": "repair"}),
    "critic": json.dumps({"wrong": []}),
    "security_auditor": json.dumps({"concerns": []}),
}


def model(drafts: list[str], changes: dict[str, Answer] | None = None, tests: list[str] | None = None) -> ScriptedModel:
    written, tested = iter(drafts), iter(tests or [SURE] * 3)

    def reply(request: GenerateRequest) -> Answer:
        agent = agent_of(request)
        if agent == "builder":
            return next(written, drafts[-1])
        if agent == "tester":
            return next(tested)
        return (PLAIN | (changes or {}))[agent]

    return ScriptedModel(reply)


async def build(engine: ScriptedModel, contract: str | None = CONTRACT, seconds: float = 600) -> Built:
    shared = SharedContext(
        TEAM.preamble, "", (), Message("m1", "person", "Double a number.", "t", "s", datetime(2026, 12, 1, tzinfo=UTC))
    )
    recorder = Recorder("t", system_clock, [], lambda _: None)
    calls = DirectCalls(TEAM, cast_on_one(TEAM, engine), shared, recorder, time.monotonic() + seconds)
    given = read_contract(contract) if contract is not None else None
    built = await Build(calls, Examiner(Sandbox()), given).run()
    await recorder.close()
    return built


async def test_the_right_draft_wins_and_nobody_is_asked_to_mend_it() -> None:
    engine = model([WRONG, RIGHT, WRONG, RIGHT])
    built = await build(engine)
    assert set(engine.started) == set(TEAM.agents) - {"orchestrator"}
    assert built.why is None
    assert built.best is not None
    assert "n * 2" in built.best.candidate.source


async def test_a_test_that_was_written_once_and_no_draft_passes_is_dropped() -> None:
    built = await build(model([RIGHT], tests=[TESTS, SURE, SURE]))
    assert [case.text for case in built.selection.dropped] == ["double(5) == 11"]
    assert built.why is None


async def test_a_test_that_was_written_twice_stands_although_no_draft_passes_it() -> None:
    built = await build(model([RIGHT], tests=[TESTS, TESTS, SURE]))
    assert built.selection.dropped == ()
    assert built.best is not None
    assert [case.text for case in built.best.failed] == ["double(5) == 11"]


async def test_the_tester_never_sees_code() -> None:
    engine = model([RIGHT])
    await build(engine)
    prompts = [request for request in engine.requests if agent_of(request) == "tester"]
    assert prompts
    assert all("return n" not in message.content for request in prompts for message in request.messages)


async def test_the_tester_is_asked_for_asserts_and_not_for_json() -> None:
    engine = model([RIGHT])
    await build(engine)
    [prompt] = {request.messages[-1].content for request in engine.requests if agent_of(request) == "tester"}
    assert "assert double(...)" in prompt
    assert "JSON" not in prompt


async def test_drafts_that_agree_are_not_enough_without_any_test() -> None:
    built = await build(model([RIGHT], tests=["I can not."] * 3), contract="tool: double(n: int) -> int")
    assert built.why is not None
    assert "only 0 tests" in built.why


async def test_two_drafts_that_agree_and_pass_end_the_drafting() -> None:
    engine = model([RIGHT])
    await build(engine)
    assert engine.started.count("builder") == 4


async def test_a_draft_with_a_fault_is_mended_with_the_fault_shown() -> None:
    engine = model([WRONG] * 4 + [RIGHT])
    built = await build(engine)
    assert built.why is None
    repairs = [request for request in engine.requests if "# What is wrong with it" in request.messages[-1].content]
    assert repairs
    assert "double(2) == 4" in repairs[0].messages[-1].content
    assert set(engine.started) == set(TEAM.agents)
    assert built.decisions == [{"decision": "repair", "why": "A fault is named."}]


async def test_the_orchestrator_can_stop_but_not_release() -> None:
    stop = json.dumps({"why": "Hopeless.", "decision": "stop"})
    engine = model([WRONG] * 4 + [RIGHT], {"orchestrator": stop})
    built = await build(engine)
    assert engine.started.count("builder") == 4
    assert built.why is not None


async def test_new_drafts_are_written_when_the_orchestrator_wants_them() -> None:
    redraft = json.dumps({"why": "Another way.", "decision": "redraft"})
    engine = model([WRONG] * 4 + [RIGHT], {"orchestrator": redraft})
    built = await build(engine)
    assert engine.started.count("builder") == 8
    assert built.why is None


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (RIGHT.replace("if not 0 <= n <= 100:", "if False:"), "contract"),
        (RIGHT.replace("n * 2", "str(n)"), "contract"),
        (WRONG, "passes 3 of"),
        ("I can not do that.", "no draft could be run"),
        ("```python\nimport subprocess\ndef double(n): return n * 2\n```", "no draft could be run"),
        ("```python\nwhile True: pass\ndef double(n): return n * 2\n```", "no draft could be run"),
    ],
)
async def test_what_is_not_shown_to_be_right_is_not_built(draft: str, why: str) -> None:
    built = await build(model([draft]))
    assert built.why is not None
    assert any(part in built.why for part in why.split("|")), built.why


async def test_without_a_contract_the_team_writes_one() -> None:
    functions = [
        {
            "name": "double",
            "parameters": [{"name": "n", "type": "integer", "optional": False}],
            "returns": "integer",
            "result_fields": [],
            "note": "",
        }
    ]
    specification = json.loads(str(PLAIN["requirements_analyst"])) | {"functions": functions}
    built = await build(model([RIGHT], {"requirements_analyst": json.dumps(specification)}), contract=None)
    assert [tool.name for tool in built.contract.tools] == ["double"]
    assert not built.contract.given
    assert built.why is None


async def test_an_agent_that_fails_costs_its_part_only() -> None:
    broken: dict[str, Answer] = dict.fromkeys(
        ["researcher", "architect", "critic", "security_auditor", "prompt_engineer"], "no json at all"
    )
    built = await build(model([RIGHT], broken))
    assert built.why is None
    assert built.instructions is None


async def test_a_build_without_time_ends_and_says_so() -> None:
    engine = model([RIGHT])
    built = await build(engine, seconds=5)
    assert built.why == "no draft was written"
    assert "builder" not in engine.started


def test_the_team_can_be_read_by_everybody() -> None:
    count: Callable[[str], int] = lambda name: sum(agent.writes == name for agent in TEAM.agents.values())  # noqa: E731
    assert len(TEAM.agents) == 9
    assert all(count(section) == 1 for section in TEAM.sections)
