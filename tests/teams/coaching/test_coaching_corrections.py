"""What the person says of themselves stands above models, is seen in the history, and fades like everything else."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.teams.coaching.scripted_team import DRAFTS, ScriptedTeam

from repertory.errors import UsageError
from repertory.storage.store import Store
from repertory.teams.coaching.corrections import Corrections
from repertory.teams.coaching.ocean import ItemEvidence, Statement, faded, score_domain
from repertory.teams.coaching.person_acts import TEAM, Correction, answer_questionnaire, correct, settle
from repertory.teams.coaching.sections import Item
from repertory.teams.coaching.traits import Answered, traits_of
from repertory.teams.coaching.why import reasons_for

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "coaching.sqlite") as opened:
        yield opened


def _latest(store: Store, section: str) -> Any:
    version = store.blackboard(TEAM, "ann").latest(section)
    assert version
    return version.value


def _claims(message: str) -> dict[str, Any]:
    return {
        "shadow": DRAFTS["shadow"] | {"evidence": [message], "revealed_priority": "a rush job for the client"},
        "persona": DRAFTS["persona"]
        | {
            "traits": [{"message": message, "statement": "leaves_things_unfinished", "agree": 5}],
            "growth_edge": "saying no to the client", "evidence": [message],
        },
    }  # fmt: skip


async def test_a_correction_stands_above_what_models_say_later(store: Store) -> None:
    team = ScriptedTeam(store)
    await team.say("I took a rush job for the client and wrote nothing.", drafts=_claims("m1"))
    assert _latest(store, "shadow")["revealed_priority"] == "a rush job for the client"
    facts = {"priority": "earning the rent", "growth-edge": ""}
    correct(store, "ann", Correction({"conscientiousness": 80}, facts), team.now)
    assert _latest(store, "shadow")["revealed_priority"] == "earning the rent"
    for _ in range(2):
        await team.say("Another rush job for the client.", drafts=_claims("m1"))
    assert _latest(store, "shadow")["revealed_priority"] == "earning the rent"
    persona = _latest(store, "persona")
    trait = persona["ocean"]["conscientiousness"]
    assert (trait["score"], trait["source"], persona["ocean"]["C"]["source"]) == (80, "person", "person")
    assert (trait["low"], trait["high"]) == (70, 90)
    assert persona["growth_edges"] == []
    writers = [version.agent for version in store.blackboard(TEAM, "ann").history("persona")]
    assert writers == ["persona", "person", "persona", "persona"]


async def test_a_correction_can_be_withdrawn(store: Store) -> None:
    team = ScriptedTeam(store)
    await team.say("I took a rush job.")
    correct(store, "ann", Correction({"openness": 90}, {}), team.now)
    assert _latest(store, "persona")["ocean"]["openness"]["score"] == 90
    correct(store, "ann", Correction({"openness": None}, {}), team.now)
    assert _latest(store, "persona")["ocean"]["openness"]["score"] == 50


def test_what_does_not_exist_can_not_be_corrected() -> None:
    for name, score in (("luck", 50.0), ("openness", 101.0), ("openness", -1.0)):
        with pytest.raises(UsageError):
            Corrections().with_trait(name, score, NOW)
    with pytest.raises(UsageError):
        Corrections().with_fact("salary", "much", NOW)


async def test_an_outcome_said_by_the_person_counts(store: Store) -> None:
    team = ScriptedTeam(store)
    await team.say("I'll write 30 minutes on Tuesday and Thursday evening.")
    settle(store, "ann", "k1", "partly", team.now)
    assert _latest(store, "commitments")[0]["outcome"] == "partly"
    assert _latest(store, "persona")["follow_through"]["missed"] == 1
    settle(store, "ann", "k1", "kept", team.now)
    follow = _latest(store, "persona")["follow_through"]
    assert (follow["kept"], follow["missed"], follow["p"]) == (1, 0, 0.6)
    assert follow["low_percent"] < 60 < follow["high_percent"]
    assert _latest(store, "shadow")["prediction"]["n"] == 1
    result = await team.say("What are my chances?")
    assert result.status != "failed"
    with pytest.raises(UsageError, match="no commitment"):
        settle(store, "ann", "k9", "kept", team.now)


async def test_why_leads_back_to_the_messages(store: Store) -> None:
    team = ScriptedTeam(store)
    await team.say("I want to finish my novel by spring.")
    await team.say("I took a rush job for the client and wrote nothing.", drafts=_claims("m3"))
    reasons = reasons_for(store, TEAM, "ann", "Your time went to a rush job for the client")
    assert reasons
    [shadow] = [reason for reason in reasons if reason.by == "shadow" and "rush job" in reason.what]
    assert shadow.evidence["m3"] == "I took a rush job for the client and wrote nothing."
    [trait] = reasons_for(store, TEAM, "ann", "conscientiousness")
    assert list(trait.evidence) == ["m3"]
    assert reasons_for(store, TEAM, "ann", "xylophone zebra") == []


def test_answers_are_a_better_source_than_text_and_a_correction_than_answers() -> None:
    items = [Item(statement=Statement.WORRIES_A_LOT, agree=5, message=f"m{n}", at="2026-11-30") for n in range(9)]
    answered = Answered(
        dict.fromkeys(("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"), 30.0), NOW
    )
    by_text = traits_of(items, Corrections(), None, NOW)["neuroticism"]
    by_answers = traits_of(items, Corrections(), answered, NOW)["neuroticism"]
    by_person = traits_of(items, Corrections().with_trait("n", 40, NOW), answered, NOW)["neuroticism"]
    assert [trait.source for trait in (by_text, by_answers, by_person)] == ["text", "questionnaire", "person"]
    assert by_text.score <= 50 + 0.3 * 50
    assert (by_answers.score, by_person.score) == (30, 40)
    assert by_person.high - by_person.low < by_answers.high - by_answers.low


def test_intervals_narrow_by_evidence_only_and_widen_with_time() -> None:
    def width(n: int, months: float, same: bool = False) -> float:
        weight = faded(months * 30.44)
        items = [ItemEvidence(Statement.WORRIES_A_LOT, 5, "m1" if same else f"m{k}", weight) for k in range(n)]
        score = score_domain("neuroticism", items)
        return score.high - score.low

    assert width(0, 0) == 60
    assert [width(n, 0) for n in (0, 1, 3, 9)] == sorted((width(n, 0) for n in (0, 1, 3, 9)), reverse=True)
    assert width(9, 0, same=True) == width(1, 0)
    assert [width(9, months) for months in (0, 6, 24, 240)] == sorted(width(9, months) for months in (0, 6, 24, 240))
    assert width(9, 2400) == pytest.approx(60, abs=0.1)
    assert width(10_000, 0) >= 30


def test_old_answers_grow_uncertain() -> None:
    scores: Any = dict.fromkeys(("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"), 50.0)
    widths = [
        trait.high - trait.low
        for months in (0, 12, 36)
        for trait in [
            traits_of([], Corrections(), Answered(scores, NOW - timedelta(days=30.44 * months)), NOW)["openness"]
        ]
    ]
    assert widths[0] == 40
    assert widths == sorted(widths)
    assert widths[-1] < 60


async def test_a_questionnaire_may_come_before_any_talk(store: Store) -> None:
    answer_questionnaire(store, "ann", [5, 4, 3, 2, 5, 1, 2, 3, 4, 1, 5, 4, 3, 2, 1, 1, 2, 3, 4, 1], NOW)
    team = ScriptedTeam(store)
    result = await team.say("I want to run more.")
    assert result.sections["persona"].value["ocean"]["extraversion"]["source"] == "questionnaire"
    session = store.sessions.latest(TEAM, "ann")
    assert session
    assert session.number == 1
