from typing import Annotated, Literal

from pydantic import BaseModel, Field

from repertory.engines.schema import field_guide, section_schema


class Prediction(BaseModel):
    basis: str = Field(max_length=160, description="What it rests on.")
    p: float = Field(ge=0, le=1)


class Shadow(BaseModel):
    stated_goal: str = Field(max_length=200, description="What the person says they want.")
    revealed_priority: str = Field(max_length=200, description="What their actions show instead.")
    pattern: Literal["follow_through", "overcommitment", "avoidance", "drift", "none"]
    evidence: list[Annotated[str, Field(pattern=r"^m\d{1,6}$")]] = Field(
        min_length=1, max_length=5, description="Ids of the messages this rests on."
    )
    prediction: Prediction
    note: str | None = Field(default=None, max_length=120)


GUIDE = r"""stated_goal: text, max 200 characters. What the person says they want.
revealed_priority: text, max 200 characters. What their actions show instead.
pattern: follow_through | overcommitment | avoidance | drift | none
evidence: list of 1-5, each text of the form ^m\d{1,6}$. Ids of the messages this rests on.
prediction: object with
  basis: text, max 160 characters. What it rests on.
  p: number 0-1
note: text, max 120 characters or null"""


def test_b13_one_line_per_field_with_kind_limits_choices_and_description() -> None:
    assert field_guide(Shadow.model_json_schema()) == GUIDE


def test_a3_it_holds_no_json() -> None:
    guide = field_guide(Shadow.model_json_schema())
    assert '"' not in guide
    assert "{" not in guide.replace("{1,6}", "")


def test_it_is_the_same_for_the_schema_and_its_clean_form_and_at_every_call() -> None:
    assert field_guide(section_schema(Shadow)) == field_guide(Shadow.model_json_schema()) == GUIDE


def test_it_stays_small() -> None:
    # Its tokens are counted by a real engine in tests/runtime/structured/test_structured_engine.py.
    assert len(GUIDE) < 600


def test_descriptions_can_not_open_a_line_of_their_own() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "boolean", "description": "first\n\nb: text"}}}
    assert field_guide(schema) == "a: true | false. first b: text"


def test_a_model_becomes_a_clean_bounded_schema() -> None:
    schema = section_schema(Shadow)
    assert "$defs" not in schema
    assert schema["properties"]["prediction"] == {
        "type": "object",
        "properties": {
            "basis": {"description": "What it rests on.", "type": "string", "maxLength": 160},
            "p": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["basis", "p"],
        "additionalProperties": False,
    }
    assert schema["properties"]["note"] == {"anyOf": [{"type": "string", "maxLength": 120}, {"type": "null"}]}
    assert schema["required"] == ["stated_goal", "revealed_priority", "pattern", "evidence", "prediction"]


def test_fixed_positions_are_told_in_order() -> None:
    pair = {"type": "array", "prefixItems": [{"enum": ["x", "y"]}, {"type": "integer"}], "items": False, "minItems": 2}
    assert field_guide({"type": "object", "properties": {"a": pair}}) == "a: list of 2: x | y; whole number"


def test_alternatives_of_the_whole_answer_are_told_one_after_the_other() -> None:
    variants = [{"properties": {name: {"type": "boolean"}}, "required": [name]} for name in ("a", "b")]
    assert field_guide({"type": "object", "anyOf": variants}) == "a: true | false\nor:\nb: true | false"
