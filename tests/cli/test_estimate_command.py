import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from repertory.cli.estimate import register
from repertory.errors import UsageError

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    app = typer.Typer()
    register(app)
    app.command("other")(lambda: None)  # one command alone would lose its name

    def command(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["estimate", *arguments])

    return command


def document(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_document_has_the_promised_shape(run: Run) -> None:
    found = document(run("Qwen3-8B", "--devices", "rtx4090", "--context", "8192", "--json"))
    assert found["fits"] is True
    assert {"fits", "per_device", "max_context", "max_concurrency", "speed", "why"} <= set(found)
    fields = {"weights_gib", "kv_pool_gib", "kv_tokens", "kv_bytes_per_token", "activation_gib", "graphs_gib",
              "overhead_gib", "free_gib"}  # fmt: skip
    assert fields <= set(found["per_device"][0])
    device = found["per_device"][0]
    assert device["kv_bytes_per_token"] == 147456
    low, high = device["weights_gib_range"]
    assert low < device["weights_gib"] < high
    assert found["speed"]["decode_tok_s_range"][0] < found["speed"]["decode_tok_s"]


def test_all_options_count(run: Run) -> None:
    options = "--checkpoint awq --tensor-parallel 2 --context 16384 --max-seqs 8 --kv-dtype fp8 --utilization 0.8"
    more = "--batched-tokens 4096 --concurrency 8 --engine-version 0.19 --eager"
    found = document(run("Qwen3-32B", "--devices", "2xrtx4090", *options.split(), *more.split(), "--json"))
    assert len(found["per_device"]) == 2
    assert found["per_device"][0]["kv_bytes_per_token"] == 64 * 4 * 2 * 128
    assert found["per_device"][0]["graphs_gib"] == 0
    assert found["settings"]["format"] == "awq-int4"
    assert found["speed"]["decode_tok_s_total"] == pytest.approx(8 * found["speed"]["decode_tok_s"], rel=0.01)


def test_what_does_not_fit_is_an_answer_not_an_error(run: Run) -> None:
    found = document(run("Qwen3-235B-A22B", "--devices", "rtx4090", "--json"))
    assert found["fits"] is False
    assert found["max_context"] == 0
    assert "GiB" in found["why"]


def test_words_for_people(run: Run) -> None:
    result = run("gpt-oss-20b", "--engine", "llama.cpp", "--devices", "rtx4090", "--context", "32768")
    assert result.exit_code == 0
    assert "fits" in result.output
    assert "tokens/s" in result.output


def test_a_config_of_ones_own(run: Run, tmp_path: Path) -> None:
    config = {"num_hidden_layers": 24, "hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 4,
              "intermediate_size": 8192, "vocab_size": 50000, "max_position_embeddings": 8192}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    found = document(run(str(tmp_path / "config.json"), "--devices", "24GiB", "--json"))
    assert found["per_device"][0]["kv_bytes_per_token"] == 24 * 4 * 2 * 128 * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Qwenn3-8B", "--devices", "rtx4090"], "Qwen3-8B"),
        (["Qwen3-8B", "--devices", "rtx4091"], "rtx4090"),
        (["Qwen3-8B", "--devices", "rtx4090", "--engine", "vlm"], "vllm"),
        (["Qwen3-8B", "--devices", "rtx4090", "--kv-dtype", "q9"], "fp8_e4m3"),
        (["Qwen3-8B", "--devices", "rtx4090", "--checkpoint", "q9"], "awq-int4"),
        (["Qwen3-8B", "--devices", "3xrtx4090", "--tensor-parallel", "3"], "1, 2"),
        (["Qwen3-8B", "--devices", "rtx4090", "--tensor-parallel", "2"], "2xrtx4090"),
        (["Qwen3-8B", "--devices", "rtx4090", "--context", "999999"], "40,960"),
        (["Qwen3-8B", "--devices", "m4_max"], "llama.cpp"),
        (["Qwen3-8B", "--devices", "rtx4090", "--engine-version", "new"], "0.11"),
        (["./missing.gguf", "--devices", "rtx4090", "--engine", "llama.cpp"], "GGUF"),
        (["Qwen3-8B", "--devices", "missing.yaml"], "missing.yaml"),
    ],
)
def test_impossible_questions_are_refused_with_a_hint(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


@pytest.mark.parametrize("option", [["--utilization", "1.5"], ["--context", "0"], ["--tensor-parallel", "0"]])
def test_values_out_of_range_are_bad_usage(run: Run, option: list[str]) -> None:
    assert run("Qwen3-8B", "--devices", "rtx4090", *option).exit_code == 2
