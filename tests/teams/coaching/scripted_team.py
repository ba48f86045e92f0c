"""The coaching team on a scripted model and a real store: what a person's talk leaves behind, without an engine."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from repertory.clock import fixed_clock
from repertory.engines.protocol import GenerateRequest
from repertory.runtime.cast import cast_on_one
from repertory.runtime.turn import TurnRunner
from repertory.runtime.turn_result import TurnResult
from repertory.storage.store import Store
from repertory.teams.coaching import open_team
from repertory.testing.scripted_model import ScriptedModel, agent_of

DRAFTS: dict[str, Any] = {
    "shadow": {
        "evidence": [], "stated_goal": "", "revealed_priority": "", "pattern": "insufficient_data", "outcomes": [],
        "promises": [],
    },
    "persona": {"traits": [], "goal": "", "same_as": "", "growth_edge": "", "evidence": []},
    "plasticity": {"moves": ["open_question"], "setting": "none", "change": "more", "because": "", "evidence": []},
    "stability": {"risks": []},
}  # fmt: skip
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class ScriptedTeam:
    """Talks of one user with the team; agents answer `drafts`, the Coach and Synth `words`."""

    def __init__(self, store: Store, words: str = "You picked a day. What could get in the way?") -> None:
        self.store = store
        self.words = words
        self.drafts: dict[str, Any] = dict(DRAFTS)
        self.model = ScriptedModel(self._answer)
        team, rules = open_team(country="US")
        self.runner = TurnRunner(team, rules, cast_on_one(team, self.model), store)
        self.now = START

    def _answer(self, request: GenerateRequest) -> str:
        name = agent_of(request)
        draft = self.drafts.get(name)
        return self.words if draft is None else draft if isinstance(draft, str) else json.dumps(draft)

    async def say(self, text: str, *, session: str = "one", drafts: Mapping[str, Any] | None = None) -> TurnResult:
        """One turn, five minutes after the last."""
        self.drafts = {**DRAFTS, **(drafts or {})}
        self.runner.clock = fixed_clock(self.now)
        self.now += timedelta(minutes=5)
        return await self.runner.run(text, user="ann", session=session)
