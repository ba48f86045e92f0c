import json
import struct
from pathlib import Path

import pytest

from repertory.catalog.loader import load_catalog
from repertory.catalog.own_config import choice_from_config
from repertory.catalog.own_gguf import read_gguf
from repertory.errors import UsageError

LLAMA = {
    "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}  # fmt: skip


def _write(path: Path, config: object) -> Path:
    file = path / "config.json"
    file.write_text(json.dumps(config), "utf-8")
    return file


def test_a_config_gives_the_same_counts_as_the_catalog(tmp_path: Path) -> None:
    choice = choice_from_config(_write(tmp_path, LLAMA))
    known = load_catalog().find_model("Llama-3.1-8B-Instruct")
    assert choice.model.arch.parameters.text == known.arch.parameters.text
    assert choice.format.name == "bf16"
    assert choice.known_bytes is None


def test_the_size_of_the_files_beside_it_is_taken(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"x" * 1000)
    assert choice_from_config(_write(tmp_path, LLAMA).parent).known_bytes == 1000


@pytest.mark.parametrize(
    ("quantization", "form"),
    [
        ({"quant_method": "awq", "bits": 4}, "awq-int4"),
        ({"quant_method": "gptq", "bits": 8}, "gptq-int8"),
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "compressed-tensors", "config_groups": {"a": {"num_bits": 4, "type": "int"}}}, "w4a16"),
    ],
)
def test_quantised_configs(tmp_path: Path, quantization: dict[str, object], form: str) -> None:
    choice = choice_from_config(_write(tmp_path, {**LLAMA, "quantization_config": quantization}))
    assert choice.format.name == form


def test_hybrid_and_windowed_layers(tmp_path: Path) -> None:
    kinds = ["sliding_attention"] * 5 + ["full_attention"]
    config = {**LLAMA, "num_hidden_layers": 6, "layer_types": kinds, "sliding_window": 512}
    arch = choice_from_config(_write(tmp_path, config)).model.arch
    assert {(group.kind, group.layers) for group in arch.attention} == {("sliding", 5), ("full", 1)}


@pytest.mark.parametrize("config", [[], {}, {"num_hidden_layers": 2}, "x"])
def test_other_json_is_refused(tmp_path: Path, config: object) -> None:
    with pytest.raises(UsageError) as error:
        choice_from_config(_write(tmp_path, config))
    assert error.value.where


def _gguf(tensors: list[tuple[str, tuple[int, ...], int]], **numbers: int) -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    meta = [text("general.architecture") + struct.pack("<I", 8) + text("llama")]
    meta += [text(f"llama.{key}") + struct.pack("<II", 4, value) for key, value in numbers.items()]
    body = b"".join(meta)
    for name, dims, kind in tensors:
        body += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        body += struct.pack("<IQ", kind, 0)
    return b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(meta)) + body


NUMBERS = {"block_count": 2, "embedding_length": 64, "feed_forward_length": 128, "context_length": 4096,
           "attention.head_count": 4, "attention.head_count_kv": 2}  # fmt: skip


def test_a_gguf_header_gives_exact_bytes(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(_gguf([("token_embd.weight", (64, 1000), 1), ("blk.0.ffn_up.weight", (64, 128), 8)], **NUMBERS))
    choice, header = read_gguf(path)
    assert header.weights.embedding == 64 * 1000 * 2
    assert header.weights.dense == 64 * 128 * 34 / 32
    assert choice.model.arch.kv_heads == 2
    assert choice.model.arch.vocab == 1000


@pytest.mark.parametrize("cut", [0, 3, 10, 30, 100])
def test_a_cut_off_gguf_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(_gguf([("token_embd.weight", (64, 1000), 1)], **NUMBERS)[:cut])
    with pytest.raises(UsageError):
        read_gguf(path)


def test_a_gguf_that_claims_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 2**60, 2**60))
    with pytest.raises(UsageError, match="claims"):
        read_gguf(path)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden_size": -4096}, "hidden_size is -4096"),
        ({"hidden_size": 10**30}, "too long to print"),
        ({"num_hidden_layers": 10**7}, "num_hidden_layers"),
        ({"num_attention_heads": 0}, "no num_attention_heads"),
        ({"hidden_size": "4096"}, "no hidden_size"),
        ({"max_position_embeddings": -5}, "max_position_embeddings"),
        ({"sliding_window": 512, "sliding_window_pattern": -1}, "sliding_window_pattern"),
    ],
)
def test_numbers_that_no_model_has_are_refused(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        choice_from_config(_write(tmp_path, LLAMA | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"quantization_config": "awq"},
        {"text_config": [1]},
        {"layer_types": "full_attention"},
        {"full_attention_interval": "x"},
        {"num_experts": 4, "num_experts_per_tok": 99, "moe_intermediate_size": 64},
    ],
)
def test_fields_of_another_type_are_passed_over(tmp_path: Path, changes: dict[str, object]) -> None:
    arch = choice_from_config(_write(tmp_path, LLAMA | changes)).model.arch
    assert arch.layers == 32
    assert arch.experts_per_token <= arch.experts


def test_what_is_not_a_config_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / "config.json"
    deep.write_text("[" * 100_000, "utf-8")
    with pytest.raises(UsageError, match="not JSON"):
        choice_from_config(deep)
    deep.unlink()
    deep.symlink_to(deep)
    with pytest.raises(UsageError, match="can not be read"):
        choice_from_config(deep)
