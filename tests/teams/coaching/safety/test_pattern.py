from collections.abc import Mapping

import pytest

from repertory.teams.coaching.safety.concepts.lexicon import Span
from repertory.teams.coaching.safety.concepts.pattern import rule


def _found(**spans: tuple[int, int]) -> Mapping[str, list[Span]]:
    return {concept: [Span(*ends)] for concept, ends in spans.items()}


@pytest.mark.parametrize(("start", "holds"), [(1, True), (4, True), (5, False)])
def test_a_step_reaches_as_many_words_as_it_says(start: int, holds: bool) -> None:
    assert rule("self", "WISH >3 DIE").holds(_found(WISH=(0, 1), DIE=(start, start + 1))) is holds


def test_order_matters_unless_either_side_is_said() -> None:
    backwards = _found(WISH=(3, 4), DIE=(1, 2))
    assert not rule("self", "WISH >3 DIE").holds(backwards)
    assert rule("self", "WISH <>3 DIE").holds(backwards)


def test_one_of_two_concepts_is_enough() -> None:
    assert rule("self", "WISH >2 DIE|GONE").holds(_found(WISH=(0, 1), GONE=(1, 2)))


def test_what_else_is_needed_and_what_bars() -> None:
    judged = rule("self", "DIE & I|ME ! FICTION")
    assert not judged.holds(_found(DIE=(0, 1)))
    assert judged.holds(_found(DIE=(0, 1), ME=(5, 6)))
    assert not judged.holds(_found(DIE=(0, 1), I=(5, 6), FICTION=(8, 9)))


def test_what_bars_must_stand_near() -> None:
    judged = rule("self", "DIE ! KITCHEN")
    assert not judged.holds(_found(DIE=(20, 21), KITCHEN=(5, 6)))
    assert judged.holds(_found(DIE=(30, 31), KITCHEN=(5, 6)))


def test_a_word_is_not_counted_twice() -> None:
    judged = rule("danger", "HE <>6 STRIKES <>4 CHILDREN")
    sister = _found(HE=(1, 2), STRIKES=(2, 3), CHILDREN=(1, 2))
    assert not judged.holds(sister)
    assert judged.holds({**sister, "CHILDREN": [Span(1, 2), Span(4, 5)]})


@pytest.mark.parametrize("text", ["WISH DIE", "WISH >x DIE", "WISH >3"])
def test_a_pattern_that_can_not_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"distance|missing"):
        rule("self", text)
