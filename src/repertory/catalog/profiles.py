"""Device profiles: which devices there are, named (`2xrtx4090`), described in YAML, or detected."""

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError

from repertory.catalog.loader import Catalog
from repertory.catalog.records import Device, Fact
from repertory.errors import UsageError

__all__ = ("NAMED_PROFILES", "DeviceProfile", "Slot", "profile_from_yaml", "profile_named")


KEPT_FREE_GIB = 0.35


class Slot(BaseModel):
    """One device of a profile.

    Attributes:
        name: `gpu0`, `gpu1`, ... in the order in which engines number them.
        node: The machine it is in; tensor parallelism stays inside one.
        memory_gib: What is there in total.
        budget_gib: What the plan may use of it.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    device: Device
    node: int = 0
    memory_gib: float = Field(gt=0)
    budget_gib: float = Field(gt=0)

    @property
    def room_mib(self) -> int:
        """MiB that plans fill: the budget, but 0.35 GiB of the device are kept free for driver and display."""
        return int(min(self.budget_gib, max(self.memory_gib - KEPT_FREE_GIB, 0.1)) * 1024)


class DeviceProfile(BaseModel):
    """The hardware that a plan is made for."""

    model_config = ConfigDict(frozen=True)

    name: str
    slots: tuple[Slot, ...] = Field(min_length=1)
    host_memory_gib: float | None = None

    @property
    def memory_gib(self) -> float:
        """Memory of all devices together."""
        return sum(slot.memory_gib for slot in self.slots)

    @property
    def price_usd_h(self) -> float | None:
        """The lower published price of all devices per hour, where every one has a price."""
        prices = [slot.device.price_usd_h for slot in self.slots]
        return sum(price.low for price in prices if price) if all(prices) else None


NAMED_PROFILES: dict[str, tuple[str, float | None, str]] = {
    "rtx4090": ("1xrtx4090", None, "one consumer card of 24 GB, the smallest published tier"),
    "2xrtx4090": ("2xrtx4090", None, "the published development machine of the coaching team"),
    "a100-211gb": ("3xa100_80_sxm", 211e9, "the published A100 cluster: three cards of which 211 GB are used"),
    "8xa100-80gb": ("8xa100_80_sxm", None, "one server with eight A100 of 80 GB"),
    "a40-pod": ("4xa40", None, "a pod that holds Qwen3-235B-A22B at four bits"),
    "8xa40": ("8xa40", None, "a pod that holds Qwen3-235B-A22B at eight bits"),
}
"""Name -> parts, memory budget over all devices in bytes (None: all), what it is."""

_PART = re.compile(r"\s*(?:(\d+)\s*[x*]\s*)?(.+?)\s*$", re.IGNORECASE)
_ANY = re.compile(r"^(\d+(?:\.\d+)?)\s*(gib|gb)$", re.IGNORECASE)
_LIMIT = 4096


def profile_named(text: str, catalog: Catalog) -> DeviceProfile:
    """The profile that a name means: a named one, a device, `4xA100-80GB`, `2xrtx3090+rtx4090` or `2x24GiB`.

    Raises:
        UsageError: A part names no device, or there are none or too many of it.
    """
    parts, budget, _ = NAMED_PROFILES.get(text.strip().lower(), (text, None, ""))
    slots: list[Slot] = []
    for part in parts.split("+"):
        match = _PART.match(part)
        if match is None:
            raise UsageError(f"{text!r} names no device.", hint="Write it like rtx4090 or 4xA100-80GB.")  # noqa: EM102 - one place
        count = int(match[1]) if match[1] else 1
        if not 1 <= count <= _LIMIT:
            raise UsageError(f"{part.strip()!r} asks for {count} devices.", hint=f"1 to {_LIMIT} are possible.")  # noqa: EM102
        slots += _slots(_device(match[2], catalog), count, first=len(slots), per_node=8)
    if budget is not None:
        share = budget / 2**30 / len(slots)
        slots = [slot.model_copy(update={"budget_gib": min(share, slot.budget_gib)}) for slot in slots]
    return DeviceProfile(name=text.strip(), slots=tuple(slots))


def profile_from_yaml(path: Path, catalog: Catalog) -> DeviceProfile:
    """Read a profile from a YAML file.

    The file has `devices`, a list of `{device, count, memory_gib, budget_gib}`, and may have `name`, `nodes` (every
    node has the same devices) and `host_memory_gib`.

    Raises:
        UsageError: With the line and column of what is wrong.
    """
    try:
        document = YAML(typ="rt").load(path.read_text("utf-8"))
    except MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UsageError(error.problem or "This is not YAML.", where=place) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The device file can not be read: {error}", where=str(path)) from error  # noqa: EM102
    if not isinstance(document, CommentedMap) or not isinstance(document.get("devices"), CommentedSeq):
        raise UsageError("A device file has a list called `devices`.", where=f"{path}:1:1",
                         hint="devices:\n    - {device: rtx4090, count: 2}")
    _no_others(document, {"name", "devices", "nodes", "host_memory_gib"}, path)
    nodes = int(_number(document, "nodes", path, default=1, most=512))
    slots: list[Slot] = []
    rows: CommentedSeq = document["devices"]
    for node in range(nodes):
        for index, row in enumerate(rows):
            if not isinstance(row, CommentedMap):
                line, column = rows.lc.item(index)
                raise UsageError("A device is `{device: NAME, count: N}`.", where=f"{path}:{line + 1}:{column + 1}")
            slots += _row_slots(row, catalog, path, node=node, first=len(slots))
    host = _number(document, "host_memory_gib", path, default=0.0, most=1e6)
    return DeviceProfile(name=str(document.get("name", path.stem)), slots=tuple(slots), host_memory_gib=host or None)


def _row_slots(row: CommentedMap, catalog: Catalog, path: Path, *, node: int, first: int) -> list[Slot]:
    _no_others(row, {"device", "count", "memory_gib", "budget_gib"}, path)
    if "device" not in row:
        raise UsageError("A device needs its name in `device`.", where=f"{path}:{row.lc.line + 1}:{row.lc.col + 1}")
    try:
        device = _device(str(row["device"]), catalog)
    except UsageError as error:
        raise UsageError(error.message, where=_place(row, "device", path), hint=error.hint) from error
    count = int(_number(row, "count", path, default=1, most=512))
    memory = _number(row, "memory_gib", path, default=device.memory_gib.value, most=1e5)
    budget = _number(row, "budget_gib", path, default=memory * device.usable_share, most=memory)
    return [
        Slot(name=f"gpu{first + i}", device=device, node=node, memory_gib=memory, budget_gib=budget)
        for i in range(count)
    ]


def _slots(device: Device, count: int, *, first: int, per_node: int) -> list[Slot]:
    memory = device.memory_gib.value
    return [
        Slot(
            name=f"gpu{first + i}",
            device=device,
            node=(first + i) // per_node,
            memory_gib=memory,
            budget_gib=memory * device.usable_share,
        )
        for i in range(count)
    ]


def _device(text: str, catalog: Catalog) -> Device:
    if (match := _ANY.match(text.strip())) is None:
        return catalog.find_device(text)
    size = float(match[1])
    if size <= 0:
        raise UsageError("A device has some memory.", hint="Write it like 24GiB.")
    gib = size if match[2].lower() == "gib" else size * 1e9 / 2**30
    fact = Fact(value=gib, source="as written by the user")
    return Device(id=text.strip().lower(), name=f"any card of {gib:.1f} GiB", vendor="nvidia", memory_gib=fact)


def _place(row: CommentedMap, key: str, path: Path) -> str:
    line, column = row.lc.value(key)
    return f"{path}:{line + 1}:{column + 1}"


def _no_others(row: CommentedMap, known: set[str], path: Path) -> None:
    for key in row:
        if key not in known:
            line, column = row.lc.key(key)
            msg = f"`{key}` is not a field here."
            raise UsageError(msg, where=f"{path}:{line + 1}:{column + 1}", hint=f"Fields: {', '.join(sorted(known))}.")


def _number(row: CommentedMap, key: str, path: Path, *, default: float, most: float) -> float:
    value = row.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        msg = f"`{key}` is a number from 0 to {most:g}, not {value!r}."
        raise UsageError(msg, where=_place(row, key, path))
    if key in ("count", "nodes") and (value < 1 or value != int(value)):
        msg = f"`{key}` is a whole number of at least 1."
        raise UsageError(msg, where=_place(row, key, path))
    return float(value)
