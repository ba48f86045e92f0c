"""Measure the planner's predictions on the published readings and write `benchmarks/results/planner.json`.

    .venv/bin/python -m benchmarks.planner [--no-peers] [--torch SPEC]

The peers are installed into an environment of their own in the cache folder at the first run.
"""

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from benchmarks.planner.casting_speed import measure_casting
from benchmarks.planner.fit_speed import holdout, predicted
from benchmarks.planner.llamacpp_rows import llamacpp_pairs
from benchmarks.planner.memory_table import memory_tables, summary
from benchmarks.planner.peers import peer_environment
from benchmarks.planner.speed_rows import speed_readings
from repertory.catalog.loader import Catalog, load_catalog

RESULTS = Path(__file__).parents[1] / "results" / "planner.json"


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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planner", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--no-peers", action="store_true", help="ask only the rules that need no package")
    parser.add_argument(
        "--torch", default="torch", help="what to install as PyTorch for the peers (a CPU build will do)"
    )
    parser.add_argument("--peers-python", type=Path, help="Python of an environment that has the peers already")
    options = parser.parse_args()
    python = None if options.no_peers else options.peers_python or peer_environment(options.torch)
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
        "casting": measure_casting(catalog),
        "vllm_memory": memory_tables(catalog, python),
        "llama_cpp_memory": {"errors": summary([r["error"] for r in pairs if "weak" not in r]), "rows": pairs},
        "speed": speeds(catalog),
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(tables, ensure_ascii=False, indent=1) + "\n", "utf-8")
    shown = {key: value for key, value in tables["vllm_memory"].items() if key not in ("rows", "not_predicted")}
    shown |= {"llama.cpp": tables["llama_cpp_memory"]["errors"], "speed": tables["speed"]["errors"]}
    shown["speed on cases that the fit did not see"] = tables["speed"]["fitted_on_one_half_tested_on_the_other"]
    print(json.dumps(shown | {"casting": tables["casting"]}, indent=1))


if __name__ == "__main__":
    main()
