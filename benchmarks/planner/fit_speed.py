"""Fit the efficiencies of `repertory.planning.speed` on the published readings and print them with their errors.

    .venv/bin/python -m benchmarks.planner.fit_speed

Minimises the mean absolute log error of the readings without a weakness mark; rows of one source table count together
as one row each per case, so that a table with many lengths does not outweigh the rest.
"""

import math
import random
from collections import defaultdict
from dataclasses import fields, replace

from benchmarks.planner.speed_rows import SpeedReading, speed_readings
from repertory.catalog.loader import load_catalog
from repertory.planning import speed

BOUNDS = {
    "bandwidth": (0.5, 0.95), "expert_bandwidth": (0.2, 0.9), "cache_bandwidth": (0.3, 0.9), "layer_s": (5e-6, 100e-6),
    "step_s": (1e-5, 3e-3), "compute": (0.1, 0.95), "scaling": (0.4, 1.0), "expert_compute": (0.08, 1.0),
    "attention_compute": (0.08, 1.0), "ceiling": (600.0, 8000.0),
}  # fmt: skip


def predicted(reading: SpeedReading) -> float:
    if reading.kind == "decode":
        return speed.decode_speed(reading.instance, reading.device, reading.context, reading.batch).tok_s
    if reading.kind == "saturated":
        return speed.saturated_tok_s(reading.instance, reading.device, reading.prompt, reading.context, reading.batch)
    return speed.prefill_speed(reading.instance, reading.device, reading.prompt, reading.context).tok_s


def family(reading: SpeedReading) -> str:
    if reading.instance.engine != "llama.cpp":
        return "vllm"
    return "llama.cpp f16" if reading.instance.format.linear >= 16 and not reading.instance.arch.is_moe else "llama.cpp"


def loss(readings: list[SpeedReading]) -> float:
    cases: dict[tuple[str, str], list[float]] = defaultdict(list)
    for reading in readings:
        cases[reading.case, reading.kind].append(abs(math.log(predicted(reading) / reading.measured)))
    return sum(sum(v) / len(v) for v in cases.values()) / len(cases)


def fit(name: str, readings: list[SpeedReading], rounds: int = 14, *, quiet: bool = False) -> None:
    random.seed(7)
    best = loss(readings)
    widths = dict.fromkeys(BOUNDS, 0.35)
    for _ in range(rounds):
        for key, (low, high) in BOUNDS.items():
            for sign in (1, -1):
                now = speed.EFFICIENCY[name]
                value = min(high, max(low, getattr(now, key) * math.exp(sign * widths[key])))
                speed.EFFICIENCY[name] = replace(now, **{key: value})
                trial = loss(readings)
                if trial < best - 1e-6:
                    best = trial
                    break
                speed.EFFICIENCY[name] = now
            else:
                widths[key] *= 0.6
    values = ", ".join(f"{f.name}={getattr(speed.EFFICIENCY[name], f.name):.4g}" for f in fields(speed.Efficiency))
    if quiet:
        return
    print(f"{name}: loss {best:.3f}  {values}")


def holdout() -> dict[str, dict[str, float]]:
    """Median errors on every second case, with efficiencies that were fitted on the others."""
    readings, _ = speed_readings(load_catalog())
    good = [reading for reading in readings if not reading.weak]
    kept = dict(speed.EFFICIENCY)
    order = {case: index for index, case in enumerate(sorted({reading.case for reading in good}))}
    errors: dict[str, list[float]] = defaultdict(list)
    try:
        for half in (0, 1):
            for name, before in kept.items():
                speed.EFFICIENCY[name] = before
                fit(name, [r for r in good if family(r) == name and order[r.case] % 2 != half], quiet=True)
            for reading in good:
                if order[reading.case] % 2 == half:
                    errors[reading.kind].append(abs(predicted(reading) / reading.measured - 1))
    finally:
        speed.EFFICIENCY.update(kept)
    return {kind: {"rows": len(v), "median": round(sorted(v)[len(v) // 2], 4)} for kind, v in sorted(errors.items())}


def main() -> None:
    readings, _ = speed_readings(load_catalog())
    good = [reading for reading in readings if not reading.weak]
    for name in speed.EFFICIENCY:
        fit(name, [reading for reading in good if family(reading) == name])
    for kind in ("decode", "prefill", "saturated"):
        for name in speed.EFFICIENCY:
            ratios = sorted(r.measured / predicted(r) for r in good if r.kind == kind and family(r) == name)
            if ratios:
                q = [ratios[int(share * (len(ratios) - 1))] for share in (0.1, 0.5, 0.9)]
                print(kind, name, len(ratios), "measured/predicted 10/50/90 %:", *(f"{x:.2f}" for x in q))


if __name__ == "__main__":
    main()
