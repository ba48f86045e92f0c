"""A team whose agents are run by programs, on a scripted engine, behind real walls and the real gateway."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repertory.engines.connect import connect
from repertory.engines.protocol import Engine
from repertory.home import Home, locate_home
from repertory.runtime.cast import Cast, cast_on_one
from repertory.runtime.events import HarnessFinished, TurnEvent
from repertory.runtime.harness.interface import Harness
from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.harness.settings import HarnessSettings
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Agent, Read, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.runtime.turn_result import TurnResult
from repertory.server.harness_door import gateway_of, opened_harness
from repertory.storage.store import Store
from repertory.testing import ScriptedEngine

PROGRAM = Path(__file__).with_name("fake_program.py")
MOOD: dict[str, Any] = {
    "type": "object",
    "properties": {"mood": {"type": "string", "maxLength": 20}},
    "required": ["mood"],
    "additionalProperties": False,
}


def fake(*words: str, **settings: Any) -> HarnessSettings:
    """A harness that runs the fake program."""
    return HarnessSettings(kind=HarnessKind.COMMAND, command=(sys.executable, str(PROGRAM), *words), **settings)


def team_of(harness: HarnessSettings, *, other: HarnessSettings | None = None, deadline_s: float = 20.0) -> Team:
    """Two agents: one that fills in a mood, one that speaks to the person."""
    return Team(
        name="pair",
        preamble="You are a pair.",
        sections={
            "words": Section(text=True, description="words for the person"),
            "mood": Section(json_schema=MOOD),
            "memo": Section(text=True),
        },
        agents={
            "reader": Agent(
                instructions="Judge the mood.", writes="mood", harness=harness, reads={"memo": Read(), "words": Read()}
            ),
            "speaker": Agent(instructions="Speak.", writes="words", harness=other or HarnessSettings()),
            "clerk": Agent(instructions="Keep a memo.", writes="memo"),
        },
        replies=Replies(full="words"),
        deadline_s=deadline_s,
    )


@dataclass
class Place:
    """What is open."""

    scripted: ScriptedEngine
    engine: Engine
    cast: Cast
    harness: Harness
    store: Store
    home: Home
    events: list[TurnEvent] = field(default_factory=list[TurnEvent])

    def runner(self, team: Team) -> TurnRunner:
        """A runner of a team on this engine and harness."""
        return TurnRunner(team, TeamRules(), cast_on_one(team, self.engine), self.store, harness=self.harness)

    async def run(self, team: Team, text: str = "I am glad.", *, user: str = "ada", **options: Any) -> TurnResult:
        """One turn."""
        return await self.runner(team).run(text, user=user, sinks=[self.events.append], **options)

    @property
    def calls(self) -> list[HarnessFinished]:
        """How the programs' calls went."""
        return [event for event in self.events if isinstance(event, HarnessFinished)]

    @property
    def asked_by_reader(self) -> list[dict[str, Any]]:
        """The bodies of the reader's requests, as the engine got them."""
        return [request.fields for request in self.scripted.requests if "# Your role: reader" in request.text]


@asynccontextmanager
async def opened(scripted: ScriptedEngine) -> AsyncGenerator[Place]:
    """Everything between a team and a scripted engine."""
    async with scripted:
        engine = await connect(scripted.url, kind=scripted.kind)
        cast = cast_on_one(team_of(HarnessSettings()), engine)
        gateway = gateway_of(cast)
        try:
            with Store.open() as store:
                async with opened_harness(gateway, home := locate_home()) as harness:
                    yield Place(scripted, engine, cast, harness, store, home)
        finally:
            await gateway.aclose()
            await engine.aclose()
