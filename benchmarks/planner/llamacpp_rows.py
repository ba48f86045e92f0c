"""llama.cpp readings that name their model, as pairs of printed and predicted MiB."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from benchmarks.planner.memory_rows import number
from repertory.catalog.loader import Catalog
from repertory.planning.instance import instance_of
from repertory.planning.llamacpp_memory import compute_buffer_bytes, kv_bytes, llamacpp_memory, state_bytes

__all__ = ("llamacpp_pairs",)

HERE = Path(__file__).parent / "readings"
MIB = 2**20


def llamacpp_pairs(catalog: Catalog) -> list[dict[str, Any]]:
    """One row per printed figure: what it is, printed and predicted MiB."""
    reader: Any = YAML(typ="safe")
    cases: list[dict[str, Any]] = reader.load((HERE / "llama_cpp_memory_cases.yaml").read_text("utf-8"))["cases"]
    rows = {row["id"]: row for row in cases}
    out: list[dict[str, Any]] = []

    def add(case: str, what: str, printed: float | None, predicted: float) -> None:
        if printed is not None:
            sizes = {"printed_mib": round(printed, 2), "predicted_mib": round(predicted, 2)}
            out.append({"case": case, "what": what, **sizes, "error": round(predicted / printed - 1, 4)})

    llama = instance_of(catalog.choose("DeepSeek-R1-Distill-Llama-8B", "q4_k_m"), "llama.cpp", context=8192, max_seqs=4,
                        flash_attention=False, kv_unified=True)  # fmt: skip
    printed = rows["l028"]["printed"]
    memory = llamacpp_memory(llama, 24.0)
    add("l028", "weights on the device", number(printed["CUDA0_model"]), memory.ranks[0].weights / MIB)
    add("l028", "KV cache", number(printed["CUDA0_KV"]), kv_bytes(llama, 8192, 4) / MIB)
    add("l028", "compute buffer", number(printed["CUDA0_compute"]), compute_buffer_bytes(llama, 8192, 4) / MIB)
    tiny = instance_of(catalog.choose("gemma-3-270m", "bf16", engine="llama.cpp"), "llama.cpp")
    add("l021", "KV cache", number(rows["l021"]["printed"]["KV"]), kv_bytes(tiny, 1024, 4) / MIB)
    hybrid = instance_of(catalog.choose("Qwen3.5-27B", "q4_k_m"), "llama.cpp")
    add("l013", "recurrent states", 299.25, state_bytes(hybrid, 2) / MIB)
    for case, kind in (("l022", "f16"), ("l024", "f16"), ("l025", "q4_0")):
        row = rows[case]
        one = instance_of(catalog.choose("Qwen3.8-27B", "iq3_xxs"), "llama.cpp", kv_dtype=kind)
        context = row["flags"]["ctx"]
        cache = kv_bytes(one, context, 1) + state_bytes(one, 1)
        add(case, "KV cache and states", (number(row["printed"]["KV"]) or 0) * 1024, cache / MIB)
        add(
            case,
            "compute buffer",
            (number(row["printed"]["compute"]) or 0) * 1024,
            compute_buffer_bytes(one, context) / MIB,
        )
    for row in out:
        if row["case"] == "l025" and row["what"].startswith("KV"):
            row["weak"] = "10.40 GiB is what a cache takes of which only the keys or only the values are q4_0"
    command = instance_of(catalog.choose("c4ai-command-r7b-12-2024", "q6_k_l"), "llama.cpp", context=31000)
    used = {case: number(rows[case]["printed"]["device_used"]) for case in ("l018", "l019")}
    windowed = llamacpp_memory(command, 24.0).ranks[0].reserved
    full = kv_bytes(command, 31000, 1, swa_full=True) - kv_bytes(command, 31000, 1)
    add("l019", "whole device", used["l019"], windowed / MIB)
    add("l018", "whole device, --swa-full", used["l018"], (windowed + full) / MIB)
    return out
