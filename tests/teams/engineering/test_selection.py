import pytest

from repertory.teams.engineering.calls import Call, Case, CaseResult, Outcome
from repertory.teams.engineering.contract_text import read_contract
from repertory.teams.engineering.selection import Candidate, select

CONTRACT = read_contract("tool: double(n: int) -> int")
CALLS = [Call.of("double", {"n": number}) for number in (1, 2, 3)]
RIGHT = Case("double(2) == 4")
WRONG = Case("double(2) == 5")


def candidate(number: int, factor: int, *, source: str = "", results: dict[Case, bool] | None = None) -> Candidate:
    outcomes = {call: Outcome("value", call.values["n"] * factor) for call in CALLS}
    held = {RIGHT: factor == 2, WRONG: False} | (results or {})
    return Candidate(
        number, source or f"# {number}", outcomes, {case: CaseResult(passed) for case, passed in held.items()}
    )


def test_a_test_that_every_draft_fails_is_dropped() -> None:
    selection = select(CONTRACT, [candidate(0, 2), candidate(1, 3)], [RIGHT, WRONG], CALLS)
    assert selection.kept == (RIGHT,)
    assert selection.dropped == (WRONG,)


def test_what_the_contract_demands_is_never_dropped() -> None:
    demand = Case("double(2) == 5", "contract")
    drafts = [candidate(0, 2, results={demand: False})]
    selection = select(CONTRACT, drafts, [demand], CALLS)
    assert selection.kept == (demand,)
    assert selection.ranked[0].broken


def test_the_larger_group_wins_where_tests_do_not_decide() -> None:
    drafts = [candidate(0, 3), candidate(1, 2), candidate(2, 2)]
    selection = select(CONTRACT, drafts, [], CALLS)
    assert selection.best is not None
    assert selection.best.candidate.number == 1
    assert selection.best.group == 2


def test_tests_outweigh_a_small_majority() -> None:
    drafts = [candidate(0, 2), candidate(1, 3), candidate(2, 3)]
    others = [Case(f"double({n}) == {2 * n}") for n in range(4)]
    drafts = [
        Candidate(
            draft.number,
            draft.source,
            draft.outcomes,
            draft.results | {case: CaseResult(draft.number == 0) for case in others},
        )
        for draft in drafts
    ]
    best = select(CONTRACT, drafts, [RIGHT, *others], CALLS).best
    assert best is not None
    assert best.candidate.number == 0


@pytest.mark.parametrize(
    "outcome", [Outcome("value", "two"), Outcome("timeout"), Outcome("unstable"), Outcome("value", True)]
)
def test_what_breaks_the_contract_comes_last_whatever_it_passes(outcome: Outcome) -> None:
    bad = candidate(0, 2)
    bad = Candidate(0, bad.source, {**bad.outcomes, CALLS[0]: outcome}, bad.results)
    selection = select(CONTRACT, [bad, candidate(1, 3)], [RIGHT], CALLS)
    assert [judged.candidate.number for judged in selection.ranked] == [1, 0]
    assert selection.ranked[1].broken


def test_a_draft_that_does_not_load_is_never_the_best() -> None:
    broken = Candidate(0, "x", load_error="line 1: invalid syntax")
    assert select(CONTRACT, [broken], [RIGHT], CALLS).best is None
    best = select(CONTRACT, [broken, candidate(1, 3)], [RIGHT], CALLS).best
    assert best is not None
    assert best.candidate.number == 1


def test_numbers_that_differ_in_the_last_bit_are_the_same_behaviour() -> None:
    one, other = candidate(0, 2), candidate(1, 2)
    other = Candidate(
        1, other.source, {call: Outcome("value", call.values["n"] * 2 + 1e-15) for call in CALLS}, other.results
    )
    assert all(judged.group == 2 for judged in select(CONTRACT, [one, other], [RIGHT], CALLS).ranked)
