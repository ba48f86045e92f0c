"""Errors of the memory model, of the model refitted without the family it is asked about, and of the peers."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.planner.fit_memory import held_out_overheads
from benchmarks.planner.memory_rows import MemoryReading, device_gib, printed_pool_gib, vllm_readings
from benchmarks.planner.peers import NOT_RUN, Answer, ask_peers
from repertory.catalog.loader import Catalog
from repertory.planning.instance import GIB
from repertory.planning.kv_cache import kv_layout
from repertory.planning.vllm_memory import OVERHEADS, Overheads, rank_weights, vllm_memory

__all__ = ("memory_tables", "summary")


def summary(errors: Sequence[float]) -> dict[str, Any]:
    """Rows, median, 90 % quantile and worst of absolute errors."""
    sizes = sorted(abs(error) for error in errors)
    if not sizes:
        return {"rows": 0}
    return {
        "rows": len(sizes),
        "median": round(statistics.median(sizes), 4),
        "p90": round(sizes[int(0.9 * (len(sizes) - 1))], 4),
        "worst": round(sizes[-1], 4),
    }


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


@dataclass
class Score:
    """What one predictor got right on the logs."""

    per_token: list[float] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    known_weights: list[float] = field(default_factory=list)
    pool: list[float] = field(default_factory=list)
    pool_of_device: list[float] = field(default_factory=list)
    right: int = 0
    false_fits: list[str] = field(default_factory=list)
    false_no: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    def add(self, reading: MemoryReading, total: float | None, answer: Answer) -> None:
        """Compare an answer with one log; what either does not have is left out."""
        for name, printed, errors in (
            ("weights_gib", reading.weights_gib, self.weights),
            ("kv_bytes_per_token", reading.bytes_per_token, self.per_token),
            ("kv_pool_gib", printed_pool_gib(reading), self.pool),
        ):
            mine = answer.get(name)
            if mine is None or printed is None or printed <= 0:
                continue
            if name != "kv_pool_gib":
                errors.append(mine / printed - 1)
            elif not reading.weak and total is not None:
                errors.append(mine / printed - 1)
                self.pool_of_device.append((mine - printed) / total)
        if answer.get("weights_gib") is not None and reading.weights_gib and _size_is_known(reading):
            self.known_weights.append(answer["weights_gib"] / reading.weights_gib - 1)
        if "fits" in answer and not reading.weak and total is not None:
            started = reading.outcome.startswith("ok")
            self.right += answer["fits"] == started
            if answer["fits"] and not started:
                self.false_fits.append(reading.case)
                if not answer.get("risks"):
                    self.silent.append(reading.case)
            elif started and not answer["fits"]:
                self.false_no.append(reading.case)

    def document(self, rows: int) -> dict[str, Any]:
        """As JSON; `rows` is how many logs there are to judge."""
        judged = self.right + len(self.false_fits) + len(self.false_no)
        return {
            "fits": {
                "judged": judged,
                "of": rows,
                "right": self.right,
                "share": round(self.right / max(judged, 1), 4),
                "false_fits": self.false_fits,
                "false_fits_without_a_named_risk": self.silent,
                "false_refusals": self.false_no,
            },
            "weights": summary(self.weights),
            "weights_where_the_size_is_known": summary(self.known_weights),
            "kv_bytes_per_token": summary(self.per_token),
            "kv_pool": summary(self.pool),
            "kv_pool_error_as_share_of_the_device": summary(self.pool_of_device),
        }


def _size_is_known(reading: MemoryReading) -> bool:
    return reading.instance.weights_known or reading.instance.format.name == "bf16"


def answer_of(reading: MemoryReading, total: float | None, known: Overheads = OVERHEADS) -> Answer:
    """What the planner says about a log."""
    answer: Answer = {
        "weights_gib": rank_weights(reading.instance) / GIB,
        "kv_bytes_per_token": printed_bytes_per_token(reading) if reading.bytes_per_token else None,
    }
    if total is not None:
        memory = vllm_memory(reading.instance, total, reading.device_name, known=known)
        pool = memory.ranks[0].kv_pool / GIB
        answer |= {"kv_pool_gib": pool, "fits": memory.fits, "risks": list(memory.risks)}
    return answer


def _row(reading: MemoryReading, total: float | None, answer: Answer, held_out: Answer) -> dict[str, Any]:
    row: dict[str, Any] = {"case": reading.case, "what": reading.label, "family": reading.family,
                           "outcome": reading.outcome, "device_gib": total}  # fmt: skip
    if reading.weak:
        row["weak"] = reading.weak
    printed = {
        "weights_gib": reading.weights_gib,
        "kv_pool_gib": printed_pool_gib(reading),
        "kv_bytes_per_token": reading.bytes_per_token,
    }
    for name, value in printed.items():
        if value is not None and answer.get(name) is not None:
            row[name] = [round(value, 2), round(answer[name], 2)]
    if "fits" in answer:
        row["fits"] = [reading.outcome.startswith("ok"), answer["fits"]]
        row["held_out"] = {"fits": held_out["fits"], "kv_pool_gib": round(held_out["kv_pool_gib"], 2)}
        if answer["fits"] and not row["fits"][0]:
            row["risks"] = answer["risks"]
    return row


def memory_tables(catalog: Catalog, peers_python: Path | None) -> dict[str, Any]:
    """All tables about vLLM's memory."""
    readings, skipped = vllm_readings(catalog)
    totals = {reading.case: device_gib(reading, catalog) for reading in readings}
    known = held_out_overheads(readings, catalog)
    mine, other = Score(), Score()
    rows: list[dict[str, Any]] = []
    for reading in readings:
        total = totals[reading.case]
        answer, held_out = answer_of(reading, total), answer_of(reading, total, known[reading.family])
        mine.add(reading, total, answer)
        other.add(reading, total, held_out)
        rows.append(_row(reading, total, answer, held_out))
    judged = sum(1 for reading in readings if totals[reading.case] is not None and not reading.weak)
    held = other.document(judged)
    asked = [(reading, total) for reading in readings if (total := totals[reading.case]) is not None]
    answers = ask_peers(asked, catalog, peers_python)
    return {
        "planner": mine.document(judged),
        "planner_with_each_family_held_out": {
            "what": "overheads fitted on the other families, measured on the family left out",
            "families": len(known),
            **{key: held[key] for key in ("fits", "kv_pool", "kv_pool_error_as_share_of_the_device")},
        },
        "peers": {name: _peer(found, asked, judged) for name, found in answers.items()} | {"not_run": NOT_RUN},
        "rows": rows,
        "not_predicted": dict(skipped),
    }


def _peer(found: Mapping[str, Answer], asked: Sequence[tuple[MemoryReading, float]], judged: int) -> dict[str, Any]:
    score = Score()
    for reading, total in asked:
        score.add(reading, total, found[reading.case])
    errors = {case: answer["error"] for case, answer in found.items() if "error" in answer}
    return score.document(judged) | {"no_answer": errors}
