import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertory.catalog.gguf_file import read_gguf_file
from repertory.catalog.own_gguf import read_gguf
from repertory.errors import UsageError
from repertory.planning.instance import instance_of
from repertory.planning.llamacpp_memory import llamacpp_rank

Tensor = tuple[str, tuple[int, ...], int]
F16, Q8 = 1, 8


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def header(family: str, numbers: dict[str, int], tensors: list[Tensor]) -> bytes:
    meta = [text("general.architecture") + struct.pack("<I", 8) + text(family)]
    meta += [text(f"{family}.{key}") + struct.pack("<II", 4, value) for key, value in numbers.items()]
    body = b"".join(meta)
    for name, dims, kind in tensors:
        body += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        body += struct.pack("<IQ", kind, 0)
    return b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(meta)) + body


DIMS = {"block_count": 4, "embedding_length": 64, "feed_forward_length": 128, "context_length": 4096,
        "attention.head_count": 4, "attention.head_count_kv": 2, "attention.key_length": 16}  # fmt: skip
EMBEDDING: Tensor = ("token_embd.weight", (64, 1000), F16)


def test_layers_with_a_state_are_told_by_their_tensors(tmp_path: Path) -> None:
    """Three of four layers keep a state: they add nothing for a longer context."""
    tensors = [EMBEDDING, *((f"blk.{i}.ssm_conv1d.weight", (4, 96), 0) for i in range(3))]
    state = {"ssm.group_count": 2, "ssm.time_step_rank": 4, "ssm.state_size": 16, "ssm.inner_size": 64,
             "ssm.conv_kernel": 4}  # fmt: skip
    path = tmp_path / "m.gguf"
    path.write_bytes(header("qwen35", DIMS | state, tensors))
    choice, _ = read_gguf(path)
    assert {(g.kind, g.layers) for g in choice.model.arch.attention} == {("linear", 3), ("full", 1)}
    rank = llamacpp_rank(instance_of(choice, "llama.cpp", context=1024), 1e12)
    assert rank.kv_bytes_per_token == 1 * 2 * 2 * 16 * 2


def test_latent_attention(tmp_path: Path) -> None:
    latent = {"attention.kv_lora_rank": 32, "attention.q_lora_rank": 48, "attention.key_length_mla": 24,
              "attention.value_length_mla": 16, "rope.dimension_count": 8, "expert_count": 8, "expert_used_count": 2,
              "expert_feed_forward_length": 32, "expert_shared_count": 1, "leading_dense_block_count": 1}  # fmt: skip
    path = tmp_path / "m.gguf"
    path.write_bytes(header("deepseek2", DIMS | latent, [EMBEDDING]))
    arch = read_gguf(path)[0].model.arch
    assert arch.caches[0].elements_per_token == 32 + 8
    assert arch.ffn == {"dense": 1, "moe": 3}
    assert arch.shared_intermediate == 32


def test_all_files_of_a_model_count(tmp_path: Path) -> None:
    parts = [[EMBEDDING], [("blk.0.ffn_up.weight", (64, 128), Q8)]]
    for number, tensors in enumerate(parts, 1):
        (tmp_path / f"m-{number:05}-of-00002.gguf").write_bytes(header("llama", DIMS, tensors))
    found = read_gguf_file(tmp_path / "m-00001-of-00002.gguf")
    assert found.weights.embedding == 64 * 1000 * 2
    assert found.weights.dense == 64 * 128 * 34 / 32
    (tmp_path / "m-00002-of-00002.gguf").unlink()
    with pytest.raises(UsageError, match="missing") as error:
        read_gguf_file(tmp_path / "m-00001-of-00002.gguf")
    assert "m-00002-of-00002.gguf" in (error.value.hint or "")


@pytest.mark.parametrize(
    ("numbers", "tensors", "words"),
    [
        ({**DIMS, "block_count": 4_000_000}, [EMBEDDING], "how many layers"),
        ({**DIMS, "context_length": 4_000_000_000}, [EMBEDDING], "no model has"),
        (DIMS, [("token_embd.weight", (2**60, 2**60), F16)], "too many elements"),
        (DIMS, [("token_embd.weight", (1,) * 9, F16)], "too many dimensions"),
    ],
)
def test_what_no_model_has_is_refused(
    tmp_path: Path, numbers: dict[str, int], tensors: list[Tensor], words: str
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(header("llama", numbers, tensors))
    with pytest.raises(UsageError, match=words):
        read_gguf(path)


def test_arrays_in_arrays_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    nested = struct.pack("<IQ", 9, 1) * 5000
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<I", 9) + nested)
    with pytest.raises(UsageError, match="holds arrays"):
        read_gguf_file(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop.gguf"
    loop.symlink_to(loop)
    for path in (tmp_path, loop, tmp_path / "none.gguf"):
        with pytest.raises(UsageError, match="can not be read"):
            read_gguf_file(path)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 400), st.binary(min_size=1, max_size=8))
def test_damaged_bytes_never_crash(tmp_path_factory: pytest.TempPathFactory, at: int, noise: bytes) -> None:
    data = bytearray(header("llama", DIMS, [EMBEDDING, ("blk.0.ffn_up.weight", (64, 128), Q8)]))
    data[at : at + len(noise)] = noise
    path = tmp_path_factory.mktemp("gguf") / "m.gguf"
    path.write_bytes(bytes(data))
    try:
        choice, _ = read_gguf(path)
    except UsageError:
        return
    assert choice.model.arch.layers > 0
