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
from benchmarks.planner.fit_speed import holdout, predicted
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


class MemoryTable:
    """Errors of the memory model, collected row by row."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.errors: dict[str, list[float]] = {key: [] for key in ("per_token", "weights", "known", "pool", "weak")}
        self.right = self.wrong = self.silent = 0
        self.peer_errors: dict[str, list[float]] = {peer: [] for peer in PEERS}
        self.peer_right: dict[str, int] = dict.fromkeys(PEERS, 0)

    def row(self, reading: MemoryReading) -> dict[str, Any]:
        """Compare one log."""
        row: dict[str, Any] = {"case": reading.case, "what": reading.label, "outcome": reading.outcome}
        if reading.weak:
            row["weak"] = reading.weak
        if reading.bytes_per_token:
            mine = printed_bytes_per_token(reading)
            row["kv_bytes_per_token"] = [reading.bytes_per_token, round(mine)]
            self.errors["per_token"].append(mine / reading.bytes_per_token - 1)
        if reading.weights_gib:
            row["weights_gib"] = [reading.weights_gib, self._weights(reading, reading.weights_gib)]
        total = device_gib(reading, self.catalog)
        if total is not None:
            row |= self._device(reading, total)
        return row

    def _weights(self, reading: MemoryReading, printed: float) -> float:
        mine = rank_weights(reading.instance) / GIB
        self.errors["weights"].append(mine / printed - 1)
        if reading.instance.weights_known or reading.instance.format.name == "bf16":
            self.errors["known"].append(mine / printed - 1)
        for peer in PEERS:
            self.peer_errors[peer].append(peer_weights_gib(peer, reading.instance) / printed - 1)
        return round(mine, 2)

    def _device(self, reading: MemoryReading, total: float) -> dict[str, Any]:
        result = vllm_memory(reading.instance, total, reading.device_name)
        row: dict[str, Any] = {}
        pool = printed_pool_gib(reading)
        if pool is not None:
            mine = result.ranks[0].kv_pool / GIB
            row["kv_pool_gib"] = [round(pool, 2), round(mine, 2)]
            if pool > 0:
                self.errors["weak" if reading.weak else "pool"].append(mine / pool - 1)
        started = reading.outcome.startswith("ok")
        row["fits"] = [started, result.fits]
        if not reading.weak:
            self.right += result.fits == started
            self.wrong += result.fits != started
            for peer in PEERS:
                self.peer_right[peer] += peer_says_fits(peer, reading.instance, total) == started
        if result.fits and not started:
            row["risks"] = list(result.risks)
            self.silent += not result.risks
        return row


def printed_pool_gib(reading: MemoryReading) -> float | None:
    if reading.pool_gib is not None or not reading.pool_tokens:
        return reading.pool_gib
    instance = reading.instance
    layout = kv_layout(instance.arch, instance.kv_dtype, instance.tensor_parallel)
    if len(layout.groups) == 1:
        return reading.pool_tokens * layout.marginal_bytes / GIB
    need = layout.request_blocks(instance.longest, instance.batched_tokens or 2048)
    return reading.pool_tokens / instance.longest * need * layout.bytes_per_block / GIB


def memory(catalog: Catalog) -> dict[str, Any]:
    readings, skipped = vllm_readings(catalog)
    table = MemoryTable(catalog)
    rows = [table.row(reading) for reading in readings]
    judged = max(table.right + table.wrong, 1)
    peers: dict[str, Any] = {
        peer: {
            "fits_share": round(table.peer_right[peer] / judged, 4),
            "weights": summary(table.peer_errors[peer]),
            "kv_pool": "not predicted",
        }
        for peer in PEERS
    }
    peers["gguf-parser"] = "not run: it is a Go program, and no Go toolchain is here"
    return {
        "kv_bytes_per_token": summary(table.errors["per_token"]),
        "weights": summary(table.errors["weights"]),
        "weights_where_the_size_is_known": summary(table.errors["known"]),
        "kv_pool": summary(table.errors["pool"]),
        "kv_pool_weak_evidence": summary(table.errors["weak"]),
        "fits": {
            "right": table.right,
            "wrong": table.wrong,
            "share": round(table.right / judged, 4),
            "says_fits_without_naming_a_risk_where_it_failed": table.silent,
        },
        "peers": peers,
        "rows": rows,
        "not_predicted": dict(skipped),
    }


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
    errors = {kind: summary(values) for kind, values in sorted(groups.items())}
    return {
        "errors": errors,
        "fitted_on_one_half_tested_on_the_other": holdout(),
        "rows": rows,
        "not_predicted": dict(skipped),
    }


def main() -> None:
    catalog = load_catalog()
    pairs = llamacpp_pairs(catalog)
    tables: dict[str, Any] = {
        "command": ".venv/bin/python -m benchmarks.planner",
        "machine": {
            "system": platform.system(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "python": sys.version.split()[0],
            "load_at_start": round(os.getloadavg()[0], 2),
        },
        "vllm_memory": memory(catalog),
        "llama_cpp_memory": {"errors": summary([r["error"] for r in pairs if "weak" not in r]), "rows": pairs},
        "speed": speeds(catalog),
        "casting": measure_casting(catalog),
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(tables, ensure_ascii=False, indent=1) + "\n", "utf-8")
    shown = {key: value for key, value in tables["vllm_memory"].items() if key not in ("rows", "not_predicted")}
    shown |= {"llama.cpp": tables["llama_cpp_memory"]["errors"], "speed": tables["speed"]["errors"]}
    shown["speed on cases that the fit did not see"] = tables["speed"]["fitted_on_one_half_tested_on_the_other"]
    print(json.dumps(shown | {"casting": tables["casting"]}, indent=1))


if __name__ == "__main__":
    main()
