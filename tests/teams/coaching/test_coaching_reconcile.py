# ruff: noqa: E501 - example sentences are not broken
from collections.abc import Callable
from typing import Any

from repertory.runtime.rules import Claim
from repertory.teams.coaching.claims import Candidate
from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.sections import BlockedMove, Risk
from repertory.teams.coaching.settle import (
    number_claims,
    settle_blocked_claims,
    settle_contradictions,
    settle_moves,
    settle_news,
    settle_repeats,
    with_substitutes,
)


def block(move: Move, severity: int) -> BlockedMove:
    return BlockedMove(
        move=move,
        reason="it hurt them",
        evidence=["m1"],
        severity=severity,
        since="2026-01-01",
        until="2026-04-01",
        source="rule",
    )


def candidate(
    text: str, evidence: tuple[str, ...], stance: str, recency: int = 0, confidence: float = 0.5
) -> Candidate:
    return Candidate(Claim("", "shadow", "pattern", text, evidence, confidence), stance, recency)


def test_blocked_beats_recommended_from_severity_six() -> None:
    blocks = [block(Move.PUBLIC_COMMITMENT, 6)]
    allowed, (conflict,) = settle_moves([(Move.PUBLIC_COMMITMENT, "persona"), (Move.AFFIRM, "plasticity")], blocks, [])
    assert allowed == (Move.AFFIRM,)
    assert conflict.rule == "blocked_beats_recommended"
    assert conflict.dropped == ("persona: public_commitment",)
    assert conflict.kept == ("stability: blocks public_commitment",)
    assert "it hurt them" in conflict.why
    assert with_substitutes(allowed, [conflict], blocks) == (Move.PRIVATE_ACCOUNTABILITY, Move.AFFIRM)


def test_below_the_threshold_the_tension_is_kept() -> None:
    allowed, (conflict,) = settle_moves([(Move.INCREASE_TARGET, "plasticity")], [block(Move.INCREASE_TARGET, 5)], [])
    assert allowed == (Move.INCREASE_TARGET,)
    assert (conflict.rule, conflict.dropped) == ("tension_kept", ())


def test_a_risk_that_does_not_block_is_a_tension() -> None:
    risk = Risk(
        what="too fast",
        severity=5,
        occurrence=5,
        detectability=5,
        reversibility=3,
        reversibility_class="easy",
        priority="M",
        move=Move.INCREASE_TARGET,
        evidence=["m1"],
        source="model",
    )
    _, (conflict,) = settle_moves([(Move.INCREASE_TARGET, "plasticity")], [], [risk])
    assert conflict.rule == "tension_kept"
    assert conflict.why == "too fast"


def test_no_conflict_without_a_wish() -> None:
    assert settle_moves([(Move.AFFIRM, "plasticity")], [block(Move.PUBLIC_COMMITMENT, 9)], []) == ((Move.AFFIRM,), ())


def test_contradictions_go_by_evidence_then_recency_then_confidence() -> None:
    """What is dropped is on record with the rule that dropped it (field report F5)."""
    more = candidate("keeps it", ("m1", "m2"), "kept")
    less = candidate("misses it", ("m1",), "missed", recency=9)
    kept, (conflict,) = settle_contradictions([less, more])
    assert kept == [more]
    assert conflict.rule == "evidence_then_recency_then_confidence"
    assert conflict.why == "2 messages against 1"
    newer = candidate("misses it", ("m3",), "missed", recency=2)
    older = candidate("keeps it", ("m1",), "kept", recency=1)
    assert settle_contradictions([older, newer])[0] == [newer]
    sure = candidate("keeps it", ("m1",), "kept", confidence=0.9)
    unsure = candidate("misses it", ("m2",), "missed", confidence=0.1)
    kept, (conflict,) = settle_contradictions([sure, unsure])
    assert kept == [sure]
    assert conflict.why == "surer"


def test_claims_that_agree_both_stay() -> None:
    both = [candidate("keeps it", ("m1",), "kept"), candidate("goes well", ("m2",), "kept")]
    assert settle_contradictions(both) == (both, [])


def test_no_evidence_no_claim() -> None:
    claims, (conflict,) = number_claims([candidate("keeps it", (), "kept"), candidate("misses it", ("m1",), "missed")])
    assert [claim.id for claim in claims] == ["c1"]
    assert conflict.rule == "no_evidence_no_claim"
    assert (conflict.topic, conflict.kept, conflict.dropped) == ("pattern", (), ("shadow: keeps it",))
    assert conflict.why == "no message bears it out"


def test_everybody_who_wanted_a_blocked_move_is_on_record() -> None:
    wanted = [
        (Move.PUBLIC_COMMITMENT, "plasticity"),
        (Move.PUBLIC_COMMITMENT, "persona"),
        (Move.PUBLIC_COMMITMENT, "person"),
    ]
    _, (conflict,) = settle_moves(wanted, [block(Move.PUBLIC_COMMITMENT, 7)], [])
    assert conflict.dropped == tuple(f"{who}: public_commitment" for who in ("plasticity", "persona", "person"))
    assert "instead private_accountability" in conflict.why


def test_a_growth_edge_that_names_a_blocked_move_is_dropped() -> None:
    edge = Candidate(Claim("", "persona", "growth", "announce your work to everyone", ("m1",)))
    fact = Candidate(Claim("", "shadow", "goal", "announce your work to everyone", ("m1",)))
    kept, (conflict,) = settle_blocked_claims([edge, fact], [block(Move.PUBLIC_COMMITMENT, 6)])
    assert kept == [fact]
    assert conflict.rule == "blocked_beats_claim"
    assert conflict.kept == ("stability: blocks public_commitment",)
    assert conflict.dropped == ("persona: announce your work to everyone",)
    assert settle_blocked_claims([edge], [block(Move.PUBLIC_COMMITMENT, 5)]) == ([edge], [])


def test_a_promise_kept_just_now_beats_the_pattern() -> None:
    pattern = candidate("you plan it, and then it does not happen", ("m1", "m2"), "missed")
    news = Candidate(Claim("", "shadow", "promise k1", "You did this: run.", ("m3",)), "kept")
    kept, (conflict,) = settle_news([pattern, news])
    assert kept == [news]
    assert (conflict.rule, conflict.why) == ("news_beats_pattern", "they kept one just now")
    assert settle_news([pattern]) == ([pattern], [])


def test_the_same_thing_is_claimed_once() -> None:
    first = candidate("you kept 2 of 5 promises", ("m1",), "")
    again = candidate("you kept 2 of 5 promises", ("m2",), "")
    kept, (conflict,) = settle_repeats([first, again])
    assert kept == [first]
    assert (conflict.rule, conflict.why) == ("said_once", "they say the same")


def test_what_is_too_much_for_one_reply_is_on_record() -> None:
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    claims, conflicts = number_claims([candidate(f"claim {word}", ("m1",), "") for word in words])
    assert len(claims) == 9
    assert [item.rule for item in conflicts] == ["most_telling_first"]
    assert all(item.dropped and item.why for item in conflicts)


def test_growth_edge_against_block(person: Any) -> None:
    person.say("I hide my work until it is perfect. My manager says visibility is my next step. I agree.")
    person.say(
        "Last year I announced a 30-day challenge to the whole department. I fell behind on day 6, people joked about it, "
        "and I called in sick for a week and stopped everything for two months."
    )
    person.next_session(8)
    assert "Never suggest: announcing it" in person.memory
    turn = person.say(
        "I finished a draft report. I should show it to somebody. Should I just announce a public deadline so I can't back out?",
        {
            "plasticity": {
                "moves": ["public_commitment", "affirm"],
                "setting": "none",
                "change": "more",
                "because": "",
                "evidence": [],
            },
            "coach": "You finished the draft. Announce it to everyone on LinkedIn! Who is one person you trust?",
            "synth": "Announce a public deadline now. Last year that hurt you, so show the report privately to one colleague.",
        },
    )
    assert turn.merge is not None
    assert {item.rule for item in turn.merge.conflicts} >= {"blocked_beats_recommended"}
    assert "public_commitment" not in turn.merge.moves
    assert turn.merge.moves[0] == "private_accountability"
    assert set(turn.merge.blocked_moves) == {"public_commitment", "streak_pressure"}
    (conflict,) = [item for item in turn.merge.conflicts if item.topic == "public_commitment"]
    assert conflict.rule == "blocked_beats_recommended"
    assert turn.first_reply == "You finished the draft. Who is one person you trust?"
    assert turn.reply.startswith("Last year that hurt you, so show the report privately to one colleague.")
    assert 'I would not suggest a public promise, because you wrote: "I fell behind on day 6' in turn.reply
    assert "deadline" not in turn.reply
    said = [item for item in turn.merge.reply if item.dropped is None]
    assert all(item.claims for item in said if item.by == "model")
    assert [item.text for item in turn.merge.reply if item.dropped] == ["Announce a public deadline now."]
    assert turn.merge.voice["measured"]["words"] == len(turn.reply.split())
    assert all(claim.evidence for claim in turn.merge.claims)


def test_what_is_missing_stale_or_unfounded_is_listed(person: Any) -> None:
    person.say("I will call two customers a day.")
    person.next_session(4).say("I called one on Monday, none since. Same plan for next week.", missing=("persona",))
    turn = person.next_session(7).say(
        "Better: four calls. What do you make of me, and of my chances?",
        {
            "plasticity": {
                "moves": ["open_question"],
                "setting": "warmth",
                "change": "more",
                "because": "user is highly neurotic",
                "evidence": [],
            },
            "synth": "You made four calls, better than one. Your neuroticism is high. The chance is about 33 %, a rough guess.",
        },
        missing=("persona", "stability"),
    )
    assert turn.merge is not None
    assert "persona" in turn.merge.missing_agents
    assert "stability" in turn.merge.stale_agents
    assert any("highly neurotic" in text for text in turn.merge.dropped_claims)
    assert all(claim.evidence for claim in turn.merge.claims)
    assert turn.reply.startswith("You made four calls, better than one. The chance is about 33 %, a rough guess.")
    assert "neurotic" not in turn.reply
    assert turn.sections["shadow"]["prediction"]["p"] == 0.333


def test_merge_is_the_same_every_time(new_person: Callable[[], Any]) -> None:
    first, second = new_person().say("I want to run."), new_person().say("I want to run.")
    assert first.merge == second.merge
