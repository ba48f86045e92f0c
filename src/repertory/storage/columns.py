"""Column types that read the same from every database."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator

from repertory.storage.json_text import dump_json, load_json

__all__ = ("ExactText", "UtcTime")


class ExactText(TypeDecorator[str]):
    """Text that comes back exactly, NUL and lone surrogates included, which PostgreSQL's text can not hold.

    It is kept as a JSON string.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Write the text as a JSON string."""
        del dialect
        return None if value is None else dump_json(value, place="a text")

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Read the JSON string."""
        del dialect
        return None if value is None else load_json(value)


class UtcTime(TypeDecorator[datetime]):
    """A moment in UTC, to the microsecond. SQLite keeps no zone, so it is put back when reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn any aware time into UTC."""
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            message = "a time without a zone can not be kept"
            raise ValueError(message)
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the time its zone."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
