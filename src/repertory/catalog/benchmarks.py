"""Which published scores may be compared: the same benchmark, the same version, the same mode.

Sources write one benchmark in many ways. A *series* is the set of labels that mean the same thing; two scores are
compared only inside a series. What a label leaves open (`GPQA` without "Diamond", `LiveCodeBench` without a version)
stays a series of its own.
"""

from repertory.catalog.records import Model, Score

__all__ = ("BENCHMARKS", "Series", "mode_of", "series_of", "series_score")

Series = tuple[str, str]
"""Benchmark series and mode, e.g. `("gpqa_diamond", "thinking")`."""

_LABELS: dict[str, tuple[str, ...]] = {
    "gpqa_diamond": (
        "GPQA-Diamond", "GPQA Diamond", "GPQA Diamond pass@1", "GPQA-D", "GPQA Diamond (no tools)",
        "GPQA Diamond (CoT)", "GPQA Diamond (5-shot CoT)",
    ),
    "gpqa": ("GPQA", "GPQA (no tools)"),
    "humaneval": ("HumanEval",),
    "humaneval_plus": ("HumanEval+",),
    "livecodebench_v5": ("LiveCodeBench v5",),
    "livecodebench_v6": ("LiveCodeBench v6", "LiveCodeBench (v6)", "LiveCodeBench v6 (25.02-25.05)"),
    "livecodebench": ("LiveCodeBench", "LiveCodeBench (LCB)", "LiveCodeBench pass@1"),
    "swe_bench_verified": ("SWE-bench Verified", "SWE-Bench Verified"),
    "swe_bench_verified_openhands": (
        "SWE-Bench (OpenHands)", "SWE-Bench Verified (OpenHands)", "SWE-bench Verified (OpenHands, 100 turns)",
    ),
    "tau2_bench": ("τ²-Bench", "τ²-Bench (aggregate)", "TAU2-Bench", "TAU2-Bench (aggregate)", "Tau2 (average over 3)"),
    "tau2_airline": ("TAU2-Airline", "Tau2 airline", "TauBench V2 Airline"),
    "tau2_retail": ("TAU2-Retail", "Tau2 retail", "TauBench V2 Retail"),
    "tau2_telecom": ("TAU2-Telecom", "Tau2 telecom", "τ²-Bench Telecom"),
    "tau_airline": ("TAU1-Airline", "TAU-bench Airline"),
    "tau_retail": ("TAU1-Retail", "TAU-bench Retail", "Tau-Bench Retail"),
    "bfcl_v2": ("BFCL v2",),
    "bfcl_v3": ("BFCL v3", "BFCL-v3"),
    "bfcl_v4": ("BFCL-V4",),
    "ifeval": ("IFEval", "IFEval (average)", "IFEval (avg prompt/inst)"),
    "ifeval_strict": ("IFEval strict prompt",),
    "mmlu_pro": ("MMLU-Pro", "MMLU Pro", "MMLU Pro (CoT)", "MMLU Pro (5-shot CoT)"),
    "aime_24": ("AIME'24", "AIME 2024", "AIME 2024 pass@1"),
    "aime_25": ("AIME'25", "AIME 2025", "AIME 25", "AIME25", "AIME 25 (no tools)", "AIME25 (no tools)",
                "AIME 2025 (no tools)"),
    "aime_26": ("AIME26", "AIME 2026 no tools"),
}  # fmt: skip

_SERIES = {label: series for series, labels in _LABELS.items() for label in labels}

BENCHMARKS: tuple[str, ...] = tuple(_LABELS)
"""Names of the series that needs may ask for."""


def series_of(score: Score) -> str:
    """The series a score belongs to; a label that is not known is a series of its own."""
    return _SERIES.get(score.label, score.label.lower())


def mode_of(model: Model, score: Score) -> str:
    """`thinking` or `direct`. A score without a stated mode counts by what the model can do."""
    if score.mode in ("thinking", "high reasoning"):
        return "thinking"
    if score.mode is not None:
        return "direct"
    return "thinking" if model.serving.always_thinks else "direct"


def series_score(model: Model, series: str, mode: str) -> Score | None:
    """The model's own published score in a series and mode. Of several, the lowest: sources disagree upwards."""
    rows = [score for score in model.scores if series_of(score) == series and mode_of(model, score) == mode]
    return min(rows, key=lambda row: row.score, default=None)
