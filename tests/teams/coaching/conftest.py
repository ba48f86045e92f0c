"""A person who talks to the coaching team, with the runtime's part of a turn done by hand and every agent scripted."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from repertory.runtime.rules import Interception, Merge, Safety, SectionView, TeamRules, TurnView, Written
from repertory.runtime.team import Team
from repertory.storage.records import Commitment, CommitmentChange, Message
from repertory.teams.coaching import open_team

EMPTY_DRAFTS: dict[str, Any] = {
    "shadow": {
        "evidence": [],
        "stated_goal": "",
        "revealed_priority": "",
        "pattern": "insufficient_data",
        "outcomes": [],
        "promises": [],
    },
    "persona": {"traits": [], "goal": "", "same_as": "", "growth_edge": "", "evidence": []},
    "plasticity": {"moves": ["open_question"], "setting": "none", "change": "more", "because": "", "evidence": []},
    "stability": {"risks": []},
    "coach": "Thank you for writing. What would help you most this week?",
    "synth": "",
}


@dataclass
class Turn:
    """One turn, as played."""

    view: TurnView
    safety: Safety
    notice: str | None
    interception: Interception | None = None
    sections: dict[str, Any] = field(default_factory=dict[str, Any])
    merge: Merge | None = None
    problems: list[str] = field(default_factory=list[str])
    first_reply: str = ""
    reply: str = ""

    @property
    def shown(self) -> str:
        """Everything the person sees."""
        return "\n\n".join(part for part in (self.notice, self.first_reply, self.reply) if part)


@dataclass
class Person:
    """Talks to the team; keeps what storage would keep."""

    team: Team
    rules: TeamRules
    now: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    messages: list[Message] = field(default_factory=list[Message])
    commitments: list[Commitment] = field(default_factory=list[Commitment])
    sections: dict[str, SectionView] = field(default_factory=dict[str, SectionView])
    safety: list[tuple[datetime, str]] = field(default_factory=list[tuple[datetime, str]])
    session: int = 1
    turns: int = 0
    memory: str = ""

    def next_session(self, days: float = 7) -> "Person":
        self.session += 1
        self.now += timedelta(days=days)
        self.sections = {name: dataclasses.replace(section, status="latest") for name, section in self.sections.items()}
        self.memory = self.rules.memory(self._view(self._message("person", "(nothing yet)")))
        return self

    def _message(self, role: Any, text: str) -> Message:
        return Message(f"m{len(self.messages) + 1}", role, text, f"t{self.turns}", f"s{self.session}", self.now)

    def _view(self, message: Message, **more: Any) -> TurnView:
        here = f"s{self.session}"
        history = [item for item in self.messages if item.session == here]
        return TurnView(
            team=self.team,
            turn=f"t{self.turns}",
            session=here,
            user="u",
            now=self.now,
            message=message,
            history=history,
            past_messages=[item for item in self.messages if item.session != here],
            sections=dict(self.sections),
            commitments=tuple(self.commitments),
            memory=self.memory,
            session_number=self.session,
            first_turn_of_session=not history,
            past_safety=tuple(self.safety),
            **more,
        )

    def say(self, text: str, drafts: Mapping[str, Any] | None = None, missing: tuple[str, ...] = ()) -> Turn:
        """One turn. `drafts` are the agents' answers; agents in `missing` give nothing at all."""
        self.turns += 1
        self.sections = {name: dataclasses.replace(section, status="latest") for name, section in self.sections.items()}
        message = self._message("person", text)
        view = self._view(message)
        turn = Turn(view, self.rules.safety(view), self.rules.notice(view))
        self.messages.append(message)
        self.safety.append((self.now, turn.safety.level))
        turn.interception = self.rules.intercept(view)
        if turn.interception:
            turn.reply = turn.interception.reply
        else:
            self._agents(turn, message, {**EMPTY_DRAFTS, **(drafts or {})}, missing)
        self.messages.append(self._message("team", turn.shown))
        self.now += timedelta(minutes=5)
        return turn

    def _agents(self, turn: Turn, message: Message, drafts: Mapping[str, Any], missing: tuple[str, ...]) -> None:
        failures = dict.fromkeys(missing, "timeout")
        for name in ("coach", "shadow", "persona", "plasticity", "stability", "synth"):
            if name in missing:
                continue
            view = dataclasses.replace(
                self._view(message, failures=failures, merge=turn.merge, safety=turn.safety),
                history=turn.view.history,
                first_turn_of_session=turn.view.first_turn_of_session,
            )
            if name == "synth":
                turn.merge = self.rules.merge(view)
                view = dataclasses.replace(view, merge=turn.merge)
            assert self.rules.private_context(name, self.team.agents[name], view)
            answer = drafts[name]
            if name == "coach":
                gate = self.rules.gate(name, view)
                answer = gate.feed(answer) + gate.close()
            problems = self.rules.check(name, answer, view)
            written = (
                self.rules.fallback(name, answer, problems, view) if problems else self.rules.write(name, answer, view)
            )
            if name == "synth":
                turn.problems = problems
            if written:
                self._keep(name, written, message, turn)
        turn.view = dataclasses.replace(self._view(message, merge=turn.merge), history=turn.view.history)
        for name, value in self.rules.derived_sections(turn.view).items():
            self.sections[name] = SectionView(value, 1, turn.view.turn, "written")
            turn.sections[name] = value

    def _keep(self, name: str, written: Written, message: Message, turn: Turn) -> None:
        section = self.team.agents[name].writes
        self.sections[section] = SectionView(written.value, self.turns, f"t{self.turns}", "written")
        turn.sections[section] = written.value
        turn.merge = written.merge or turn.merge
        for change in written.commitments:
            self._change(change, message)
        if name == "coach":
            turn.first_reply = written.value
        elif name == "synth":
            turn.reply = written.value

    def _change(self, change: CommitmentChange, message: Message) -> None:
        if change.id is None:
            self.commitments.append(
                Commitment(
                    f"k{len(self.commitments) + 1}",
                    change.what,
                    change.when,
                    change.due,
                    change.p,
                    "open",
                    change.kind,
                    message.id,
                    None,
                    self.now,
                    None,
                )
            )
            return
        self.commitments = [
            dataclasses.replace(item, outcome=change.outcome, settled_in=message.id, settled_at=self.now)
            if item.id == change.id
            else item
            for item in self.commitments
        ]


@pytest.fixture
def person() -> Person:
    return Person(*open_team(country="US"))


@pytest.fixture
def new_person() -> Callable[[], Person]:
    return lambda: Person(*open_team(country="US"))
