"""Fit the overheads of `repertory.planning.vllm_memory` on start-up logs, also with one family of models left out.

    .venv/bin/python -m benchmarks.planner.fit_memory

Weights and KV layouts follow from sizes and source code and have nothing to fit; the overheads are constants that the
logs show. Minimised is the mean error of the KV pool as a share of the device's memory, with a weak pull towards the
values in use so that a constant that no log of the rest shows stays where it is known from elsewhere. Each family is
then predicted with constants that were fitted on the other families only.
"""

import math
from collections.abc import Sequence
from dataclasses import fields, replace

from benchmarks.planner.memory_rows import MemoryReading, device_gib, printed_pool_gib, vllm_readings
from repertory.catalog.loader import Catalog, load_catalog
from repertory.planning.instance import GIB
from repertory.planning.vllm_memory import OVERHEADS, Overheads, vllm_memory

__all__ = ("fit_overheads", "held_out_overheads")

START = Overheads(
    non_torch=0.3, communication=0.3, sampler_old=20.0, sampler=20.0, graphs=0.1, graphs_layer=0.01,
    graphs_moe_layer=0.01, tower=1.0, vision_model=1.0,
)  # fmt: skip
"""Round numbers that no log was looked at for: the fit starts here, so that it can not lean on the values in use."""

_PULL = 1e-3
Row = tuple[MemoryReading, float, float]
"""A log, the device's memory, and the printed pool."""


def pool_rows(readings: Sequence[MemoryReading], catalog: Catalog) -> list[Row]:
    """The logs that print a pool, without those whose evidence is weak."""
    rows: list[Row] = []
    for reading in readings:
        total, pool = device_gib(reading, catalog), printed_pool_gib(reading)
        if total is not None and pool is not None and not reading.weak:
            rows.append((reading, total, pool))
    return rows


def _loss(known: Overheads, rows: Sequence[Row]) -> float:
    errors = [
        abs(vllm_memory(reading.instance, total, reading.device_name, known=known).ranks[0].kv_pool / GIB - pool)
        / total
        for reading, total, pool in rows
    ]
    pull = sum(abs(math.log(getattr(known, f.name) / getattr(START, f.name))) for f in fields(known))
    return sum(errors) / max(len(errors), 1) + _PULL * pull


def fit_overheads(rows: Sequence[Row], rounds: int = 10) -> Overheads:
    """Coordinate descent from `START`."""
    known: Overheads = START
    best = _loss(known, rows)
    steps = {f.name: 0.6 for f in fields(known)}
    for _ in range(rounds):
        for name, width in list(steps.items()):
            for sign in (1, -1):
                trial: Overheads = replace(known, **{name: getattr(known, name) * math.exp(sign * width)})
                loss = _loss(trial, rows)
                if loss < best - 1e-9:
                    known, best = trial, loss
                    break
            else:
                steps[name] = width * 0.6
    return known


def held_out_overheads(readings: Sequence[MemoryReading], catalog: Catalog) -> dict[str, Overheads]:
    """For every family of models, constants that were fitted on the other families."""
    rows = pool_rows(readings, catalog)
    families = sorted({reading.family for reading in readings})
    return {family: fit_overheads([row for row in rows if row[0].family != family]) for family in families}


def main() -> None:
    """Print the fit on all families beside the values in use."""
    catalog = load_catalog()
    readings, _ = vllm_readings(catalog)
    rows = pool_rows(readings, catalog)
    fitted = fit_overheads(rows, 20)
    for item in fields(fitted):
        print(f"{item.name:18} in use {getattr(OVERHEADS, item.name):8.4g}  fitted {getattr(fitted, item.name):8.4g}")
    print(
        f"mean error of the pool, share of the device: {_loss(OVERHEADS, rows):.4f} in use, {_loss(fitted, rows):.4f}"
    )


if __name__ == "__main__":
    main()
