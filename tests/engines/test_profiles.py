import pytest

from repertory.engines.profile import EngineKind
from repertory.engines.profiles import load_profile, load_profiles
from repertory.engines.profiles.table import render_tables
from repertory.engines.schema.keywords import CLIENT_ONLY, CORE, SCALAR


def support(kind: EngineKind, keyword: str) -> str:
    table = load_profile(kind).schema_keywords
    return table.get(keyword, table.get(keyword.partition(":")[0], "client"))


@pytest.mark.parametrize(
    ("keyword", "where"),
    [
        ("minimum:integer", "grammar"),
        ("minimum:number", "client"),
        ("maximum:number", "client"),
        ("exclusiveMinimum:number", "client"),
        ("$ref", "client"),
        ("uniqueItems", "client"),
        ("contains", "client"),
        ("not", "client"),
        ("if", "client"),
        ("patternProperties", "client"),
        ("format:uri", "client"),
        ("format:email", "client"),
        ("format:date", "grammar"),
        ("minItems", "grammar"),
        ("maxLength", "grammar"),
        ("pattern", "grammar"),
    ],
)
@pytest.mark.parametrize("kind", [EngineKind.LLAMACPP, EngineKind.OLLAMA])
def test_b11_what_llamacpps_grammars_leave_out_is_ours(kind: EngineKind, keyword: str, where: str) -> None:
    assert support(kind, keyword) == where


def test_b11_places_of_a_list_are_sent_to_llamacpp_and_kept_from_ollama() -> None:
    assert support(EngineKind.LLAMACPP, "prefixItems") == "grammar"
    assert support(EngineKind.OLLAMA, "prefixItems") == "client"


@pytest.mark.parametrize(
    ("keyword", "where"),
    [
        ("multipleOf", "reject"),
        ("uniqueItems", "reject"),
        ("contains", "reject"),
        ("minContains", "reject"),
        ("format:email", "grammar"),
        ("format:uri", "grammar"),
        ("format:made-up", "reject"),
        ("propertyNames", "reject"),
        ("patternProperties", "reject"),
        ("allOf", "client"),
        ("minItems", "grammar"),
        ("maxLength", "grammar"),
        ("minimum:number", "grammar"),
    ],
)
def test_b12_what_vllm_refuses(keyword: str, where: str) -> None:
    assert support(EngineKind.VLLM, keyword) == where


@pytest.mark.parametrize("kind", list(EngineKind))
def test_b6_every_keyword_of_the_compiler_has_a_row(kind: EngineKind) -> None:
    table = load_profile(kind).schema_keywords
    covered = {keyword.partition(":")[0] for keyword in table}
    assert covered >= (CORE | SCALAR)
    assert {"oneOf", "not", "if", "contains", "prefixItems", "patternProperties", "propertyNames"} <= covered
    assert all(table[keyword] == "grammar" for keyword in CORE)
    assert not any(table.get(keyword) == "grammar" for keyword in CLIENT_ONLY - {"prefixItems"})


def test_every_engine_has_a_profile() -> None:
    profiles = load_profiles()
    assert set(profiles) == set(EngineKind)
    assert all(profile.kind is kind and profile.remarks for kind, profile in profiles.items())


@pytest.mark.parametrize("kind", [EngineKind.LLAMACPP, EngineKind.OLLAMA])
def test_c7_c8_no_thinking_together_with_a_grammar(kind: EngineKind) -> None:
    assert not load_profile(kind).grammar_after_reasoning


@pytest.mark.parametrize("kind", list(EngineKind))
def test_b13_no_engine_shows_the_schema_to_the_model(kind: EngineKind) -> None:
    assert not load_profile(kind).schema_in_prompt


def test_the_tables_for_the_docs() -> None:
    text = render_tables()
    assert "| constrains answers to a JSON Schema | yes | yes | yes | yes | yes |" in text
    assert "| `multipleOf` | us | us (engine refuses) | us | us | us |" in text
    assert "| `minimum:integer` | engine | engine | engine | engine | us |" in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith("|")}
    assert widths == {7}
