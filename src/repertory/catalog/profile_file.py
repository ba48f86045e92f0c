"""Device profiles from a YAML file, with the line and column of what is wrong in it."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError

from repertory.catalog.loader import Catalog
from repertory.catalog.profiles import MOST_DEVICES, DeviceProfile, Slot, device_named
from repertory.errors import UsageError

__all__ = ("profile_from_yaml",)

_LEAST_GIB = 0.1

Row = Any
"""A mapping of ruamel.yaml, which carries positions but no types."""


def profile_from_yaml(path: Path, catalog: Catalog) -> DeviceProfile:
    """Read a profile from a YAML file.

    The file has `devices`, a list of `{device, count, memory_gib, budget_gib}`, and may have `name`, `nodes` (every
    node has the same devices) and `host_memory_gib`.

    Raises:
        UsageError: With the line and column of what is wrong.
    """
    try:
        reader: Any = YAML(typ="rt")
        document: Any = reader.load(path.read_text("utf-8"))
    except MarkedYAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UsageError("This is not YAML.", where=place, hint=str(error).split("\n", 1)[0]) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("The device file can not be read.", where=str(path), hint=str(error)) from error
    if not (_is(document, CommentedMap) and _is(document.get("devices"), CommentedSeq)):
        raise UsageError(
            "A device file has a list called `devices`.",
            where=f"{path}:1:1",
            hint="devices:\n    - {device: rtx4090, count: 2}",
        )
    _no_others(document, {"name", "devices", "nodes", "host_memory_gib"}, path)
    if not document["devices"]:
        raise UsageError("A profile has at least one device.", where=_place(document, "devices", path))
    nodes = int(_number(document, "nodes", path, default=1, most=512))
    slots: list[Slot] = []
    rows: Any = document["devices"]
    for node in range(nodes):
        for index, row in enumerate(rows):
            if not _is(row, CommentedMap):
                line, column = rows.lc.item(index)
                raise UsageError("A device is `{device: NAME, count: N}`.", where=f"{path}:{line + 1}:{column + 1}")
            slots += _row_slots(row, catalog, path, node=node, first=len(slots))
    host = _number(document, "host_memory_gib", path, default=0.0, most=1e6)
    if len(slots) > MOST_DEVICES:
        msg = f"{len(slots):,} devices are too many."
        raise UsageError(msg, where=str(path), hint=f"At most {MOST_DEVICES:,} are possible.")
    return DeviceProfile(name=str(document.get("name", path.stem)), slots=tuple(slots), host_memory_gib=host or None)


def _is(value: object, kind: type) -> bool:
    """`isinstance` that leaves the untyped value as it is for the type checker."""
    return isinstance(value, kind)


def _row_slots(row: Row, catalog: Catalog, path: Path, *, node: int, first: int) -> list[Slot]:
    _no_others(row, {"device", "count", "memory_gib", "budget_gib"}, path)
    if "device" not in row:
        raise UsageError("A device needs its name in `device`.", where=f"{path}:{row.lc.line + 1}:{row.lc.col + 1}")
    try:
        device = device_named(str(row["device"]), catalog)
    except UsageError as error:
        raise UsageError(error.message, where=_place(row, "device", path), hint=error.hint) from error
    count = int(_number(row, "count", path, default=1, most=512))
    memory = _number(row, "memory_gib", path, default=device.memory_gib.value, most=1e5)
    budget = _number(row, "budget_gib", path, default=memory * device.usable_share, most=memory)
    return [
        Slot(name=f"gpu{first + i}", device=device, node=node, memory_gib=memory, budget_gib=budget)
        for i in range(count)
    ]


def _place(row: Row, key: str, path: Path) -> str:
    line, column = row.lc.value(key)
    return f"{path}:{line + 1}:{column + 1}"


def _no_others(row: Row, known: set[str], path: Path) -> None:
    for key in row:
        if key not in known:
            line, column = row.lc.key(key)
            msg = f"`{key}` is not a field here."
            raise UsageError(msg, where=f"{path}:{line + 1}:{column + 1}", hint=f"Fields: {', '.join(sorted(known))}.")


def _number(row: Row, key: str, path: Path, *, default: float, most: float) -> float:
    value = row.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        msg = f"`{key}` is a number from 0 to {most:g}, not {value!r}."
        raise UsageError(msg, where=_place(row, key, path))
    if key in ("memory_gib", "budget_gib") and value < _LEAST_GIB:
        msg = f"`{key}` is at least {_LEAST_GIB:g}, not {value:g}."
        raise UsageError(msg, where=_place(row, key, path))
    if key in ("count", "nodes") and (value < 1 or value != int(value)):
        msg = f"`{key}` is a whole number of at least 1."
        raise UsageError(msg, where=_place(row, key, path))
    return float(value)
