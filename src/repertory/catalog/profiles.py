"""Device profiles: which devices there are, by name (`2xrtx4090`, `8xA100-80GB`, `24GiB`)."""

import re

from pydantic import BaseModel, ConfigDict, Field

from repertory.catalog.loader import Catalog
from repertory.catalog.records import Device, Fact
from repertory.errors import UsageError

__all__ = (
    "MOST_DEVICES",
    "NAMED_PROFILES",
    "DeviceProfile",
    "Slot",
    "device_named",
    "processor_device",
    "profile_named",
)


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
    def described(self) -> str:
        """The devices in words: `2x NVIDIA GeForce RTX 4090 (23.6 GiB)`."""
        counts: dict[str, int] = {}
        for slot in self.slots:
            words = f"{slot.device.name} ({slot.memory_gib:.1f} GiB)"
            counts[words] = counts.get(words, 0) + 1
        return ", ".join(f"{count}x {words}" if count > 1 else words for words, count in counts.items())

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

_PART = re.compile(r"\s*(?:(?P<count>\d+)\s*[x*]\s*)?(?P<name>.+?)\s*$", re.IGNORECASE)
_COUNT_BEHIND = re.compile(r"\s*(?P<name>.*\d.*?)\s*[x*]\s*(?P<count>\d{1,3})\s*$", re.IGNORECASE)
"""`rtx4090x2`; at most three digits, so that the x of `rtx4090` is none."""
_ANY = re.compile(r"^(?:(cpu)[- :]?)?(\d+(?:\.\d+)?)\s*(gib|gb)$", re.IGNORECASE)
MOST_DEVICES = 4096
_MOST_GIB = 100_000


def profile_named(text: str, catalog: Catalog) -> DeviceProfile:
    """The profile that a name means: a named one, a device, `4xA100-80GB`, `2xrtx3090+rtx4090` or `2x24GiB`.

    Raises:
        UsageError: A part names no device, or there are none or too many of it.
    """
    parts, budget, _ = NAMED_PROFILES.get(text.strip().lower(), (text, None, ""))
    slots: list[Slot] = []
    for part in parts.split("+"):
        match = _COUNT_BEHIND.match(part) or _PART.match(part)
        if match is None:
            msg = f"{text!r} names no device."
            raise UsageError(msg, hint="Write it like rtx4090 or 4xA100-80GB.")
        count = int(match["count"] or 1)
        if not 1 <= count <= MOST_DEVICES:
            msg = f"{part.strip()!r} asks for {count} devices."
            raise UsageError(msg, hint=f"1 to {MOST_DEVICES} are possible.")
        if len(slots) + count > MOST_DEVICES:
            msg = f"{text!r} asks for more than {MOST_DEVICES:,} devices."
            raise UsageError(msg, hint="Plan for a part of them.")
        slots += _slots(device_named(match["name"], catalog), count, first=len(slots), per_node=8)
    if budget is not None:
        share = budget / 2**30 / len(slots)
        slots = [slot.model_copy(update={"budget_gib": min(share, slot.budget_gib)}) for slot in slots]
    return DeviceProfile(name=text.strip(), slots=tuple(slots))


def _slots(device: Device, count: int, *, first: int, per_node: int) -> list[Slot]:
    memory = device.memory_gib.value
    return [
        Slot(
            name=f"gpu{first + i}" if device.vendor != "cpu" else "cpu",
            device=device,
            node=(first + i) // per_node,
            memory_gib=memory,
            budget_gib=memory * device.usable_share,
        )
        for i in range(count)
    ]


def processor_device(name: str, title: str, memory: Fact, *, cores: int) -> Device:
    """A computer without an accelerator; its speed is assumed, and three quarters of its memory may be used."""
    return Device(
        id=name,
        name=title,
        vendor="cpu",
        memory_gib=memory,
        usable_share=0.75,
        bandwidth_gb_s=Fact(value=30.0, source="assumed: two memory channels", sourced=False),
        tflops=Fact(value=0.09 * cores, source="assumed: 90 GFLOPS a core", sourced=False),
    )


def device_named(text: str, catalog: Catalog) -> Device:
    """The catalog's device of a name, or one of a written size (`24GiB`, `cpu-32GiB`) of which only that is known."""
    if text.strip().lower() == "cpu":
        raise UsageError("How much memory has the computer?", hint="Write it like cpu-32GiB; `auto` is this machine.")
    if (match := _ANY.match(text.strip())) is None:
        return catalog.find_device(text)
    size = float(match[2])
    gib = size if match[3].lower() == "gib" else size * 1e9 / 2**30
    if not 0.1 <= gib <= _MOST_GIB:
        msg = f"{text.strip()!r} is no device's memory."
        raise UsageError(msg, hint=f"Write it like 24GiB; 0.1 to {_MOST_GIB:,} GiB are possible.")
    fact = Fact(value=gib, source="as written by the user")
    if match[1]:
        return processor_device(f"cpu-{gib:g}gib", "a computer without an accelerator", fact, cores=8)
    return Device(id=text.strip().lower(), name=f"any card of {gib:.1f} GiB", vendor="nvidia", memory_gib=fact)
