import pytest

from repertory.teams.engineering.completion import complete_source, undefined_names

PLAIN = "import unicodedata\ndef plain(text):\n    return unicodedata.normalize('NFKD', text)\n"


def test_a_module_that_is_used_is_imported() -> None:
    source = complete_source("def f(text):\n    return re.sub('a', 'b', text) + str(math.pi)\n")
    assert source.startswith("import math\nimport re\n")
    assert undefined_names(source) == set()


def test_a_class_of_a_known_module_is_imported() -> None:
    assert complete_source("def f(x): return Counter(x)\n").startswith("from collections import Counter\n")


def test_the_function_of_a_note_is_put_before_the_code_that_uses_it() -> None:
    source = complete_source("def f(text): return plain(text).lower()\n", [PLAIN])
    assert source.startswith(PLAIN.strip())
    assert undefined_names(source) == set()


def test_a_note_that_is_not_used_stays_out() -> None:
    source = "def plain(text): return text\n"
    assert complete_source(source, [PLAIN]) == source


@pytest.mark.parametrize(
    "source",
    [
        "def f(a, *b, c=1, **d): return [x for x in a if x], b, c, d",
        "for i in range(3): pass\nprint(i)",
        "try:\n    pass\nexcept ValueError as error:\n    print(error)",
        "with open('x') as file: print(file)",
        "import os.path\nos.path",
        "class A:\n    b = 1\nA.b",
        "match 1:\n    case x: print(x)",
        "if (n := 1): print(n)",
        "lambda q: q",
        "this is no python",
    ],
)
def test_what_is_defined_is_not_missed(source: str) -> None:
    assert undefined_names(source) == set()


def test_what_nobody_defines_is_named() -> None:
    assert undefined_names("def f(): return helper(1)") == {"helper"}
    assert complete_source("def f(): return helper(1)\n") == "def f(): return helper(1)\n"
