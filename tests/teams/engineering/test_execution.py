import pytest

from repertory.sandbox import Sandbox
from repertory.teams.engineering.calls import Call, Case, CaseResult, Outcome
from repertory.teams.engineering.execution import Examiner
from repertory.teams.engineering.selection import Candidate

pytestmark = pytest.mark.anyio

CALLS = [Call.of("half", {"n": 3}), Call.of("half", {"n": -1}), Call.of("half", {"n": 0})]


async def examine(source: str, cases: list[Case] | None = None, calls: list[Call] | None = None) -> Candidate:
    examiner = Examiner(Sandbox())
    [found] = await examiner.examine([Candidate(0, source)], CALLS if calls is None else calls, cases or [], ["half"])
    return found


async def test_values_refusals_and_crashes_are_told_apart() -> None:
    source = "def half(n):\n    if n < 0: raise ValueError('no')\n    return 3 / n if n == 0 else n / 2\n"
    found = await examine(source)
    assert [found.outcomes[call].kind for call in CALLS] == ["value", "value_error", "error"]
    assert found.outcomes[CALLS[0]] == Outcome("value", 1.5)


async def test_endless_loops_end_and_cost_only_their_call() -> None:
    source = "def half(n):\n    while n == 0: pass\n    return n\n"
    found = await examine(source)
    assert [found.outcomes[call].kind for call in CALLS] == ["value", "value", "timeout"]


async def test_what_differs_from_call_to_call_is_found() -> None:
    found = await examine("seen = []\ndef half(n):\n    seen.append(n)\n    return len(seen)\n")
    assert {found.outcomes[call].kind for call in CALLS} == {"unstable"}


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("half(3) == 1.5000000001", True),
        ("half(3) == 2", False),
        ("raises(ValueError, half, 'x')", True),
        ("raises(ValueError, half, 3)", False),
        ("half(4) == True", False),
        ("all(half(2 * n) == n for n in range(9))", True),
        ("half('x') == 1", False),
        ("this is no expression", False),
    ],
)
async def test_cases(text: str, passed: bool) -> None:
    source = "def half(n):\n    return float(n) / 2\n"
    case = Case(text)
    assert (await examine(source, [case])).results[case].passed is passed


async def test_what_was_found_instead_is_told() -> None:
    case = Case("half(3) == 2")
    assert (await examine("def half(n): return n", [case])).results[case] == CaseResult(False, "got 3")


@pytest.mark.parametrize(
    "source",
    [
        "raise RuntimeError('at load')",
        "while True: pass",
        "import os\nos._exit(0)",
        "def half(n):\n    import os\n    os._exit(1)",
    ],
)
async def test_code_that_will_not_be_examined_has_an_error_and_nothing_else(source: str) -> None:
    found = await examine(source)
    assert found.load_error
    assert found.outcomes == {}


async def test_a_result_that_fills_the_memory_is_an_error_of_the_code() -> None:
    found = await examine("def half(n): return 'x' * 10**9")
    assert found.outcomes[CALLS[0]].kind == "error"


async def test_a_result_that_is_no_json_is_an_error_of_the_code() -> None:
    found = await examine("def half(n): return {1, 2}")
    assert found.outcomes[CALLS[0]].kind == "error"


async def test_only_what_is_new_is_run() -> None:
    examiner = Examiner(Sandbox())
    known = Candidate(0, "raise RuntimeError", {CALLS[0]: Outcome("value", 1)})
    [found] = await examiner.examine([known], CALLS[:1], [], ["half"])
    assert found is known
