"""Requests from their words to a released agent, with a scripted model, a real sandbox, registry and store."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from repertory.engines.protocol import GenerateRequest
from repertory.errors import RegistryError, UsageError
from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.runtime.cast import cast_on_one
from repertory.sandbox import Sandbox
from repertory.storage.store import Store
from repertory.teams.engineering.build_result import BuildResult
from repertory.teams.engineering.release import Releaser
from repertory.teams.engineering.runner import BuildRunner
from repertory.teams.engineering.team import engineering_team
from repertory.testing.scripted_model import Answer, ScriptedModel, agent_of

pytestmark = pytest.mark.anyio

CONTRACT = "tool: double(n: int 0..100) -> int"
CODE = "```python\ndef double(n):\n    if not 0 <= n <= 100:\n        raise ValueError('no')\n    return n * 2\n```"
ANSWERS: dict[str, Answer] = {
    "requirements_analyst": json.dumps(
        {
            "summary": "Doubles a number.",
            "criteria": ["2 gives 4"],
            "edge_cases": ["0"],
            "assumptions": ["whole numbers"],
        }
    ),
    "researcher": json.dumps({"modules": []}),
    "architect": json.dumps({"steps": ["Check, double."], "difficulty": "trivial", "keeps_state": False}),
    "prompt_engineer": json.dumps(
        {
            "description": "Doubles: whole numbers, 0 to 100.",
            "tools": [{"name": "double", "description": "n times two"}],
        }
    ),
    "builder": CODE,
    "tester": "```python\nassert double(2) == 4\nassert double(0) == 0\nassert double(50) == 100\n```",
    "critic": json.dumps({"wrong": []}),
    "security_auditor": json.dumps({"concerns": []}),
    "orchestrator": json.dumps({"why": "", "decision": "stop"}),
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, tmp_path / "models")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with Store.open(home.root / "test.sqlite") as opened:
        yield opened


class Maker:
    """A runner whose model gives these answers."""

    def __init__(self, store: Store, home: Home, answers: dict[str, Answer] | None = None) -> None:
        self.answers = ANSWERS | (answers or {})
        self.model = ScriptedModel(self._reply)
        self.registry = Registry(store, home)
        sandbox, team = Sandbox(), engineering_team()
        self.runner = BuildRunner(
            cast_on_one(team, self.model),
            store,
            Releaser(self.registry, sandbox).release,
            taken=self.registry.names,
            sandbox=sandbox,
            team=team,
        )

    def _reply(self, request: GenerateRequest) -> Answer:
        return self.answers[agent_of(request)]

    async def build(self, request: str = "Double a number.", contract: str | None = CONTRACT) -> BuildResult:
        return await self.runner.run(request, contract, user="me")


async def test_a_request_becomes_a_live_agent_that_answers(store: Store, home: Home) -> None:
    maker = Maker(store, home)
    result = await maker.build()
    assert (result.status, result.agent) == ("built", "double@1")
    assert maker.registry.resolve("double").state == "live"
    with AgentRuntime(maker.registry) as runtime:
        assert runtime.call("double", "double", {"n": 21}).result == 42
        error = runtime.call("double", "double", {"n": 101}).error
    assert error is not None
    assert error.type == "ValueError"


async def test_the_document_has_what_others_rely_on(store: Store, home: Home) -> None:
    document = (await Maker(store, home).build()).document()
    assert set(document) == {
        *("build", "status", "agent", "why", "tools", "tests", "candidates", "tokens", "seconds", "steps"),
    }
    assert document["tests"]["written"] == document["tests"]["passed"] > 3
    assert document["tools"][0]["name"] == "double"
    assert {step["agent"] for step in document["steps"]} == set(ANSWERS) - {"orchestrator"}
    assert document["tokens"] > 0
    json.dumps(document)


async def test_the_package_says_how_it_came_about(store: Store, home: Home) -> None:
    maker = Maker(store, home)
    result = await maker.build()
    package = maker.registry.load(maker.registry.resolve("double")).package
    assert package.manifest.purpose == "Doubles: whole numbers, 0 to 100."
    assert package.manifest.tools[0].description == "n times two"
    assert package.evidence["request"] == "Double a number."
    assert package.evidence["built_by"]["build"] == result.build
    assert package.evidence["decisions"] == []  # its first drafts were good
    assert b"assert double(2) == 4" in package.files["tests/test_tools.py"]


async def test_the_build_is_on_the_blackboard_and_in_the_trace(store: Store, home: Home) -> None:
    result = await Maker(store, home).build()
    latest = store.blackboard("engineering", "me").all_latest()
    assert {"specification", "code", "tests", "report"} <= set(latest)
    assert latest["report"].value == result.why
    assert store.turns.find_turn(result.build) is not None


async def test_a_name_that_is_taken_gets_a_number(store: Store, home: Home) -> None:
    maker = Maker(store, home)
    await maker.build()
    maker.answers["builder"] = CODE.replace("n * 2", "n + n")
    assert (await maker.build()).agent == "double-2@1"


@pytest.mark.parametrize(
    ("request_text", "contract", "status"),
    [
        ("Write me ransomware.", CONTRACT, "refused"),
        ("Double a number.", "chat agent; friendly", "not_built"),
    ],
)
async def test_what_is_not_built_leaves_nothing_behind(
    store: Store, home: Home, request_text: str, contract: str, status: str
) -> None:
    maker = Maker(store, home)
    result = await maker.build(request_text, contract)
    assert (result.status, result.agent) == (status, None)
    assert maker.registry.names() == []
    assert maker.model.requests == []


async def test_code_that_fails_is_not_released_and_the_reason_is_told(store: Store, home: Home) -> None:
    maker = Maker(store, home, {"builder": CODE.replace("n * 2", "n * 3")})
    result = await maker.build()
    assert result.status == "not_built"
    assert "double(2) == 4" in result.why
    assert maker.registry.names() == []


async def test_a_contract_that_promises_nothing_is_bad_usage(store: Store, home: Home) -> None:
    with pytest.raises(UsageError, match="no tool"):
        await Maker(store, home).build(contract="something nice")


async def test_a_release_that_fails_is_no_build(store: Store, home: Home) -> None:
    maker = Maker(store, home)

    async def refuse(*_: object) -> str:
        raise RegistryError("the canary differs")

    maker.runner.release = refuse
    result = await maker.build()
    assert result.status == "not_built"
    assert "the canary differs" in result.why


async def test_a_build_that_was_cut_off_goes_on_without_asking_again(store: Store, home: Home) -> None:
    class CutOffError(BaseException):
        pass

    maker = Maker(store, home, {"critic": CutOffError()})
    with pytest.raises(CutOffError):
        await maker.build()
    asked = len(maker.model.requests)
    [turn] = store.taking_up.resumable("engineering", "me")
    maker.answers["critic"] = ANSWERS["critic"]
    result = await maker.runner.resume(turn.id)
    assert result.status == "built"
    again = [agent_of(request) for request in maker.model.requests[asked:]]
    assert "builder" not in again
    assert "tester" not in again
    assert "critic" in again
