"""Deployed agents as members of teams."""

import json
from pathlib import Path

import pytest
from tests.registry.conversation.test_conversation import asks_arguments, asks_tool
from tests.registry.temperature import temperature

from repertory.engines.protocol import GenerateRequest
from repertory.errors import TeamError
from repertory.registry.calls import AgentCalls
from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.registry.team_member import MemberHarness
from repertory.runtime.cast import cast_on_one
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Team
from repertory.runtime.team_dump import dump_team
from repertory.runtime.team_file import parse_team
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel

TEAM = """\
name: kitchen
preamble: You help in a kitchen.
reply: answer
sections:
  facts: {text: true}
  answer: {text: true}
agents:
  converter:
    agent: temperature
    instructions: Convert every temperature that the person names.
    writes: facts
  cook:
    instructions: Answer with the facts.
    writes: answer
    reads: {facts: fresh}
"""


def team(**changes: str) -> Team:
    text = TEAM
    for old, new in changes.items():
        text = text.replace(f"{old}:", new, 1)
    return parse_team(text, file="kitchen.yaml")


def speaks(request: GenerateRequest) -> str:
    prompt = "\n".join(message.content for message in request.messages)
    if asks_tool(request):
        return json.dumps({"tool": "none" if "returned this data" in prompt else "c_to_f"})
    if asks_arguments(request):
        return '{"celsius": 180}'
    return "Bake it at 356 F." if "That is 356 F." in prompt else "That is 356 F."


async def run(store: Store, runtime: AgentRuntime, model: ScriptedModel) -> tuple[str, str, str]:
    found = team()
    harness = MemberHarness(AgentCalls(runtime))
    runner = TurnRunner(found, TeamRules(), cast_on_one(found, model), store, harness=harness)
    result = await runner.run("Bake at 180 C.", user="ada")
    facts = store.blackboard("kitchen", "ada").latest("facts")
    return result.status, str(facts.value if facts is not None else ""), json.dumps(result.document())


async def test_a_deployed_agent_plays_a_role_and_others_read_what_it_says(
    registry: Registry, runtime: AgentRuntime, store: Store
) -> None:
    registry.deploy(temperature())
    registry.promote("temperature", 1)
    model = ScriptedModel(speaks)
    status, facts, reply = await run(store, runtime, model)
    assert (status, facts) == ("complete", "That is 356 F.")
    assert "Bake it at 356 F." in reply
    assert any("Convert every temperature" in str(request.messages) for request in model.requests)


async def test_an_agent_that_can_not_answer_costs_its_section_and_not_the_turn(
    registry: Registry, runtime: AgentRuntime, store: Store
) -> None:
    registry.deploy(temperature())  # a draft answers nobody
    status, facts, reply = await run(store, runtime, ScriptedModel(speaks))
    assert (status, facts) == ("partial", "")
    assert reply


def test_a_team_file_with_one_reads_back_equal() -> None:
    assert team().agents["converter"].agent == "temperature"
    assert parse_team(dump_team(team()), file="again.yaml") == team()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("    agent: Temperature!", "can not be a deployed agent"),
        ("    agent: temperature\n    harness: acp", "names a `harness` as well"),
    ],
)
def test_what_can_not_be_a_member_is_refused(wrong: str, words: str) -> None:
    with pytest.raises(TeamError, match=words):
        parse_team(TEAM.replace("    agent: temperature", wrong), file="kitchen.yaml")


def test_a_member_writes_text(tmp_path: Path) -> None:
    text = TEAM.replace("facts: {text: true}", "facts: {schema: {type: object, properties: {a: {type: string}}}}")
    with pytest.raises(TeamError, match="replies in words"):
        parse_team(text, file="kitchen.yaml")
    del tmp_path


async def test_without_a_registry_it_is_said_what_is_missing(store: Store) -> None:
    found = team()
    runner = TurnRunner(found, TeamRules(), cast_on_one(found, ScriptedModel(speaks)), store)
    result = await runner.run("Bake at 180 C.", user="ada")
    assert result.status in {"partial", "failed"}
    assert "no registry was opened" in json.dumps(result.document())
