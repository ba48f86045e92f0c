import pytest

from repertory.catalog.loader import load_catalog
from repertory.planning.instance import instance_of
from repertory.planning.speed import decode_speed, prefill_speed, saturated_tok_s

CATALOG = load_catalog()


@pytest.mark.parametrize(
    ("model", "form", "engine", "device", "context", "measured"),
    [
        ("Meta-Llama-3-8B-Instruct", "f16", "llama.cpp", "rtx4090", 512, 54.3),
        ("Meta-Llama-3-8B-Instruct", "q4_k_m", "llama.cpp", "rtx4090", 512, 127.7),
        ("Meta-Llama-3-70B-Instruct", "q4_k_m", "llama.cpp", "a100_80_sxm", 512, 24.3),
        ("Qwen3-14B", "bf16", "vllm", "rtxpro6000", 1024, 53.2),
        ("Qwen3-8B", "awq", "vllm", "rtxpro6000", 1024, 208.0),
        ("Llama-3.1-8B-Instruct", "bf16", "vllm", "a100_40_sxm", 1152, 75.0),
        ("Qwen3.6-35B-A3B", "q4_k_m", "llama.cpp", "h100_sxm", 1024, 194.0),
    ],
)
def test_decode_is_near_published_speeds(
    model: str, form: str, engine: str, device: str, context: int, measured: float
) -> None:
    instance = instance_of(CATALOG.choose(model, form), engine)
    speed = decode_speed(instance, CATALOG.find_device(device), context)
    assert speed.tok_s == pytest.approx(measured, rel=0.25)
    assert speed.low < speed.tok_s < speed.high


def test_a_batch_shares_the_weights() -> None:
    instance = instance_of(CATALOG.choose("Qwen3-8B"))
    device = CATALOG.find_device("rtx4090")
    one, many = (decode_speed(instance, device, 1024, n) for n in (1, 16))
    assert one.tok_s > many.tok_s
    assert many.total_tok_s > 8 * one.total_tok_s


def test_a_mixture_touches_more_experts_with_a_batch() -> None:
    arch = CATALOG.find_model("Qwen3-30B-A3B").arch
    assert arch.experts_touched(1) == pytest.approx(8 / 128)
    assert 0.9 < arch.experts_touched(64) < 1


def test_context_and_eager_mode_slow_decoding() -> None:
    instance = instance_of(CATALOG.choose("Qwen3-8B"))
    device = CATALOG.find_device("rtx4090")
    assert decode_speed(instance, device, 32768).tok_s < decode_speed(instance, device, 512).tok_s
    eager = instance.with_settings(eager=True)
    assert decode_speed(eager, device, 512).tok_s < 0.8 * decode_speed(instance, device, 512).tok_s


def test_two_ranks_help_over_nvlink_more_than_over_pcie() -> None:
    choice = CATALOG.choose("Llama-3.3-70B-Instruct")
    gains: list[float] = []
    for name in ("a100_80_sxm", "a100_80_pcie"):
        device = CATALOG.find_device(name)
        one, eight = (decode_speed(instance_of(choice, tensor_parallel=n), device, 1024).tok_s for n in (1, 8))
        gains.append(eight / one)
    assert gains[0] > gains[1] > 1


def test_prefill_counts_what_is_cached() -> None:
    instance = instance_of(CATALOG.choose("Qwen3-8B"))
    device = CATALOG.find_device("rtx4090")
    assert prefill_speed(instance, device, 4000).seconds > 3 * prefill_speed(instance, device, 1000, 3000).seconds


def test_saturated_throughput_is_between_prefill_and_decode() -> None:
    instance = instance_of(CATALOG.choose("Qwen3-14B"))
    device = CATALOG.find_device("a100_80_sxm")
    assert saturated_tok_s(instance, device, 2000, 100, 128) == pytest.approx(5967, rel=0.25)
