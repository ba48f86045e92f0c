"""A model row of the user's own, from a JSON file."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from repertory.catalog.formats import FORMATS
from repertory.catalog.records import Model
from repertory.errors import UsageError

__all__ = ("read_own_row",)


def read_own_row(path: Path, known: Sequence[str]) -> Model:
    """Read a row, and refuse one that lacks a fact or its source, or names a format that does not exist.

    Args:
        path: The file.
        known: Ids that other rows have.

    Raises:
        UsageError: With the field that is wrong.
    """
    try:
        if not path.is_file():
            raise UsageError(
                "This row of your catalog is not a file.", where=str(path), hint="Remove or mend the link."
            )
        model = Model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError("This row can not be read.", where=str(path), hint=str(error.strerror)) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        msg = f"{place}: {first['msg']}" if place else first["msg"]
        hint = "A row looks like `repertory models show MODEL --json` without `sizes`; each fact names its source."
        raise UsageError(msg, where=str(path), hint=hint) from error
    for name in (model.native_format, *(row.format for row in model.checkpoints)):
        if name not in FORMATS:
            msg = f"{name!r} is not a checkpoint format."
            raise UsageError(msg, where=str(path), hint=f"Known are {', '.join(sorted(FORMATS))}.")
    if model.id.lower() in {other.lower() for other in known}:
        msg = f"There is a model {model.id!r} in the catalog already."
        raise UsageError(msg, where=str(path), hint="Give yours another id.")
    return model
