"""A section's schema from a Pydantic model, for teams that are built in Python."""

from pydantic import BaseModel

from repertory.engines.schema.compile import normal_form
from repertory.engines.schema.limits import DEFAULT_LIMITS, SchemaLimits
from repertory.engines.schema.problems import JsonSchema

__all__ = ("section_schema",)


def section_schema(model: type[BaseModel], *, limits: SchemaLimits = DEFAULT_LIMITS) -> JsonSchema:
    """A clean, bounded JSON Schema of a Pydantic model: references inlined, objects closed, titles and defaults gone.

    Validators written in Python are not part of it; check those in the team's code.

    Raises:
        SchemaError: The model can not be asked for (it contains itself, or has fields without a type).
    """
    return normal_form(model.model_json_schema(), limits)
