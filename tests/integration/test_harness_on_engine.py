"""Agents run by real programs on the embedded engine: Claude Code, and programs that speak the Agent Client Protocol.

`make harnesses` installs them; a test is skipped when its program is not there.
"""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from repertory.engines.connect import connect
from repertory.engines.embedded import RunningEngine
from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.profile import EngineKind
from repertory.home import locate_home
from repertory.runtime.cast import cast_on_one
from repertory.runtime.events import AgentDelta, HarnessFinished, TurnEvent
from repertory.runtime.harness.settings import HarnessSettings
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.server.harness_door import gateway_of, opened_harness
from repertory.storage.store import Store

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

PROGRAMS = {"claude-code": "claude", "opencode": "opencode", "qwen-code": "qwen"}
MOOD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "mood": {"type": "string", "maxLength": 20},
        "energy": {"type": "integer", "minimum": 0, "maximum": 10},
    },
    "required": ["mood", "energy"],
    "additionalProperties": False,
}


@pytest.fixture(params=PROGRAMS)
def harness(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> HarnessSettings:
    """Each program that is installed, on the path or by `make harnesses`."""
    folder = Path(os.environ.get("REPERTORY_TEST_HARNESSES") or Path.home() / ".cache" / "repertory" / "harnesses")
    monkeypatch.setenv("PATH", f"{folder / 'node_modules' / '.bin'}:{os.environ['PATH']}")
    program = PROGRAMS[request.param]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (`make harnesses`)")
    if request.param == "claude-code":
        return HarnessSettings.model_validate({"kind": "claude-code"})
    return HarnessSettings.model_validate({"kind": "acp", "program": request.param})


def team_of(harness: HarnessSettings) -> Team:
    return Team(
        name="pair",
        preamble="You are a small team that answers a person.",
        sections={"hello": Section(text=True), "mood": Section(json_schema=MOOD), "advice": Section(text=True)},
        agents={
            "greeter": Agent(
                instructions="Say hello in one short sentence.", writes="hello", max_output_tokens=30, harness=harness
            ),
            "reader": Agent(
                instructions="Judge the mood of the person.", writes="mood", max_output_tokens=60, harness=harness
            ),
            "adviser": Agent(
                instructions="Give one short sentence of advice.",
                writes="advice",
                max_output_tokens=40,
                reads={"mood": Read(mode=ReadMode.FRESH)},
            ),
        },
        replies=Replies(first="hello", full="advice"),
        deadline_s=400,
    )


@asynccontextmanager
async def runner_of(team: Team, running: RunningEngine) -> AsyncGenerator[tuple[TurnRunner, LlamaCppEngine]]:
    engine = await connect(running.url, api_key=running.api_key, kind=EngineKind.LLAMACPP)
    assert isinstance(engine, LlamaCppEngine)
    cast = cast_on_one(team, engine)
    gateway = gateway_of(cast)
    try:
        with Store.open() as store:
            async with opened_harness(gateway, locate_home()) as opened:
                yield TurnRunner(team, TeamRules(), cast, store, harness=opened), engine
    finally:
        await gateway.aclose()
        await engine.aclose()


async def test_a_real_program_streams_and_fills_in_the_schema(
    harness: HarnessSettings, embedded_engine: RunningEngine
) -> None:
    events: list[TurnEvent] = []
    async with runner_of(team_of(harness), embedded_engine) as (runner, _engine):
        result = await runner.run("I am tired today, but happy.", user="ada", sinks=[events.append])
    assert result.status == "complete", result.reason
    assert set(result.sections["mood"].value) == {"mood", "energy"}
    assert result.first_reply.strip()
    calls = {event.agent: event for event in events if isinstance(event, HarnessFinished)}
    assert set(calls) == {"greeter", "reader"}
    for call in calls.values():
        assert (call.status, call.requests) == ("answered", 1)
        assert call.shared_prefix
        assert call.cached_tokens > 30  # the turn's shared part was computed once, before the program came
        assert call.added_tokens > 20
        assert call.output_tokens > 0
    assert "".join(e.text for e in events if isinstance(e, AgentDelta) and e.agent == "greeter").strip()
    # Nothing of the person's own configuration is made or read: its home is gone with it.
    assert not list(locate_home().root.rglob(".claude*"))


async def test_killing_a_real_program_costs_its_section_and_frees_its_slot(
    harness: HarnessSettings, embedded_engine: RunningEngine
) -> None:
    team = team_of(harness)
    reader = team.agents["reader"].model_copy(update={"max_output_tokens": 400})
    team = team.model_copy(update={"agents": {**team.agents, "reader": reader}})
    async with runner_of(team, embedded_engine) as (runner, engine):
        turn = asyncio.create_task(runner.run("I am tired today, but happy.", user="bob"))
        killed = 0
        while not turn.done():
            killed += _kill_programs(harness)
            await asyncio.sleep(0.05)
        result = await turn
        assert killed
        assert result.sections["mood"].value is None
        assert result.reply.strip(), json.dumps(result.document()["reason"])
        for _ in range(200):
            if (await engine.idle_slots()) == set(range(engine.slots)):
                break
            await asyncio.sleep(0.1)
        assert (await engine.idle_slots()) == set(range(engine.slots))


def _kill_programs(harness: HarnessSettings) -> int:
    """Kill -9 what runs inside the walls, of whichever agent."""
    name = "claude" if harness.program is None else PROGRAMS[harness.program]
    killed = 0
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            inside = words and "relay.py" not in " ".join(words) and "bwrap" not in words[0]
            if inside and any(Path(word).name == name for word in words[:2]):
                process.kill()
                killed += 1
        except psutil.Error:
            continue
    return killed
