"""What the header of a GGUF file says: metadata, and the exact bytes and type of every tensor.

Only the header is read, and nothing in it is trusted: every length and count is bounded, and dimensions are those that
a model can have. A model in several files (`-00001-of-00003.gguf`) is read whole.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from repertory.catalog.formats import WeightBytes
from repertory.catalog.gguf_reader import GgufError, GgufReader, Value
from repertory.errors import UsageError

__all__ = ("GgufFile", "read_gguf_file")

_TYPES: dict[int, tuple[str, float]] = {
    0: ("f32", 4.0), 1: ("f16", 2.0), 2: ("q4_0", 18 / 32), 3: ("q4_1", 20 / 32), 6: ("q5_0", 22 / 32),
    7: ("q5_1", 24 / 32), 8: ("q8_0", 34 / 32), 10: ("q2_k", 84 / 256), 11: ("q3_k", 110 / 256),
    12: ("q4_k", 144 / 256), 13: ("q5_k", 176 / 256), 14: ("q6_k", 210 / 256), 16: ("iq2_xxs", 66 / 256),
    17: ("iq2_xs", 74 / 256), 18: ("iq3_xxs", 98 / 256), 19: ("iq1_s", 50 / 256), 20: ("iq4_nl", 18 / 32),
    21: ("iq3_s", 110 / 256), 22: ("iq2_s", 82 / 256), 23: ("iq4_xs", 136 / 256), 24: ("i8", 1.0), 25: ("i16", 2.0),
    26: ("i32", 4.0), 27: ("i64", 8.0), 28: ("f64", 8.0), 29: ("iq1_m", 56 / 256), 30: ("bf16", 2.0),
    34: ("tq1_0", 54 / 256), 35: ("tq2_0", 66 / 256), 39: ("mxfp4", 17 / 32),
}  # fmt: skip
"""ggml tensor types: name and bytes per element."""

_MAX_TENSORS = 200_000
_MAX_DIMENSIONS = 8
_MAX_ELEMENTS = 2**44
_MAX_PARTS = 1000
_PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)


@dataclass(frozen=True)
class GgufFile:
    """What a GGUF header says.

    Attributes:
        tensors: Name to bytes and type.
        items: Length of every array in the metadata, of which only short ones are kept.
    """

    metadata: dict[str, Value]
    tensors: dict[str, tuple[float, str]]
    items: dict[str, int]

    @property
    def weights(self) -> WeightBytes:
        """The exact bytes by class."""
        sums = dict.fromkeys(WeightBytes.__dataclass_fields__, 0.0)
        for name, (size, _) in self.tensors.items():
            sums[_class_of(name)] += size
        return WeightBytes(**sums)

    @property
    def common_type(self) -> str:
        """The type that holds most bytes."""
        sums: dict[str, float] = {}
        for size, kind in self.tensors.values():
            sums[kind] = sums.get(kind, 0.0) + size
        return max(sums, key=lambda kind: sums[kind], default="f16")

    def elements(self, tensor: str) -> int:
        """Elements of a tensor; 0 where there is none of that name."""
        size, kind = self.tensors.get(tensor, (0.0, ""))
        per = next((width for name, width in _TYPES.values() if name == kind), 0.0)
        return round(size / per) if per else 0

    def blocks_with(self, *endings: str) -> int:
        """In how many blocks (layers) there is a tensor of one of these names."""
        found = {
            name.split(".")[1]
            for name in self.tensors
            if name.startswith("blk.") and name.split(".", 2)[-1] in endings and len(name.split(".")) > 2
        }
        return len(found)


def _class_of(name: str) -> str:
    if name.startswith("token_embd"):
        return "embedding"
    if name.startswith("output."):
        return "head"
    if "_exps" in name:
        return "experts"
    if "nextn" in name or "mtp" in name:
        return "draft"
    if "norm" in name or "ffn_gate_inp" in name or name.endswith(".bias"):
        return "rest"
    return "dense" if "ffn_" in name else "mixers"


def read_gguf_file(path: Path) -> GgufFile:
    """Read the header of a GGUF file, and of the other files of the same model.

    Raises:
        UsageError: A file is missing, is not GGUF, or is cut off or damaged.
    """
    found = [_read_one(part) for part in _parts(path)]
    tensors = {name: tensor for one in found for name, tensor in one.tensors.items()}
    return GgufFile(found[0].metadata, tensors, found[0].items)


def _parts(path: Path) -> list[Path]:
    match = _PART.match(path.name)
    if match is None:
        return [path]
    count = int(match[3])
    if not 1 <= count <= _MAX_PARTS:
        msg = f"A model in {count} files is not one."
        raise UsageError(msg, where=str(path))
    parts = [path.with_name(f"{match[1]}-{number:05}-of-{match[3]}.gguf") for number in range(1, count + 1)]
    missing = [part.name for part in parts if not part.exists()]
    if missing:
        words = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise UsageError("Files of this model are missing.", where=str(path), hint=f"Needed beside it: {words}.")
    return parts


def _read_one(path: Path) -> GgufFile:
    try:
        if not path.is_file():
            reason = "It is not a file." if path.exists() else "There is no such file."
            raise UsageError("The GGUF file can not be read.", where=str(path), hint=reason)
        with path.open("rb") as file:
            return _header(GgufReader(file))
    except OSError as error:
        raise UsageError("The GGUF file can not be read.", where=str(path), hint=str(error.strerror)) from error
    except GgufError as error:
        msg = f"This is not a usable GGUF file: {error}."
        raise UsageError(msg, where=str(path)) from error


def _header(reader: GgufReader) -> GgufFile:
    head = reader.head()
    tensors: dict[str, tuple[float, str]] = {}
    for _ in range(_bounded(head.tensors, _MAX_TENSORS, "tensors")):
        name = reader.name()
        dims = [reader.uint64() for _ in range(_bounded(reader.uint32(), _MAX_DIMENSIONS, "dimensions of a tensor"))]
        kind, width = _TYPES.get(reader.uint32(), ("f16", 2.0))
        reader.uint64()  # where its data begins
        tensors[name] = (_bounded(math.prod(dims), _MAX_ELEMENTS, "elements of a tensor") * width, kind)
    return GgufFile(head.metadata, tensors, head.items)


def _bounded(value: int, most: int, what: str) -> int:
    if value > most:
        msg = f"its header claims too many {what}"
        raise GgufError(msg)
    return value
