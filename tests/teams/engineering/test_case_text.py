import pytest

from repertory.teams.engineering.calls import Call, Case
from repertory.teams.engineering.case_text import called_in, read_cases
from repertory.teams.engineering.contract_text import read_contract

CONTRACT = read_contract("tools: slug(text:string, most:int=60)->string, back(s:string)->int")


def texts(answer: str) -> list[str]:
    return [case.text for case in read_cases(answer, CONTRACT)]


def test_asserts_in_a_block_of_code() -> None:
    assert texts("Here:\n```python\nassert slug('A b') == 'a-b'\nassert back(slug('1')) == 1\n```\nDone.") == [
        "slug('A b') == 'a-b'",
        "back(slug('1')) == 1",
    ]


def test_values_given_names_before_are_put_in_their_place() -> None:
    assert texts("x = 'A b'\ny = slug(x)\nassert y == 'a-b'") == ["slug('A b') == 'a-b'"]


def test_refusals_of_every_library() -> None:
    answer = "with pytest.raises(ValueError):\n    slug('')\nassert raises(ValueError, back, 'x')"
    assert texts(answer) == ["raises(ValueError, slug, '')", "raises(ValueError, back, 'x')"]


def test_a_test_function_is_looked_into() -> None:
    assert texts("def test_it():\n    assert slug('a') == 'a' and slug('') == ''") == [
        "slug('a') == 'a'",
        "slug('') == ''",
    ]


def test_a_cut_last_line_does_not_cost_the_others() -> None:
    assert texts("```python\nassert slug('a') == 'a'\nassert slug('b") == ["slug('a') == 'a'"]


@pytest.mark.parametrize(
    "line",
    [
        "assert True",
        "assert open('/etc/passwd').read()",
        "assert slug.__globals__",
        "assert slug(__import__('os').name)",
        "assert slug(unknown) == 'a'",
        "import os",
        "print(slug('a'))",
    ],
)
def test_what_is_no_test_of_the_tools_is_left_out(line: str) -> None:
    assert texts(line) == []


def test_every_case_once_and_not_too_many() -> None:
    assert texts("assert slug('a') == 'a'\n" * 5) == ["slug('a') == 'a'"]
    assert len(texts("\n".join(f"assert back('{number}') == {number}" for number in range(100)))) == 24


def test_calls_with_literal_arguments_are_found() -> None:
    cases = [Case("slug('a', 3) == 'a'"), Case("raises(ValueError, back, s='x')"), Case("slug(slug('b')) == 'b'")]
    assert called_in(cases, CONTRACT) == [
        Call.of("slug", {"text": "a", "most": 3}),
        Call.of("back", {"s": "x"}),
        Call.of("slug", {"text": "b"}),
    ]
