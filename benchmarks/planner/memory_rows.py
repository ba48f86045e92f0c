"""Turn vLLM start-up logs into (instance, device, what was printed)."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from repertory.catalog.loader import Catalog
from repertory.errors import UsageError
from repertory.planning.instance import GIB, EngineVersion, Instance, instance_of
from repertory.planning.kv_cache import kv_layout

__all__ = ("MemoryReading", "device_gib", "printed_pool_gib", "vllm_readings")

HERE = Path(__file__).parent / "readings"

# What a row says in words, or what its own figures show (the note in the row, or bytes per token that only an 8-bit
# cache gives: 122,886 for gemma-4-26B-A4B, 49,198 and 53,567 for Qwen3.5-122B-A10B).
_EXTRA: dict[str, dict[str, Any]] = {
    "v081": {"kv_dtype": "fp8", "draft": True},
    "v082": {"kv_dtype": "fp8"},
    "v084": {"kv_dtype": "fp8"},
    "v055": {"skip": "3 bits per cached element, which no public figure describes"},
    "v073": {"gib": 95.6},
    "v036": {"version": (0, 11)},
    "v037": {"version": (0, 10)},
    "v058": {"version": (0, 5)},
    "v067": {"skip": "the type of the KV cache is not stated, and the figure fits no 16-bit one"},
    "v069": {"skip": "the quantisation is not stated, and 16-bit weights exceed the card"},
    "v043": {"weak": "a fork of vLLM"},
    "v054": {"weak": "figures rounded by the reporter"},
    "v015": {"weak": "V0 profiles 128 images at once, which is not modelled"},
    "v091": {"weak": "other tenants on shared memory"},
}
"""Versions are by the date of the issue where the log does not print one."""
_DEVICE_GIB = {"v019": 93.1, "v028": 23.57, "v027": 23.6, "v081": 122.8, "v082": 122.8, "v084": 122.8}


@dataclass(frozen=True)
class MemoryReading:
    """One start-up log."""

    case: str
    label: str
    family: str
    instance: Instance
    device_gib: float | None
    device_name: str
    weights_gib: float | None
    pool_gib: float | None
    pool_tokens: int | None
    bytes_per_token: float | None
    outcome: str
    note: str = ""
    weak: str = ""


def number(value: Any) -> float | None:
    """The first number of a printed figure (`5.29 GiB`, `~525k`, `1,037,152`)."""
    if value is None:
        return None
    match = re.search(r"-?\d+(?:\.\d+)?", str(value).replace(",", ""))
    if match is None:
        return None
    return float(match.group()) * (1000 if re.search(r"\dk\b", str(value)) else 1)


def _version(row: dict[str, Any]) -> EngineVersion | None:
    match = re.search(r"(\d+)\.(\d+)", str(row.get("vllm_version") or ""))
    if match:
        return (int(match[1]), int(match[2]))
    return (0, 6) if str(row.get("engine") or "").startswith("V0") else None


def vllm_readings(catalog: Catalog) -> tuple[list[MemoryReading], list[tuple[str, str]]]:
    """Rows that can be predicted, and the others with the reason."""
    reader: Any = YAML(typ="safe")
    rows: list[dict[str, Any]] = reader.load((HERE / "vllm_memory_cases.yaml").read_text("utf-8"))["cases"]
    found: list[MemoryReading] = []
    skipped: list[tuple[str, str]] = []
    for row in rows:
        extra = dict(_EXTRA.get(row["id"], {}))
        if "skip" in extra:
            skipped.append((row["id"], str(extra["skip"])))
            continue
        if not row.get("model"):
            skipped.append((row["id"], "the log does not name the model"))
            continue
        name = re.sub(r" (class .*|family)$", "", re.sub(r" \+ MTP| resharded.*", "", row["model"]))
        quant = str(row.get("quant") or "")
        wanted = next((f for f in ("AWQ", "GPTQ", "FP8", "MXFP4", "NVFP4", "bitsandbytes", "w8a8", "AutoRound")
                       if f.lower() in quant.lower()), None)  # fmt: skip
        try:
            choice = catalog.choose(name, None if catalog_names_format(catalog, name) else wanted)
            found.append(_reading(row, choice, extra))
        except UsageError as error:
            skipped.append((row["id"], error.message))
    return found, skipped


def catalog_names_format(catalog: Catalog, name: str) -> bool:
    """Whether the model's name says the format itself."""
    choice = catalog.choose(name)
    return choice.format.name != choice.model.native_format


def _device_gib(row: dict[str, Any], gpu: str, printed: dict[str, Any], extra: dict[str, Any]) -> float | None:
    """Total memory where the log prints it; None leaves it to the card's name."""
    total = number(printed.get("total_gpu_memory")) or extra.get("gib") or _DEVICE_GIB.get(row["id"])
    if total is not None:
        return total
    shown = re.search(r"(\d+\.\d+)GiB x", str(printed.get("total_x_util", "")))
    named = re.search(r"(\d+\.\d+) ?GiB", gpu) if "device" in gpu or "GPU (" in gpu else None
    found = shown or named
    return float(found[1]) if found else None


def _reading(row: dict[str, Any], choice: Any, extra: dict[str, Any]) -> MemoryReading:
    flags: dict[str, Any] = row.get("flags") or {}
    printed: dict[str, Any] = row.get("printed") or {}
    settings: dict[str, object] = {
        "tensor_parallel": row.get("tp") or row.get("gpu_count") or 1,
        "pipeline_parallel": row.get("pp") or 1,
        "utilization": flags.get("gpu_memory_utilization"),
        "context": flags["max_model_len"] if isinstance(flags.get("max_model_len"), int) else None,
        "batched_tokens": flags.get("max_num_batched_tokens"),
        "max_seqs": flags.get("max_num_seqs"),
        "kv_dtype": extra.get("kv_dtype") or flags.get("kv_cache_dtype") or "auto",
        "eager": bool(flags.get("enforce_eager")),
        "version": extra.get("version") or _version(row),
        "draft": bool(extra.get("draft")),
    }
    if settings["utilization"] is None and settings["version"] is None:
        settings["utilization"] = 0.9  # the default of every version up to 0.21
    gpu = str(row.get("gpu") or "")
    total = _device_gib(row, gpu, printed, extra)
    weights = number(printed.get("weights") or printed.get("weights_per_gpu"))
    pool = number(printed.get("available_kv_cache") or printed.get("kv_cache_size") or printed.get("kv_reserved"))
    if pool is not None and "~" in str(printed.get("available_kv_cache")):
        pool *= 1e9 / 2**30
    tokens = number(printed.get("kv_tokens") or printed.get("max_tokens_in_kv"))
    if tokens is None and printed.get("gpu_blocks"):
        tokens = 16.0 * float(printed["gpu_blocks"])
    return MemoryReading(
        case=row["id"],
        family=choice.model.family,
        label=f"{row['model']} {row.get('quant') or ''} on {row.get('gpu_count') or 1}x {gpu}".replace("  ", " "),
        instance=instance_of(choice, "vllm", **settings),
        device_gib=total,
        device_name=gpu,
        weights_gib=weights,
        pool_gib=pool,
        pool_tokens=int(tokens) if tokens else None,
        bytes_per_token=row.get("derived_bytes_per_token_per_gpu"),
        outcome=str(row["outcome"]),
        note=str(row.get("note") or ""),
        weak=str(extra.get("weak", "")),
    )


def device_gib(reading: MemoryReading, catalog: Catalog) -> float | None:
    """Memory of the device: as the log prints it, else of the card of that name."""
    if reading.device_gib is not None:
        return reading.device_gib
    try:
        return catalog.find_device(reading.device_name.split(" + ")[0]).memory_gib.value
    except UsageError:
        return None


def printed_pool_gib(reading: MemoryReading) -> float | None:
    """The KV pool that the log prints, in GiB, or that its tokens stand for."""
    if reading.pool_gib is not None or not reading.pool_tokens:
        return reading.pool_gib
    instance = reading.instance
    layout = kv_layout(instance.arch, instance.kv_dtype, instance.tensor_parallel)
    if len(layout.groups) == 1:
        return reading.pool_tokens * layout.marginal_bytes / GIB
    need = layout.request_blocks(instance.longest, instance.batched_tokens or 2048)
    return reading.pool_tokens / instance.longest * need * layout.bytes_per_block / GIB
