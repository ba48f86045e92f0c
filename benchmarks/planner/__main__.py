"""Measure the planner's predictions on the published readings and write `benchmarks/results/planner.json`.

.venv/bin/python -m benchmarks.planner
"""

import json
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.planner.casting_speed import measure_casting
from benchmarks.planner.fit_speed import predicted
from benchmarks.planner.llamacpp_rows import llamacpp_pairs
from benchmarks.planner.memory_rows import MemoryReading, vllm_readings
from benchmarks.planner.peers import PEERS, peer_says_fits, peer_weights_gib
from benchmarks.planner.speed_rows import speed_readings
from repertory.catalog.loader import Catalog, load_catalog
from repertory.errors import UsageError
from repertory.planning.instance import GIB
from repertory.planning.kv_cache import kv_layout
from repertory.planning.vllm_memory import rank_weights, vllm_memory

RESULTS = Path(__file__).parents[1] / "results" / "planner.json"


def summary(errors: Sequence[float]) -> dict[str, Any]:
    sizes = sorted(abs(error) for error in errors)
    if not sizes:
        return {"rows": 0}
    return {
        "rows": len(sizes),
        "median": round(statistics.median(sizes), 4),
        "p90": round(sizes[int(0.9 * (len(sizes) - 1))], 4),
        "worst": round(sizes[-1], 4),
    }


def device_gib(reading: MemoryReading, catalog: Catalog) -> float | None:
    if reading.device_gib is not None:
        return reading.device_gib
    try:
        return catalog.find_device(reading.device_name.split(" + ")[0]).memory_gib.value
    except UsageError:
        return None


def printed_bytes_per_token(reading: MemoryReading) -> float:
    """Pool bytes per printed token: for hybrid models, whose token count depends on the printing version, by layout."""
    layout = kv_layout(reading.instance.arch, reading.instance.kv_dtype, reading.instance.tensor_parallel,
                       draft_layers=int(reading.instance.draft))  # fmt: skip
    if len(layout.groups) == 1:
        return layout.marginal_bytes
    if reading.case == "v031":  # prints concurrency times the longest context
        need = layout.request_blocks(reading.instance.longest, reading.instance.batched_tokens or 2048)
        return layout.bytes_per_block * need / reading.instance.longest
    block = min(group.block for group in layout.groups if group.kind not in ("linear", "mamba2"))
    return layout.bytes_per_block * len(layout.groups) / block


def memory(catalog: Catalog) -> dict[str, Any]:
    readings, skipped = vllm_readings(catalog)
    rows: list[dict[str, Any]] = []
    per_token, weights, known, pools, weak = [], [], [], [], []  # type: list[float], list[float], list[float], list[float], list[float]
    right = wrong = silent = 0
    peers = {peer: {"right": 0, "rows": 0, "weights": []} for peer in PEERS}
    for reading in readings:
        row: dict[str, Any] = {"case": reading.case, "what": reading.label, "outcome": reading.outcome}
        if reading.weak:
            row["weak"] = reading.weak
        if reading.bytes_per_token:
            row["kv_bytes_per_token"] = [reading.bytes_per_token, round(printed_bytes_per_token(reading))]
            per_token.append(printed_bytes_per_token(reading) / reading.bytes_per_token - 1)
        if reading.weights_gib:
            mine = rank_weights(reading.instance) / GIB
            row["weights_gib"] = [reading.weights_gib, round(mine, 2)]
            error = mine / reading.weights_gib - 1
            weights.append(error)
            if reading.instance.weights_known or reading.instance.format.name == "bf16":
                known.append(error)
            for peer in PEERS:
                peers[peer]["weights"].append(peer_weights_gib(peer, reading.instance) / reading.weights_gib - 1)  # type: ignore[attr-defined]
        total = device_gib(reading, catalog)
        if total is not None:
            result = vllm_memory(reading.instance, total, reading.device_name)
            pool = reading.pool_gib
            if pool is None and reading.pool_tokens:
                layout = kv_layout(reading.instance.arch, reading.instance.kv_dtype, reading.instance.tensor_parallel)
                if len(layout.groups) == 1:
                    pool = reading.pool_tokens * layout.marginal_bytes / GIB
                else:
                    need = layout.request_blocks(reading.instance.longest, reading.instance.batched_tokens or 2048)
                    pool = reading.pool_tokens / reading.instance.longest * need * layout.bytes_per_block / GIB
            if pool is not None:
                row["kv_pool_gib"] = [round(pool, 2), round(result.ranks[0].kv_pool / GIB, 2)]
                if pool > 0:
                    (weak if reading.weak else pools).append(result.ranks[0].kv_pool / GIB / pool - 1)
            started = reading.outcome.startswith("ok")
            row["fits"] = [started, result.fits]
            if not reading.weak:
                right += result.fits == started
                wrong += result.fits != started
                for peer in PEERS:
                    peers[peer]["rows"] += 1  # type: ignore[operator]
                    peers[peer]["right"] += peer_says_fits(peer, reading.instance, total) == started  # type: ignore[operator]
            if result.fits and not started:
                row["risks"] = list(result.risks)
                silent += not result.risks
        rows.append(row)
    return {
        "kv_bytes_per_token": summary(per_token),
        "weights": summary(weights),
        "weights_where_the_size_is_known": summary(known),
        "kv_pool": summary(pools),
        "kv_pool_weak_evidence": summary(weak),
        "fits": {"right": right, "wrong": wrong, "share": round(right / max(right + wrong, 1), 4),
                 "says_fits_without_naming_a_risk_where_it_failed": silent},
        "peers": {
            peer: {
                "fits_share": round(values["right"] / max(values["rows"], 1), 4),  # type: ignore[operator,type-var]
                "weights": summary(values["weights"]),  # type: ignore[arg-type]
                "kv_pool": "not predicted",
            }
            for peer, values in peers.items()
        } | {"gguf-parser": "not run: it is a Go program, and no Go toolchain is here"},
        "rows": rows,
        "not_predicted": dict(skipped),
    }  # fmt: skip


def speeds(catalog: Catalog) -> dict[str, Any]:
    readings, skipped = speed_readings(catalog)
    groups: dict[str, list[float]] = {}
    rows: list[dict[str, Any]] = []
    for reading in readings:
        mine = predicted(reading)
        kind = f"{reading.kind}, {reading.instance.engine}" + (", weak evidence" if reading.weak else "")
        error = mine / reading.measured - 1
        groups.setdefault(kind, []).append(error)
        if not reading.weak:
            groups.setdefault(f"{reading.kind}, all", []).append(error)
        rows.append({"case": reading.case, "kind": reading.kind, "what": reading.label, "context": reading.context,
                     "prompt": reading.prompt, "batch": reading.batch, "measured": reading.measured,
                     "predicted": round(mine, 2), "weak": reading.weak})  # fmt: skip
    return {
        "errors": {kind: summary(v) for kind, v in sorted(groups.items())},
        "rows": rows,
        "not_predicted": dict(skipped),
    }


def main() -> None:
    catalog = load_catalog()
    pairs = llamacpp_pairs(catalog)
    results = {
        "command": ".venv/bin/python -m benchmarks.planner",
        "machine": {
            "system": platform.system(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "python": sys.version.split()[0],
            "load_at_start": round(os.getloadavg()[0], 2),
        },
        "vllm_memory": memory(catalog),
        "llama_cpp_memory": {"errors": summary([row["error"] for row in pairs if "weak" not in row]), "rows": pairs},
        "speed": speeds(catalog),
        "casting": measure_casting(catalog),
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", "utf-8")
    shown = {key: value for key, value in results["vllm_memory"].items() if key not in ("rows", "not_predicted")}  # type: ignore[attr-defined]
    print(json.dumps(shown, indent=1))
    print(json.dumps(results["llama_cpp_memory"], indent=1))
    print(json.dumps(results["speed"]["errors"], indent=1))  # type: ignore[index]
    print(json.dumps(results["casting"], indent=1))


if __name__ == "__main__":
    main()
