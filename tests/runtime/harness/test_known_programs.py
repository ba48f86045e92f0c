"""Claude Code and programs of the Agent Client Protocol, played by small programs that send what the real ones send."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.harness.place import fake, opened, team_of
from tests.runtime.harness.test_program_agents import scripted

from repertory.errors import UsageError
from repertory.runtime.events import AgentDelta
from repertory.runtime.harness.acp_programs import ACP_STARTS, acp_start
from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.harness.programs import find_programs, require_programs, with_harness
from repertory.runtime.harness.settings import ACP_PROGRAMS, HarnessSettings

HERE = Path(__file__).parent


def claude() -> HarnessSettings:
    return HarnessSettings(kind=HarnessKind.CLAUDE_CODE, command=(sys.executable, str(HERE / "fake_claude.py")))


def acp_program(mode: str, **settings: Any) -> HarnessSettings:
    command = (sys.executable, str(HERE / "fake_acp.py"), mode)
    return HarnessSettings(kind=HarnessKind.ACP, command=command, **settings)


@pytest.mark.parametrize("harness", [claude(), acp_program("answer")], ids=["claude-code", "acp"])
async def test_the_schema_is_enforced_and_the_prompt_is_ours_though_the_program_knows_neither(
    harness: HarnessSettings,
) -> None:
    async with opened(scripted()) as place:
        await place.run(team_of(HarnessSettings()), user="ada")
        result = await place.run(team_of(harness), user="bob")
    own, its = place.asked_by_reader
    assert result.status == "complete", result.reason
    assert result.sections["mood"].value == {"mood": "glad"}
    assert its["messages"] == own["messages"]
    assert its["response_format"] == own["response_format"]
    assert its["max_tokens"] == own["max_tokens"]
    assert "tools" not in its
    (call,) = place.calls
    assert (call.status, call.requests, call.shared_prefix) == ("answered", 1, True)
    assert call.added_tokens > 15


@pytest.mark.parametrize("harness", [claude(), acp_program("answer")], ids=["claude-code", "acp"])
async def test_their_words_stream(harness: HarnessSettings) -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(HarnessSettings(), other=harness))
    assert result.reply == "Good day to you."
    assert len([event for event in place.events if isinstance(event, AgentDelta)]) > 1


async def test_claude_code_that_tells_an_error_gives_no_section() -> None:
    async with opened(scripted()) as place:
        place.scripted.context_tokens = 20  # every prompt is too long for the engine
        result = await place.runner(team_of(claude())).run("Hello.", user="ada")
    assert result.status == "failed"


async def test_claude_code_works_with_tools_only_where_its_agent_may() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(claude().model_copy(update={"tools": True})))
    assert result.status == "complete", result.reason
    assert place.calls[0].added_sent
    (asked,) = place.asked_by_reader
    assert "Claude Agent SDK" in asked["messages"][-1]["content"]
    assert asked["response_format"]["type"] == "json_schema"  # it sent no tools, so its answer is still held to it


@pytest.mark.parametrize(("mode", "why"), [("refuse", "refusal"), ("die", "exit code 5")])
async def test_an_acp_program_that_gives_no_answer_costs_its_section(mode: str, why: str) -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(acp_program(mode)))
    assert (result.status, result.reply) == ("partial", "Good day to you.")
    assert why in (result.reason or "")


def test_a_known_program_is_chosen_by_name_or_by_what_is_installed() -> None:
    named = HarnessSettings(kind=HarnessKind.ACP, program="qwen-code")
    assert acp_start(named, []).argv[0] == "qwen"
    assert acp_start(HarnessSettings(kind=HarnessKind.ACP), ["qwen-code"]).argv[0] == "qwen"
    assert acp_start(HarnessSettings(kind=HarnessKind.ACP), []).name == ACP_STARTS[0].name
    assert tuple(start.name for start in ACP_STARTS) == ACP_PROGRAMS


def test_a_program_that_is_not_there_is_told_before_the_turn(tmp_path: Path) -> None:
    for harness, hint in (
        (HarnessSettings(kind=HarnessKind.CLAUDE_CODE), "npm install -g @anthropic-ai/claude-code"),
        (HarnessSettings(kind=HarnessKind.ACP), "npm install -g opencode-ai or"),
        (HarnessSettings(kind=HarnessKind.COMMAND, command=("no-such-program",)), "absolute path"),
    ):
        with pytest.raises(UsageError, match="agent `reader`") as caught:
            require_programs(team_of(harness), search=str(tmp_path))
        assert hint in (caught.value.hint or "")


def test_all_agents_are_run_by_the_harness_that_is_asked_for() -> None:
    team = team_of(claude())
    changed = with_harness(team, HarnessKind.CLAUDE_CODE)
    assert changed.agents["reader"].harness == claude()  # its settings stay
    assert changed.agents["speaker"].harness == HarnessSettings(kind=HarnessKind.CLAUDE_CODE)
    assert team.agents["speaker"].harness.kind is HarnessKind.NATIVE
    with pytest.raises(UsageError, match="which command"):
        with_harness(team, HarnessKind.COMMAND)
    assert with_harness(team_of(fake("answer")), HarnessKind.NATIVE).agents["reader"].harness == HarnessSettings()


def test_programs_are_found_with_their_versions(tmp_path: Path) -> None:
    for name, version in (("claude", "1.9.4 (Claude Code)"), ("qwen", "no version")):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{version}'\n")
        program.chmod(0o755)
    found = {program.name: program for program in find_programs(str(tmp_path))}
    assert (found["claude-code"].version, found["claude-code"].too_old) == ("1.9.4", True)
    assert (found["qwen-code"].version, found["qwen-code"].path) == (None, str(tmp_path / "qwen"))
    assert found["opencode"].path is None
    with pytest.raises(UsageError, match=r"Claude Code 1\.9\.4 is too old; 2\.1 is needed"):
        require_programs(team_of(HarnessSettings(kind=HarnessKind.CLAUDE_CODE)), search=str(tmp_path))
