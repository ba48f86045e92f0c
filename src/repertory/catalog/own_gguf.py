"""A model of one's own from the header of its GGUF file: dimensions and the exact bytes of every tensor.

The format is described in `docs/gguf.md` of ggml. Only the header is read. A header that claims more than the file
holds, or than a header can be, is refused.
"""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from repertory.catalog.architecture import Architecture
from repertory.catalog.formats import FORMATS, WeightBytes, format_of
from repertory.catalog.loader import Choice
from repertory.catalog.records import Checkpoint, Model, Serving
from repertory.errors import UsageError

__all__ = ("GgufFile", "read_gguf")

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

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_MAX_ENTRIES = 200_000
_MAX_STRING = 16_000_000

Value = int | float | str | list[object] | None


class GgufFile:
    """What a GGUF header says."""

    def __init__(self, metadata: dict[str, Value], tensors: dict[str, tuple[float, str]]) -> None:
        self.metadata = metadata
        self.tensors = tensors
        """Name -> bytes and type."""

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


def read_gguf(path: Path) -> tuple[Choice, GgufFile]:
    """Read a GGUF header.

    Raises:
        UsageError: The file is not GGUF, is cut off, or is of a family whose dimensions are not known here.
    """
    try:
        with path.open("rb") as file:
            header = _header(file, path)
    except OSError as error:
        raise UsageError("The GGUF file can not be read.", where=str(path), hint=str(error.strerror)) from error
    except (struct.error, UnicodeDecodeError) as error:
        raise UsageError("The GGUF header is cut off or damaged.", where=str(path)) from error
    arch = _architecture(header, path)
    kind = header.common_type
    spec = format_of(f"gguf-{kind}") or format_of(f"gguf-{kind}_m") or FORMATS["gguf-q4_k_m"]
    meta = header.metadata
    family = str(meta.get("general.architecture", "own"))
    checkpoint = Checkpoint(
        repo=str(path), format=spec.name, source=str(path), bytes=max(1, round(header.weights.total)), bytes_exact=True
    )
    model = Model(
        id=str(meta.get("general.name") or path.stem),
        family=family,
        license=str(meta.get("general.license") or "see the model"),
        total_b=arch.parameters.text / 1e9,
        active_b=arch.active_matrix_parameters / 1e9,
        params_source=str(path),
        max_context=_integer(meta, f"{family}.context_length", 4096),
        native_format=spec.name,
        arch=arch,
        arch_sources=[str(path)],
        serving=Serving(source=str(path)),
        checkpoints=[checkpoint],
    )
    return Choice(model, spec, checkpoint), header


def _header(file: BinaryIO, path: Path) -> GgufFile:
    def take(form: str) -> int:
        return struct.unpack(form, _exactly(file, struct.calcsize(form)))[0]

    if file.read(4) != b"GGUF":
        raise UsageError("This is not a GGUF file.", where=str(path))
    version = take("<I")
    if version not in (2, 3):
        msg = f"GGUF version {version} is not known."
        raise UsageError(msg, where=str(path))
    count, entries = take("<Q"), take("<Q")
    if count > _MAX_ENTRIES or entries > _MAX_ENTRIES:
        raise UsageError("The GGUF header claims too many entries.", where=str(path))
    metadata: dict[str, Value] = {}
    for _ in range(entries):
        key = _string(file, take)
        metadata[key] = _value(file, take, take("<I"), path)
    tensors: dict[str, tuple[float, str]] = {}
    for _ in range(count):
        name = _string(file, take)
        dims = take("<I")
        if dims > 8:
            raise UsageError("A tensor has too many dimensions.", where=str(path))
        elements = 1
        for _ in range(dims):
            elements *= take("<Q")
        kind, size = _TYPES.get(take("<I"), ("f16", 2.0))
        take("<Q")
        tensors[name] = (elements * size, kind)
    return GgufFile(metadata, tensors)


def _exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        msg = "end of file"
        raise struct.error(msg)
    return data


def _string(file: BinaryIO, take: Callable[[str], int]) -> str:
    size = take("<Q")
    if size > _MAX_STRING:
        msg = "string too long"
        raise struct.error(msg)
    return _exactly(file, size).decode("utf-8")


def _value(file: BinaryIO, take: Callable[[str], int], kind: int, path: Path) -> Value:
    if kind == _STRING:
        return _string(file, take)
    if kind == _ARRAY:
        inner, length = take("<I"), take("<Q")
        if length > 10_000_000:
            raise UsageError("The GGUF header holds an array that is too long.", where=str(path))
        kept: list[object] = []
        for index in range(length):
            item = _value(file, take, inner, path)
            if index < 4096:
                kept.append(item)
        return kept
    if kind not in _SCALARS:
        msg = f"unknown value type {kind}"
        raise struct.error(msg)
    return take(_SCALARS[kind])


def _integer(meta: dict[str, Value], key: str, default: int = 0) -> int:
    value = meta.get(key, default)
    if isinstance(value, list):  # one number per layer: the most counts
        value = max((item for item in value if isinstance(item, int)), default=default)
    return int(value) if isinstance(value, int | float) else default


def _architecture(header: GgufFile, path: Path) -> Architecture:
    meta = header.metadata
    family = str(meta.get("general.architecture", ""))

    def number(key: str, default: int = 0) -> int:
        return _integer(meta, f"{family}.{key}", default)

    layers, hidden, heads = number("block_count"), number("embedding_length"), number("attention.head_count")
    if not (family and layers and hidden and heads):
        raise UsageError(
            "The GGUF header does not say how many layers and heads there are.",
            where=str(path),
            hint="Only decoder models with attention can be estimated from a file.",
        )
    vocab = number("vocab_size")
    tokens = meta.get("tokenizer.ggml.tokens")
    if not vocab and isinstance(tokens, list):
        vocab = len(tokens)
    head_dim = number("attention.key_length", hidden // heads)
    experts = number("expert_count")
    facts: dict[str, object] = {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "vocab": _vocab(header, hidden) or max(vocab, 1),
        "tied": "output.weight" not in header.tensors,
        "intermediate": number("feed_forward_length"),
        "ffn": {"moe" if experts else "dense": layers},
    }
    if experts:
        facts |= {
            "experts": experts,
            "experts_per_token": max(number("expert_used_count"), 1),
            "expert_intermediate": number("expert_feed_forward_length", number("feed_forward_length")),
            "shared_intermediate": number("expert_shared_feed_forward_length"),
        }
    group: dict[str, object] = {
        "kind": "full",
        "layers": layers,
        "kv_heads": number("attention.head_count_kv", heads),
        "head_dim": head_dim,
    }
    window = number("attention.sliding_window")
    pattern = number(
        "attention.sliding_window_pattern", {"gemma2": 2, "gemma3": 6, "gpt-oss": 2, "cohere2": 4}.get(family, 0)
    )
    if window and pattern:
        full = layers // pattern
        facts["attention"] = [{**group, "layers": full}, {**group, "kind": "sliding", "window": window,
                                                          "layers": layers - full}]  # fmt: skip
    else:
        facts["attention"] = [group]
    return Architecture.model_validate(facts)


def _vocab(header: GgufFile, hidden: int) -> int:
    size, kind = header.tensors.get("token_embd.weight", (0.0, ""))
    per = next((bytes_ for name, bytes_ in _TYPES.values() if name == kind), 0.0)
    return round(size / per / hidden) if per else 0
