"""What all of the API's JSON has in common: its strictness, and the one shape of errors."""

from typing import Any

from pydantic import BaseModel, ConfigDict

__all__ = ("Answer", "ErrorAnswer", "ErrorBody", "JsonObject", "Request")

JsonObject = dict[str, Any]
"""A JSON object whose fields the API does not define."""


class Request(BaseModel):
    """A body that comes in; fields that are not known are refused, so that a typing mistake is not lost."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Answer(BaseModel):
    """A body that goes out; every field is always there.

    Many are made from the documents that the command line shows; what these have more is left out until it is described
    here, and tests hold the two against each other.
    """

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        use_attribute_docstrings=True,
        json_schema_serialization_defaults_required=True,
    )


class ErrorBody(Answer):
    """What went wrong, and what to do about it."""

    type: str
    """Stable short name, for programs."""
    message: str
    """What was wrong, in one sentence."""
    hint: str | None
    """What to do about it."""


class ErrorAnswer(Answer):
    """The body of every answer that is no success."""

    error: ErrorBody
