"""Turn published speed rows into (instance, devices, context, batch, what was measured)."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from repertory.catalog.loader import Catalog
from repertory.catalog.records import Device
from repertory.errors import UsageError
from repertory.planning.instance import GIB, Instance, instance_of
from repertory.planning.vllm_memory import vllm_memory

__all__ = ("SpeedReading", "speed_readings")

HERE = Path(__file__).parent / "readings"

_MODELS = {
    "DeepSeek R1 14b distill": "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B",
    "DeepSeek R1 671b": "deepseek-ai/DeepSeek-R1",
    "cyberjuju/Qwen3-30B-A3B-Instruct-2507-AWQ-4bit-Q4_K_M-GGUF": "Qwen/Qwen3-30B-A3B-Instruct-2507",
    "LLaMA 3 8B": "meta-llama/Meta-Llama-3-8B-Instruct",
    "LLaMA 3 70B": "meta-llama/Meta-Llama-3-70B-Instruct",
}
_WEAK = (
    "unverified",
    "secondary",
    "vendor",
    "weak",
    "anomalous",
    "synthesized",
    "tool estimated",
    "not in the excerpt",
)
_OUTSIDE = re.compile(r"MTP|DFlash|spec True|spec decode|n-cpu-moe|RTX 2080|DeepSeek-V4")


@dataclass(frozen=True)
class Conditions:
    """What a row was measured with."""

    case: str
    instance: Instance
    device: Device
    devices: int
    weak: bool
    label: str


@dataclass(frozen=True)
class SpeedReading(Conditions):
    """One measured speed.

    Attributes:
        kind: `decode` (tokens per second of one request), `prefill`, or `saturated` (all tokens under unlimited load).
        context: Tokens before the measured ones; for `saturated` the output length.
    """

    kind: str
    context: int
    prompt: int
    batch: int
    measured: float


def _number(value: object) -> float | None:
    if isinstance(value, int | float):
        return float(value)
    found = [float(x) for x in re.findall(r"\d+\.?\d*", str(value or ""))]
    return sum(found[:2]) / len(found[:2]) if found else None


def _format(quant: str | None, engine: str) -> str | None:
    text = (quant or "").lower()
    gguf = "llama" in engine
    table = [
        ("mxfp4", "gguf-mxfp4_moe" if gguf else "mxfp4"), ("q4_k", "gguf-q4_k_m"), ("q4 default", "gguf-q4_k_m"),
        ("q4_0", "gguf-q4_0"), ("q8_0", "gguf-q8_0"), ("q6", "gguf-q6_k"), ("iq4_xs", "gguf-iq4_xs"),
        ("gptq", "gptq-int4"), ("awq", "awq-int4"), ("autoround", "gptq-int4"), ("nvfp4", "nvfp4"), ("fp4", "nvfp4"),
        ("fp8", "fp8"), ("w8a8", "int8"), ("w4a16", "w4a16"), ("bf16", "gguf-bf16" if gguf else "bf16"),
        ("f16", "gguf-f16" if gguf else "bf16"), ("16-bit", "bf16"),
    ]  # fmt: skip
    return next((name for key, name in table if key in text), None)


def speed_readings(catalog: Catalog) -> tuple[list[SpeedReading], list[tuple[str, str]]]:
    """All rows that can be predicted, and the others with the reason."""
    reader: Any = YAML(typ="safe")
    rows: list[dict[str, Any]] = reader.load((HERE / "speed_cases.yaml").read_text("utf-8"))["cases"]
    found: list[SpeedReading] = []
    skipped: list[tuple[str, str]] = []
    for row in rows:
        try:
            found += _row(row, catalog)
        except (UsageError, ValueError) as error:
            skipped.append((row["id"], str(error).split("\n")[0]))
    return found, skipped


def _conditions(row: dict[str, Any], catalog: Catalog, words: str) -> Conditions:
    engine_text = str(row.get("engine") or "").lower()
    if "tensorrt" in engine_text or not engine_text:
        msg = f"no model of the engine {row.get('engine')!r}"
        raise ValueError(msg)
    if _OUTSIDE.search(f"{words} {row['model']} {engine_text}"):
        raise ValueError("speculative decoding or expert offload, or a model that is not in the catalog")
    if row["gpu_count"] is None or "not named" in str(row["gpu"]):
        raise ValueError("the number of devices or their name is not stated")
    if "dp2" in words:
        raise ValueError("two replicas")
    engine = "llama.cpp" if "llama" in engine_text else "vllm"
    device = catalog.find_device(str(row["gpu"]).replace("\N{NON-BREAKING HYPHEN}", "-"))
    name = str(row["model"])
    model = _MODELS.get(name, name)
    count = int(row["gpu_count"])
    lower = words.lower()
    kv = "fp8" if "fp8 kv" in lower else "q8_0" if "kv q8_0" in lower or "q8_0 kv" in lower else "auto"
    instance = instance_of(
        catalog.choose(model, _format(row.get("quant"), engine), engine=engine),
        engine,
        tensor_parallel=count,
        eager="enforce-eager" in words and "drops" not in words,
        kv_dtype=kv,
    )
    label = f"{row['model']} {row.get('quant')} on {count}x {row['gpu']}"
    return Conditions(row["id"], instance, device, count, any(word in lower for word in _WEAK), label)


def _row(row: dict[str, Any], catalog: Catalog) -> list[SpeedReading]:
    words = f"{row.get('quant')} {row.get('conditions')} {row.get('note')}"
    given = _conditions(row, catalog, words)
    if not isinstance(row["concurrency"], int):
        return [_saturated(row, given)]
    context = row["context"] if isinstance(row.get("context"), int) else None
    length = re.search(r"prompt (\d+) out (\d+)", words)
    prompt, output = (int(length[1]), int(length[2])) if length else (0, 0)
    if row["id"] == "s211":
        prompt, output = 8192, 256
    found: list[tuple[str, float | None, float, int, int]] = []
    for key, value in row["metrics"].items():
        found += _decode(key, value, context, (prompt, output), row["concurrency"])
        found += _prefill(key, value, context, prompt)
    readings = [
        SpeedReading(**vars(given), kind=kind, context=int(at), prompt=tokens, batch=batch, measured=speed)
        for kind, speed, at, tokens, batch in found
        if speed
    ]
    if not readings:
        raise ValueError("no decode or prefill speed of its own (throughput under an unstated load, or tiny prompts)")
    return readings


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)


def _decode(
    key: str, value: Any, context: int | None, length: tuple[int, int], batch: int
) -> list[tuple[str, float | None, float, int, int]]:
    """Decode speeds of one metric: kind, speed, context, prompt, batch."""
    if key == "decode_tok_s" and _is_dict(value):
        speeds: dict[str, Any] = value
        middle = float(min(context or 2048, 2048))
        return [
            ("decode", _number(v), (_number(name) or 0) / 2 if name.startswith("tg") else middle, 0, 1)
            for name, v in speeds.items()
        ]
    if key in ("decode_tok_s", "per_request_tok_s"):
        at = length[0] + length[1] / 2 if length[1] else min(context or 1024, 2048)
        return [("decode", _number(value), at, 0, batch)]
    if key == "decode_tok_s_tg32":
        return [("decode", _number(value), (context or 0) + 16, 0, batch)]
    if key == "aggregate_decode_tok_s":
        return [("decode", float(value) / batch, (context or 512) + 16, 0, batch)]
    if key == "output_tok_s" and batch > 1:
        return [("decode", float(value) / batch, 400, 0, batch)]
    return []


def _prefill(key: str, value: Any, context: int | None, prompt: int) -> list[tuple[str, float | None, float, int, int]]:
    """Prefill speeds of one metric, in the same form."""
    if key == "prefill_tok_s" and _is_dict(value):
        speeds: dict[str, Any] = value
        return [
            ("prefill", _number(v), 0, int(_number(name) or 0) if name.startswith("pp") else _LONG["10K" in name], 1)
            for name, v in speeds.items()
        ]
    if key == "prefill_tok_s_pp2048":
        return [("prefill", _number(value), context or 0, 2048, 1)]
    if key == "prefill_tok_s" and prompt >= 256:
        return [("prefill", _number(value), 0, prompt, 1)]
    return []


_LONG = {True: 10_000, False: 86_785}
"""Prompt lengths of the rows that name them in words."""


def _saturated(row: dict[str, Any], given: Conditions) -> SpeedReading:
    load = re.fullmatch(r"(\d+) in / (\d+) out", str(row.get("context")))
    unlimited = "unlimited" in str(row["concurrency"]) and given.devices == 1
    if load is None or not unlimited or int(load[1]) < 1000:
        raise ValueError("the load is not stated as a number of requests")
    rank = vllm_memory(given.instance, given.device.memory_gib.value, given.device.name).ranks[0]
    tokens = max(rank.kv_pool, 0.3 * GIB) / max(rank.kv_bytes_per_token, 1)
    batch = int(max(1, min(256, tokens / (int(load[1]) + int(load[2])))))
    total = float(row["metrics"]["baseline_total_tok_s"])
    return SpeedReading(
        **vars(given), kind="saturated", context=int(load[2]), prompt=int(load[1]), batch=batch, measured=total
    )
