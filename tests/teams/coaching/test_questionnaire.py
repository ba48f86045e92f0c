import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.errors import UsageError
from repertory.teams.coaching.ocean import DOMAINS
from repertory.teams.coaching.questionnaire import ITEMS, answers_of, score_questionnaire

_ANSWERS = st.lists(st.integers(1, 5), min_size=20, max_size=20)


def test_four_items_a_domain_and_eleven_reversed() -> None:
    assert len(ITEMS) == 20
    assert {domain: sum(item.domain == domain for item in ITEMS) for domain in DOMAINS} == dict.fromkeys(DOMAINS, 4)
    assert [number for number, item in enumerate(ITEMS, start=1) if item.reversed] == [
        6,
        7,
        8,
        9,
        10,
        15,
        16,
        17,
        18,
        19,
        20,
    ]


def test_the_middle_is_fifty_and_agreeing_with_all_is_not_a_hundred() -> None:
    assert set(score_questionnaire([3] * 20).values()) == {50.0}
    # Yes to everything is no answer where half of the items are reversed.
    agreed = score_questionnaire([5] * 20)
    assert (
        agreed["extraversion"]
        == agreed["agreeableness"]
        == agreed["conscientiousness"]
        == agreed["neuroticism"]
        == 50.0
    )
    assert agreed["openness"] == 25.0


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_keyed_answers_reach_both_ends(domain: str) -> None:
    most = [5 if item.domain == domain and not item.reversed else 1 if item.domain == domain else 3 for item in ITEMS]
    least = [6 - answer for answer in most]
    assert score_questionnaire(most)[domain] == 100.0  # pyright: ignore[reportArgumentType]
    assert score_questionnaire(least)[domain] == 0.0  # pyright: ignore[reportArgumentType]


@given(_ANSWERS, st.integers(0, 19))
def test_one_answer_moves_its_own_domain_the_way_it_is_keyed(answers: list[int], index: int) -> None:
    low, high = list(answers), list(answers)
    low[index], high[index] = 1, 5
    before, after = score_questionnaire(low), score_questionnaire(high)
    item = ITEMS[index]
    assert (after[item.domain] < before[item.domain]) is item.reversed
    assert {name for name in DOMAINS if before[name] != after[name]} == {item.domain}


@given(_ANSWERS)
def test_mirrored_answers_mirror_the_scores(answers: list[int]) -> None:
    scores, mirrored = score_questionnaire(answers), score_questionnaire([6 - answer for answer in answers])
    assert all(scores[name] + mirrored[name] == pytest.approx(100) for name in DOMAINS)


@pytest.mark.parametrize("answers", [[3] * 19, [3] * 21, [3] * 19 + [6], [3] * 19 + [0], [3] * 19 + [True], ["3"] * 20])
def test_what_is_no_answer_is_refused(answers: list[object]) -> None:
    with pytest.raises(UsageError):
        score_questionnaire(answers)  # pyright: ignore[reportArgumentType]
    assert answers_of({"answers": answers}) is None
