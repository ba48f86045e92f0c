import pytest

from repertory.catalog.loader import load_catalog
from repertory.planning.kv_cache import cache_element_bytes, kv_layout, marginal_bytes_per_token

CATALOG = load_catalog()
GIB = 2**30


@pytest.mark.parametrize(
    ("model", "tensor_parallel", "printed"),
    [
        ("Llama-3.1-8B-Instruct", 1, 131072),
        ("Qwen3-Coder-30B-A3B-Instruct", 4, 24576),
        ("Qwen3-VL-30B-A3B", 1, 98304),
        ("Qwen2.5-7B-Instruct", 1, 57344),
        ("Qwen2.5-1.5B-Instruct", 1, 28672),
        ("Qwen3-235B-A22B", 4, 48128),
        ("Qwen3-235B-A22B", 8, 48128),
    ],
)
def test_bytes_per_token_of_one_rank(model: str, tensor_parallel: int, printed: int) -> None:
    """What start-up logs print; with more ranks than heads, heads are copied (235B on 8 ranks)."""
    arch = CATALOG.choose(model).model.arch
    assert marginal_bytes_per_token(arch, "auto", tensor_parallel) == printed


def test_latent_attention_is_not_divided() -> None:
    arch = CATALOG.find_model("DeepSeek-V3.1").arch
    assert marginal_bytes_per_token(arch, "auto", 1) == marginal_bytes_per_token(arch, "auto", 8) == 61 * 576 * 2


@pytest.mark.parametrize(
    ("model", "kv", "pool_gib", "longest", "batched", "concurrency"),
    [
        ("gemma-4-26B-A4B-it", "fp8", 51.62, 131072, 2048, 33.42),
        ("Qwen3.5-122B-A10B", "fp8", 21.43, 131072, 2048, 11.79),
        ("Qwen3.6-35B-A3B", "fp8", 5.98, 131072, 8192, 4.33),
        ("Qwen2.5-7B-Instruct", "auto", 8.0, 32768, 2048, 4.57),
        ("Qwen3-Coder-30B-A3B-Instruct", "auto", 4 * 23.74, 32768, 2048, 31.65),
    ],
)
def test_concurrency_of_full_windowed_and_hybrid_models(
    model: str, kv: str, pool_gib: float, longest: int, batched: int, concurrency: float
) -> None:
    """The maximum concurrency that start-up logs print, to 0.2 %."""
    layout = kv_layout(CATALOG.find_model(model).arch, kv)
    assert layout.concurrency(pool_gib * GIB, longest, batched) == pytest.approx(concurrency, rel=0.002)


def test_tokens_of_a_hybrid_pool_are_concurrency_times_context() -> None:
    layout = kv_layout(CATALOG.find_model("Qwen3.6-35B-A3B").arch, "fp8")
    assert layout.tokens(5.98 * GIB, 131072, 8192) == 567978


def test_longest_context_fits_and_the_next_does_not() -> None:
    layout = kv_layout(CATALOG.find_model("gpt-oss-20b").arch)
    pool = 2.0 * GIB
    longest = layout.max_context(pool, 1_000_000, 2048)
    assert layout.request_bytes(longest, 2048) <= pool < layout.request_bytes(longest + 16, 2048)


def test_an_unknown_cache_type_is_refused() -> None:
    with pytest.raises(ValueError, match="q8_0"):
        cache_element_bytes("q9_0")
