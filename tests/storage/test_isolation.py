"""Two users and two teams do the same things under the same names; a plain model says what each of them must see."""

import json
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from repertory.storage.records import CommitmentChange
from repertory.storage.store import Store

_NOW = datetime(2026, 12, 1, tzinfo=UTC)
_PEOPLE = [(team, user) for team in ("coaching", "coaching2") for user in ("ada", "Ada")]
people = st.sampled_from(_PEOPLE)
session_names = st.sampled_from(["monday", "tuesday"])
sections = st.sampled_from(["shadow", "persona"])


@dataclass
class _Person:
    sessions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    turns: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    messages: int = 0
    versions: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    commitments: list[str] = field(default_factory=list[str])


class TwoUsersTwoTeams(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = Store.open(Path(self.folder.name) / "repertory.sqlite")
        self.people = {person: _Person() for person in _PEOPLE}
        self.written = 0

    @rule(person=people, name=session_names)
    def start(self, person: tuple[str, str], name: str) -> None:
        model = self.people[person]
        session = self.store.sessions.start(*person, name, _NOW, memory=json.dumps(person))
        model.sessions.setdefault(name, [])
        assert (session.team, session.user, session.memory) == (*person, json.dumps(person))
        assert session.number == list(model.sessions).index(name) + 1
        model.turns.append((self.store.turns.begin_turn(session, at=_NOW).id, name))

    @rule(person=people)
    def say(self, person: tuple[str, str]) -> None:
        model = self.people[person]
        if not model.turns:
            return
        turn, name = model.turns[-1]
        session = self.store.sessions.find(*person, name)
        assert session is not None
        model.messages += 1
        words = f"{person} {model.messages}"
        assert self.store.messages.append_message(session, "person", words, turn, _NOW).id == f"m{model.messages}"
        model.sessions[name].append(words)

    @rule(person=people, section=sections)
    def write(self, person: tuple[str, str], section: str) -> None:
        model = self.people[person]
        if not model.turns:
            return
        self.written += 1
        versions = model.versions.setdefault(section, [])
        board = self.store.blackboard(*person)
        board.write(section, self.written, turn=model.turns[-1][0], agent="a", at=_NOW, expect_version=len(versions))
        versions.append(self.written)

    @rule(person=people)
    def commit(self, person: tuple[str, str]) -> None:
        model = self.people[person]
        if not model.turns:
            return
        words = f"{person} {len(model.commitments)}"
        self.store.commitments.apply(*person, [CommitmentChange(what=words)], "m1", _NOW)
        model.commitments.append(words)

    @rule(person=people, one_team=st.booleans())
    def erase(self, person: tuple[str, str], one_team: bool) -> None:
        team, user = person
        self.store.erase(user, team if one_team else None)
        for other in _PEOPLE:
            if other[1] == user and (not one_team or other[0] == team):
                self.people[other] = _Person()

    @invariant()
    def everybody_sees_their_own_and_nothing_else(self) -> None:
        for person, model in self.people.items():
            assert [s.id for s in self.store.sessions.all(*person)] == list(model.sessions)
            for name, words in model.sessions.items():
                session = self.store.sessions.find(*person, name)
                assert session is not None
                assert [m.text for m in self.store.messages.messages(session)] == words
            board = self.store.blackboard(*person)
            assert {n: v.value for n, v in board.all_latest().items()} == {n: v[-1] for n, v in model.versions.items()}
            for section, versions in model.versions.items():
                assert [v.value for v in board.history(section)] == versions
            assert [c.what for c in self.store.commitments.all(*person)] == model.commitments
            assert [t.id for t in self.store.turns.turns(*person)] == [t for t, _ in reversed(model.turns)]

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


TestTwoUsersTwoTeams = TwoUsersTwoTeams.TestCase
TestTwoUsersTwoTeams.settings = settings(
    max_examples=15, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
