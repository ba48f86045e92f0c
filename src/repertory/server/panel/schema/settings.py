"""Settings of this installation."""

from typing import Annotated, Literal

from pydantic import Field

from repertory.server.panel.schema.base import Answer, Request

__all__ = ("ChangeSettings", "Settings")

_Country = Annotated[str, Field(pattern=r"^[A-Z]{2}$")]
_Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Z]{2})?$")]
_Theme = Literal["system", "light", "dark"]


class Settings(Answer):
    """What pages begin with; each person may choose otherwise for themselves."""

    country: str | None
    """ISO 3166 code of the country whose crisis services the coaching team names; null follows the message's
    language. It holds for turns from the next start of the server on."""
    language: str | None
    """Language of the pages; null follows the browser."""
    theme: _Theme


class ChangeSettings(Request):
    """The settings as they shall be."""

    country: _Country | None
    language: _Language | None
    theme: _Theme
