"""What must hold of every prediction of memory, whatever the model and the settings."""

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from repertory.catalog.loader import load_catalog
from repertory.catalog.records import Model
from repertory.planning.instance import Instance, InstanceMemory, instance_of
from repertory.planning.kv_cache import BLOCK, kv_layout
from repertory.planning.llamacpp_memory import compute_buffer_bytes, kv_bytes, llamacpp_memory, llamacpp_rank
from repertory.planning.vllm_memory import vllm_memory, vllm_overheads

CATALOG = load_catalog()
MODELS = st.sampled_from([*CATALOG.models, *CATALOG.extra])
CONTEXTS = st.integers(1, 300_000)
SLOTS = st.integers(1, 64)
RANKS = st.sampled_from([1, 2, 4, 8, 16])
CARDS = st.floats(4.0, 200.0)
SEARCH = settings(max_examples=60, deadline=None)


def vllm(model: str, **changes: Any) -> Instance:
    return instance_of(CATALOG.choose(model)).with_settings(**changes)


def llama(model: str, **changes: Any) -> Instance:
    return instance_of(CATALOG.choose(model, engine="llama.cpp"), "llama.cpp").with_settings(**changes)


def parts(memory: InstanceMemory) -> list[float]:
    rank = memory.ranks[0]
    return [rank.weights, rank.activation, rank.graphs, rank.overhead, rank.kv_bytes_per_token, float(rank.kv_tokens)]


@SEARCH
@given(MODELS, CONTEXTS, CONTEXTS, RANKS, CARDS)
def test_vllm_parts_add_up_and_grow_with_the_context(
    model: Model, short: int, more: int, ranks: int, card: float
) -> None:
    one = vllm(model.id, context=short, tensor_parallel=ranks)
    small, large = vllm_memory(one, card), vllm_memory(one.with_settings(context=short + more), card)
    for memory in (small, large):
        rank = memory.ranks[0]
        assert len(memory.ranks) == ranks
        assert all(math.isfinite(value) and value >= 0 for value in parts(memory))
        inside = vllm_overheads(one, rank.device_total)[3]
        taken = rank.weights + rank.kv_pool + rank.activation + rank.overhead + (rank.graphs if inside else 0.0)
        assert taken == pytest.approx(rank.reserved)
        assert not memory.fits or memory.kv_needed <= rank.kv_pool
        assert memory.why
    assert small.kv_needed <= large.kv_needed
    assert small.fits or not large.fits


@SEARCH
@given(MODELS, CARDS, RANKS)
def test_vllm_longest_context_is_the_longest(model: Model, card: float, ranks: int) -> None:
    one = vllm(model.id, tensor_parallel=ranks)
    memory = vllm_memory(one, card)
    longest = memory.max_context
    assert 0 <= longest <= one.max_context
    if longest:
        assert vllm_memory(one.with_settings(context=longest), card).fits
    if memory.ranks[0].kv_pool > 0 and longest < one.max_context:
        assert not vllm_memory(one.with_settings(context=longest + 1), card).fits


@SEARCH
@given(MODELS, st.sampled_from([1, 2, 4, 8]))
def test_more_ranks_never_take_more_on_each(model: Model, ranks: int) -> None:
    assume(model.arch.spreads_over(ranks) and model.arch.spreads_over(ranks * 2))
    one = vllm(model.id, context=4096, tensor_parallel=ranks)
    two = one.with_settings(tensor_parallel=ranks * 2)
    few, many = (vllm_memory(instance, 80.0).ranks[0] for instance in (one, two))
    assert many.kv_bytes_per_token <= few.kv_bytes_per_token
    assert many.kv_bytes_per_token * 2 >= few.kv_bytes_per_token - 1e-6, "nothing vanishes"
    padded = one.format.name == "mxfp4"  # kernels round the width of an expert up
    assert many.weights <= few.weights or padded
    assert many.weights * 2 >= few.weights * (1 - 1e-9)


@SEARCH
@given(MODELS, st.integers(0, 10**11), CONTEXTS)
def test_pools_are_whole_blocks(model: Model, pool: int, tokens: int) -> None:
    layout = kv_layout(model.arch)
    assume(layout.groups)
    blocks = layout.blocks(float(pool))
    assert blocks * layout.bytes_per_block <= pool < (blocks + 1) * layout.bytes_per_block
    need = layout.request_blocks(tokens, 2048)
    assert layout.request_bytes(tokens, 2048) == need * layout.bytes_per_block
    assert need <= layout.request_blocks(tokens + 1, 2048)
    if len(layout.groups) == 1 and layout.groups[0].window is None:
        assert layout.tokens(float(pool), tokens, 2048) % BLOCK == 0


@SEARCH
@given(MODELS, CONTEXTS, SLOTS, st.booleans(), st.sampled_from([1, 2, 4]))
def test_llama_cpp_adds_up_and_grows(model: Model, per_slot: int, slots: int, unified: bool, devices: int) -> None:
    one = llama(model.id, context=per_slot * slots, max_seqs=slots, kv_unified=unified, tensor_parallel=devices)
    rank = llamacpp_rank(one, 1e12)
    assert rank.reserved == pytest.approx(rank.weights + rank.kv_pool + rank.activation + rank.overhead)
    assert min(rank.weights, rank.activation, rank.overhead, rank.kv_pool) >= 0
    more = llamacpp_rank(one.with_settings(context=per_slot * (slots + 1), max_seqs=slots + 1), 1e12)
    longer = llamacpp_rank(one.with_settings(context=(per_slot + 256) * slots), 1e12)
    assert rank.kv_pool <= more.kv_pool
    assert rank.reserved <= longer.reserved
    spread = llamacpp_rank(one.with_settings(tensor_parallel=devices * 2), 1e12)
    assert spread.weights <= rank.weights * (1 + 1e-9)


@SEARCH
@given(MODELS, CONTEXTS, SLOTS)
def test_slots_of_their_own_cost_the_same_each(model: Model, per_slot: int, slots: int) -> None:
    """What lets a plan add up its agents: n slots of c tokens take n times one slot of c, and one compute buffer."""
    one = llama(model.id)
    assert kv_bytes(one, per_slot * slots, slots) == pytest.approx(slots * kv_bytes(one, per_slot, 1))
    assert compute_buffer_bytes(one, per_slot * slots, slots) == compute_buffer_bytes(one, per_slot)


@SEARCH
@given(MODELS, CARDS)
def test_llama_cpp_longest_context_is_the_longest(model: Model, card: float) -> None:
    one = llama(model.id, context=256)
    longest = llamacpp_memory(one, card).max_context
    assert 0 <= longest <= one.max_context
    if longest:
        assert llamacpp_memory(one.with_settings(context=longest), card).fits
    if longest < one.max_context:
        assert not llamacpp_memory(one.with_settings(context=longest + 256), card).fits
