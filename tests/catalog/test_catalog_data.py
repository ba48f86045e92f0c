import json
from pathlib import Path

import pytest

from repertory.catalog.benchmarks import BENCHMARKS, series_score
from repertory.catalog.formats import FORMATS, format_of, weight_bytes
from repertory.catalog.loader import check_sources, load_catalog
from repertory.catalog.records import Model
from repertory.errors import UsageError

CATALOG = load_catalog()


def test_every_row_names_a_known_source() -> None:
    assert check_sources(CATALOG) == []


def test_there_are_seventy_models_to_cast_and_more_to_estimate() -> None:
    assert len(CATALOG.models) == 70
    assert len(CATALOG.extra) >= 50


@pytest.mark.parametrize("model", [*CATALOG.models, *CATALOG.extra], ids=lambda m: m.name)
def test_dimensions_give_the_published_parameter_count(model: Model) -> None:
    """Within 6 %: published totals are rounded, and some leave towers out."""
    counts = (model.arch.parameters.total / 1e9, model.arch.parameters.text / 1e9)
    nearest = min(counts, key=lambda count: abs(count - model.total_b))
    assert nearest == pytest.approx(model.total_b, rel=0.06)


def test_checkpoint_formats_are_known() -> None:
    for model in (*CATALOG.models, *CATALOG.extra):
        for row in model.checkpoints:
            assert row.format in FORMATS, (model.id, row.format)


def test_computed_sizes_agree_with_known_ones() -> None:
    """Median within 3 %, worst within 20 % (NVFP4 and MXFP4 mixes differ in what they leave alone)."""
    errors = sorted(
        abs(weight_bytes(model.arch, FORMATS[row.format]).total / row.bytes - 1)
        for model in CATALOG.models
        for row in model.checkpoints
        if row.bytes and row.bytes > 2e9
    )
    assert len(errors) > 50
    assert errors[len(errors) // 2] < 0.03
    assert errors[-1] < 0.20


@pytest.mark.parametrize(
    ("text", "model", "form"),
    [
        ("LLaMA 3 8B", "meta-llama/Meta-Llama-3-8B-Instruct", "bf16"),
        ("Qwen/Qwen2.5-7B-Instruct-AWQ", "Qwen/Qwen2.5-7B-Instruct", "awq-int4"),
        ("cyankiwi/gemma-4-31B-it-AWQ-4bit", "google/gemma-4-31B-it", "awq-int4"),
        ("nvidia/Llama-3.3-70B-Instruct-NVFP4", "meta-llama/Llama-3.3-70B-Instruct", "nvfp4"),
        ("gpt-oss 20b", "openai/gpt-oss-20b", "mxfp4"),
        ("qwen2-5-vl-7b-instruct-awq", "Qwen/Qwen2.5-VL-7B-Instruct", "awq-int4"),
        ("Qwen3-235B-A22B-Instruct-2507-FP8", "Qwen/Qwen3-235B-A22B-Instruct-2507", "fp8"),
    ],
)
def test_names_that_people_write(text: str, model: str, form: str) -> None:
    choice = CATALOG.choose(text)
    assert (choice.model.id, choice.format.name) == (model, form)


def test_llama_cpp_takes_gguf() -> None:
    assert CATALOG.choose("Qwen3-8B", engine="llama.cpp").format.name == "gguf-q4_k_m"
    assert CATALOG.choose("Qwen3-8B", "bf16", engine="llama.cpp").format.gguf
    assert CATALOG.choose("gpt-oss-20b", engine="llama.cpp").format.name == "gguf-mxfp4_moe"


@pytest.mark.parametrize("text", ["Qwenn3-8B", "nothing like it", ""])
def test_an_unknown_model_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as error:
        CATALOG.choose(text)
    assert error.value.hint


def test_an_unknown_model_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Qwen3-8B"):
        CATALOG.find_model("Qwenn3-8B")


def test_an_unknown_checkpoint_lists_what_there_is() -> None:
    with pytest.raises(UsageError, match="awq-int4"):
        CATALOG.choose("Qwen3-8B", "q9_z")


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("RTX 4090", "rtx4090"),
        ("NVIDIA A100-SXM4-40GB", "a100_40_sxm"),
        ("A100-80GB", "a100_80_sxm"),
        ("3090 24GB", "rtx3090"),
        ("H100 PCIe 80GB", "h100_pcie"),
    ],
)
def test_device_names(text: str, device: str) -> None:
    assert CATALOG.find_device(text).id == device


def test_formats_by_other_names() -> None:
    assert [format_of(x).name for x in ("AWQ", "Q4_K_M", "W8A8", "fp16")] == [  # pyright: ignore[reportOptionalMemberAccess] - known names
        "awq-int4",
        "gguf-q4_k_m",
        "int8",
        "bf16",
    ]
    assert format_of("q9") is None


def test_scores_are_compared_in_one_series_and_mode() -> None:
    model = CATALOG.find_model("Qwen3-8B")
    thinking, direct = (series_score(model, "gpqa_diamond", mode) for mode in ("thinking", "direct"))
    assert thinking is not None
    assert direct is not None
    assert thinking.score > direct.score
    assert "gpqa" in BENCHMARKS
    assert "gpqa_diamond" in BENCHMARKS


def test_own_rows_are_read_and_a_row_without_source_is_refused(tmp_path: Path) -> None:
    row = json.loads(CATALOG.find_model("Qwen3-0.6B").model_dump_json(exclude_none=True))
    row["id"] = "me/Mine-1B"
    (tmp_path / "mine.json").write_text(json.dumps(row), "utf-8")
    assert load_catalog(tmp_path).find_model("mine-1b").id == "me/Mine-1B"
    bad = tmp_path / "bad"
    bad.mkdir()
    row["scores"][0]["source"] = ""
    (bad / "mine.json").write_text(json.dumps(row), "utf-8")
    with pytest.raises(UsageError, match="source"):
        load_catalog(bad)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"native_format": "nonsense"}, "not a checkpoint format"),
        ({"checkpoints": [{"repo": "a", "format": "nonsense", "source": "b"}]}, "not a checkpoint format"),
        ({"id": "qwen/qwen3-0.6b"}, "already"),
        ({"params_source": ""}, "params_source"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_own_rows_that_can_not_be_used_are_refused(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    row = json.loads(CATALOG.find_model("Qwen3-0.6B").model_dump_json(exclude_none=True))
    (tmp_path / "mine.json").write_text(json.dumps(row | {"id": "me/Mine-1B"} | changes), "utf-8")
    with pytest.raises(UsageError, match=words) as error:
        load_catalog(tmp_path)
    assert error.value.where == str(tmp_path / "mine.json")
    assert error.value.hint


def test_broken_files_of_own_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text("{", "utf-8")
    with pytest.raises(UsageError, match="JSON"):
        load_catalog(tmp_path)
    path.unlink()
    path.symlink_to(path)
    with pytest.raises(UsageError, match="not a file"):
        load_catalog(tmp_path)
