from typing import Any

import pytest

from repertory.catalog.loader import load_catalog
from repertory.planning.estimate import instance_memory
from repertory.planning.instance import GIB, instance_of
from repertory.planning.llamacpp_memory import compute_buffer_bytes, kv_bytes, llamacpp_memory, state_bytes
from repertory.planning.vllm_memory import rank_weights, vllm_memory

CATALOG = load_catalog()
MIB = 2**20


@pytest.mark.parametrize(
    ("model", "ranks", "printed_gib", "rel"),
    [
        ("Llama-3.1-8B-Instruct", 1, 14.99, 0.01),
        ("DeepSeek-R1-Distill-Qwen-14B", 2, 13.95, 0.02),
        ("Qwen3.8-27B-FP8", 2, 14.28, 0.01),
        ("Qwen2.5-7B-Instruct-AWQ", 1, 5.29, 0.03),
        ("neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8", 1, 67.72, 0.01),
        ("openai/gpt-oss-120b", 1, 65.97, 0.03),
        ("openai/gpt-oss-20b", 1, 13.72, 0.03),
    ],
)
def test_weights_per_rank(model: str, ranks: int, printed_gib: float, rel: float) -> None:
    instance = instance_of(CATALOG.choose(model), tensor_parallel=ranks)
    assert rank_weights(instance) / GIB == pytest.approx(printed_gib, rel=rel)


@pytest.mark.parametrize(
    ("model", "settings", "device_gib", "pool_gib"),
    [
        ("Qwen2.5-7B-Instruct-AWQ", {"utilization": 0.9, "context": 32768}, 15.99, 8.0),
        ("Llama-3.1-8B-Instruct", {"utilization": 0.9, "context": 32768}, 39.4, 19.92),
        ("openai/gpt-oss-20b", {"utilization": 0.65, "context": 131072, "version": (0, 19)}, 79.2, 36.56),
        ("Qwen3-Coder-30B-A3B-Instruct", {"utilization": 0.9, "tensor_parallel": 4}, 44.475, 23.74),
        ("DeepSeek-R1-Distill-Qwen-14B", {"utilization": 0.98, "tensor_parallel": 2, "version": (0, 6)}, 23.59, 8.69),
    ],
)
def test_pool(model: str, settings: dict[str, Any], device_gib: float, pool_gib: float) -> None:
    memory = vllm_memory(instance_of(CATALOG.choose(model), **settings), device_gib, "NVIDIA A100")
    assert memory.ranks[0].kv_pool / GIB == pytest.approx(pool_gib, rel=0.06)


def test_what_does_not_fit_says_what_would() -> None:
    memory = vllm_memory(instance_of(CATALOG.choose("Qwen3-8B"), context=40960), 20.0)
    assert not memory.fits
    assert f"{memory.max_context:,}" in memory.why
    smaller = vllm_memory(instance_of(CATALOG.choose("Qwen3-8B"), context=memory.max_context), 20.0)
    assert smaller.fits


def test_weights_that_exceed_the_card_leave_nothing() -> None:
    memory = vllm_memory(instance_of(CATALOG.choose("Qwen3-32B")), 24.0)
    assert not memory.fits
    assert memory.max_context == 0
    assert "nothing is left" in memory.why


def test_a_narrow_fit_names_its_risk() -> None:
    """V0 ran out of memory at 29,000 tokens on a 3090, which today's engine serves."""
    instance = instance_of(CATALOG.choose("Llama-3.1-8B-Instruct"), context=29000, utilization=0.9)
    memory = vllm_memory(instance, 23.57)
    assert memory.fits
    assert any("V0" in risk for risk in memory.risks)
    assert not vllm_memory(instance.with_settings(version=(0, 5)), 23.57).fits


def test_more_ranks_than_heads_copy_the_projections() -> None:
    choice = CATALOG.choose("Qwen3-235B-A22B")
    four, eight = (rank_weights(instance_of(choice, tensor_parallel=n)) for n in (4, 8))
    assert eight > four / 2


def test_pipeline_stages_hold_their_layers() -> None:
    choice = CATALOG.choose("Qwen3-32B")
    whole = rank_weights(instance_of(choice))
    assert whole / 2 <= rank_weights(instance_of(choice, pipeline_parallel=2)) < whole * 0.6


def test_llama_cpp_start_up_log_to_the_byte() -> None:
    """DeepSeek-R1-Distill-Llama-8B Q4_K_M, 8,192 cells: 4403.49 MiB weights, 1024 MiB cache, 560 MiB compute."""
    instance = instance_of(
        CATALOG.choose("DeepSeek-R1-Distill-Llama-8B", "q4_k_m"), "llama.cpp", context=8192, flash_attention=False
    )
    assert llamacpp_memory(instance, 24.0).ranks[0].weights / MIB == pytest.approx(4403.49, rel=1e-4)
    assert kv_bytes(instance, 8192, 4) / MIB == 1024
    assert compute_buffer_bytes(instance, 8192) / MIB == pytest.approx(560, rel=0.05)


def test_llama_cpp_states_and_windows() -> None:
    hybrid = instance_of(CATALOG.choose("Qwen3.5-27B", "q4_k_m"), "llama.cpp")
    assert state_bytes(hybrid, 2) / MIB == pytest.approx(299.25)
    tiny = instance_of(CATALOG.choose("gemma-3-270m-it", "bf16", engine="llama.cpp"), "llama.cpp")
    assert kv_bytes(tiny, 1024, 4) / MIB == 18
    assert kv_bytes(tiny, 32768, 1) < kv_bytes(tiny, 32768, 1, swa_full=True) / 4


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp"])
@pytest.mark.parametrize("model", ["Qwen3-8B", "gemma-4-31B-it", "Qwen3.6-27B", "DeepSeek-V3.2", "gpt-oss-20b"])
def test_less_context_and_more_memory_never_hurt(engine: str, model: str) -> None:
    choice = CATALOG.choose(model, engine=engine)
    short, long = (instance_of(choice, engine, context=n, tensor_parallel=8) for n in (2048, 32768))
    assert instance_memory(short, 79.2).kv_needed <= instance_memory(long, 79.2).kv_needed
    assert instance_memory(long, 40.0).max_context <= instance_memory(long, 79.2).max_context
