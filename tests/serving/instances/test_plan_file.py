import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from repertory.errors import UsageError
from repertory.serving.instances.launch_command import shim_order
from repertory.serving.instances.plan_file import PlanDocument, instances_of_plan, read_plan_file
from repertory.serving.instances.records import InstanceSpec
from repertory.serving.instances.resolve import Programs, resolve_instances

VLLM = [
    *("env", "CUDA_VISIBLE_DEVICES=0", "vllm", "serve", "Qwen/Qwen3-8B", "--port", "8101", "--max-model-len", "8192"),
    *("--gpu-memory-utilization", "0.96", "--max-num-seqs", "32", "--enable-prefix-caching"),
    *("--scheduling-policy", "priority", "--reasoning-parser", "qwen3"),
]
LLAMA = [
    *("llama-server", "-hf", "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q4_K_M", "-c", "49152", "-np", "6", "-ngl", "99"),
    *("-fa", "on", "--slot-save-path", ".", "--port", "8102"),
]


def plan(**changes: object) -> dict[str, Any]:
    instance = {
        "id": "i1", "model": "Qwen/Qwen3-8B", "checkpoint": "Qwen/Qwen3-8B", "engine": "vllm", "devices": ["gpu0"],
        "agents": ["coach", "synth"], "memory": {"total_gib": 22.5}, "resident": True, "command": VLLM,
    }  # fmt: skip
    return {"team": "coaching", "status": "optimal", "instances": [instance | changes]}


def only(**changes: object) -> InstanceSpec:
    (spec,) = instances_of_plan(PlanDocument.model_validate(plan(**changes)), "plan.json").instances
    return spec


def test_a_vllm_instance_keeps_what_the_plan_says_but_not_its_address() -> None:
    spec = only()
    assert spec.environment == {"CUDA_VISIBLE_DEVICES": "0"}
    assert spec.predicted_gib == 22.5
    order = shim_order(
        spec.model_copy(update={"program": "/opt/vllm"}),
        root=Path("/r"), folder=Path("/r/i1"), launch="L", port=20001, api_key="secret",
    )  # fmt: skip
    command = " ".join(order.arguments)
    assert command.startswith(
        "/opt/vllm serve Qwen/Qwen3-8B --host 127.0.0.1 --port 20001 --served-model-name Qwen3-8B"
    )
    assert "8101" not in command
    assert "--gpu-memory-utilization 0.96" in command
    assert "secret" not in command
    assert order.environment["VLLM_API_KEY"] == "secret"
    assert "VLLM_SERVER_DEV_MODE" not in order.environment


def test_a_vllm_that_takes_turns_can_sleep() -> None:
    spec = only(resident=False).model_copy(update={"program": "/opt/vllm"})
    order = shim_order(spec, root=Path("/r"), folder=Path("/r/i1"), launch="L", port=1, api_key="k")
    assert "--enable-sleep-mode" in order.arguments
    assert order.environment["VLLM_SERVER_DEV_MODE"] == "1"


def test_a_llamacpp_instance_has_its_own_kv_cache_per_slot_and_a_private_folder_for_slot_states() -> None:
    spec = only(engine="llama.cpp", command=LLAMA, devices=["gpu0"])
    assert (spec.slots, spec.context_tokens, spec.kv_unified) == (6, 8192, False)
    ready = spec.model_copy(update={"program": "/opt/llama-server", "checkpoint": "/m.gguf"})
    order = shim_order(ready, root=Path("/r"), folder=Path("/r/i1"), launch="L", port=20002, api_key="secret")
    command = " ".join(order.arguments)
    assert "-np 6 -c 49152" in command
    assert "--slot-save-path /r/i1/slots/" in command
    assert "--kv-unified" not in command
    assert "secret" not in command
    assert order.environment["LLAMA_API_KEY"] == "secret"


def test_a_unified_cache_is_kept_unified() -> None:
    spec = only(engine="llama.cpp", command=[*LLAMA, "--kv-unified"])
    assert (spec.kv_unified, spec.context_tokens) == (True, 49152)
    ready = spec.model_copy(update={"checkpoint": "/m.gguf"})
    order = shim_order(ready, root=Path("/r"), folder=Path("/r/i1"), launch="L", port=1, api_key="k")
    assert order.embedded is not None
    assert order.embedded["kv_unified"] is True
    assert order.embedded["slots"] == 6
    assert order.embedded["context_tokens"] == 8192


def test_our_own_settings_do_not_reach_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPERTORY_DATABASE", "postgresql://me:password@db/x")
    monkeypatch.setenv("HF_TOKEN", "hub")
    spec = only().model_copy(update={"program": "/opt/vllm"})
    environment = shim_order(spec, root=Path("/r"), folder=Path("/i"), launch="L", port=1, api_key="k").environment
    assert "REPERTORY_DATABASE" not in environment
    assert environment["HF_TOKEN"] == "hub"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"command": ["rm", "-rf", "/"]}, "must be `vllm serve"),
        ({"command": ["bash", "serve", "x"]}, "must be `vllm serve"),
        ({"command": ["env", "LD_PRELOAD=/tmp/x.so", *VLLM[2:]]}, "'LD_PRELOAD'"),
        ({"command": ["env", "PATH=/tmp", *VLLM[2:]]}, "'PATH'"),
        ({"command": [*VLLM, "--trust-remote-code"]}, "'--trust-remote-code'"),
        ({"command": [*VLLM, "--tool-parser-plugin", "/tmp/x.py"]}, "'--tool-parser-plugin'"),
        ({"command": [*VLLM, "--middleware=evil"]}, "'--middleware'"),
        ({"command": [*VLLM, "extra"]}, "'extra'"),
        ({"command": [*VLLM, "--dtype"]}, "no usable value"),
        ({"command": ["vllm", "serve", "--config"]}, "no checkpoint"),
        ({"engine": "llama.cpp", "command": ["sh", "-c", "true"]}, "must be `llama-server"),
        ({"engine": "llama.cpp", "command": [*LLAMA, "--log-file", "/etc/passwd"]}, "'--log-file'"),
        ({"engine": "llama.cpp", "command": ["llama-server", "-np", "0"]}, "-np must be a positive number"),
        ({"engine": "sglang"}, "SGLang"),
        ({"engine": "url"}, "`url`"),
    ],
)
def test_what_a_plan_may_not_say_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as told:
        only(**changes)
    assert message in str(told.value)


@pytest.mark.parametrize("name", ["../../etc", "", "a/b", "A" * 40, ".", "-x"])
def test_an_instance_can_not_be_named_like_a_path(name: str) -> None:
    with pytest.raises(ValidationError):
        PlanDocument.model_validate(plan(id=name))


def test_a_file_is_read_or_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    for text, message in (
        ("{", "no JSON"),
        ("[]", "this is no plan"),
        ('{"team": "x", "status": "infeasible", "instances": [], "notes": ["too small"]}', "too small"),
        (json.dumps({"team": "x", "instances": [plan()["instances"][0]] * 2}), "the instance i1 is named twice"),
        ("[" * 100_000, "no plan"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=message):
            read_plan_file(path)
    with pytest.raises(UsageError, match="can not be read"):
        read_plan_file(tmp_path / "none.json")
    path.write_text(json.dumps(plan()))
    assert read_plan_file(path).team == "coaching"


@given(st.lists(st.text(max_size=12), max_size=8))
def test_no_command_does_anything_but_start_or_be_refused(words: list[str]) -> None:
    try:
        spec = only(command=["vllm", "serve", *words])
    except (UsageError, ValidationError):
        return
    assert spec.checkpoint == (words[0] if words else "Qwen/Qwen3-8B")
    assert not spec.checkpoint.startswith("-")


def test_files_and_programs_are_found_or_it_is_said_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    fetched: list[str] = []

    def fetch(name: str) -> Path:
        fetched.append(name)
        return tmp_path / "model.gguf"

    def resolve(programs: Programs, **changes: object) -> InstanceSpec:
        wanted = instances_of_plan(PlanDocument.model_validate(plan(**changes)), "p")
        return resolve_instances(wanted, programs, fetch, "p").instances[0]

    with pytest.raises(UsageError, match="vLLM is not installed"):
        resolve(Programs())
    program = tmp_path / "venv" / "bin" / "vllm"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert resolve(Programs(vllm=str(tmp_path / "venv"))).program == str(program)
    with pytest.raises(UsageError, match="no llama-server is on PATH"):
        resolve(Programs(), engine="llama.cpp", command=LLAMA)
    embedded = resolve(Programs(), engine="llama.cpp", command=LLAMA[:7], devices=["cpu"])
    assert (embedded.program, embedded.checkpoint) == (None, str(tmp_path / "model.gguf"))
    assert fetched == ["qwen2.5-coder-1.5b"]


def test_a_plan_may_say_how_much_disk_computed_prompts_get() -> None:
    def of(**changes: object) -> float | None:
        return instances_of_plan(PlanDocument.model_validate(plan() | changes), "plan.json").slot_cache_gib

    assert of() is None
    assert of(slot_cache_gib=2.5) == 2.5
    assert of(slot_cache_gib=0) == 0
    for bad in (-1, "much", float("nan"), float("inf")):
        with pytest.raises(ValidationError):
            of(slot_cache_gib=bad)
