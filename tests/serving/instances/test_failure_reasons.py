"""Reasons found in logs. The lines are those that engines printed, as public issues quote them (linked beside each)."""

import signal

import pytest

from repertory.serving.instances.failure_reasons import FailurePattern, failure_patterns, find_reason

VLLM = "https://github.com/vllm-project/vllm"
LLAMA = "https://github.com/ggml-org/llama.cpp"

REAL_LINES = [
    (  # VLLM/issues/34076
        "vllm",
        (
            "(EngineCore_DP0 pid=1094) ValueError: To serve at least one request with the models's max seq len "
            "(262144), (24.0 GiB KV cache is needed, which is larger than the available KV cache memory (3.18 GiB). "
            "Based on the available memory, the estimated maximum model length is 34736. Try increasing "
            "`gpu_memory_utilization` or "
            "decreasing `max_model_len` when initializing the engine."
        ),
        "out_of_memory",
        "a request of 262144 tokens needs 24.00 GiB of KV cache and 3.18 GiB are left for it; 20.82 GiB are missing",
        "34736 would fit",
        True,
    ),
    (  # VLLM/issues/16118
        "vllm",
        (
            "ERROR 04-05 01:12:55 [core.py:390] ValueError: To serve at least one request with the models's max seq "
            "len (1048576), (24.00 GiB KV cache is needed, which is larger than the available KV cache memory "
            "(9.97 GiB). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing."
        ),
        "out_of_memory",
        "14.03 GiB are missing",
        "lower --max-model-len, raise",
        True,
    ),
    (  # VLLM/issues/2418
        "vllm",
        (
            "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored "
            "in KV cache (3664). Try increasing `gpu_memory_utilization` or decreasing `max_model_len`"
        ),
        "out_of_memory",
        "the KV cache holds 3664 tokens and one request may have 4096",
        "3664 would fit",
        True,
    ),
    (  # kvcached#29
        "vllm",
        (
            "ValueError: Free memory on device (59.32/79.15 GiB) on startup is less than desired GPU memory "
            "utilization (0.9, 71.24 GiB). Decrease GPU memory utilization or reduce GPU memory used by others."
        ),
        "out_of_memory",
        "71.24 GiB of the device's 79.15 GiB, and 59.32 GiB are free; 11.92 GiB are missing",
        "from 0.9",
        False,
    ),
    (  # pytorch#175666
        "vllm",
        (
            "ValueError: Free memory on device cuda:0 (19.77/22.05 GiB) on startup is less than desired GPU memory "
            "utilization (0.9, 19.84 GiB)."
        ),
        "out_of_memory",
        "71.68 MiB are missing",
        "nvidia-smi",
        False,
    ),
    (  # VLLM/issues/12030
        "vllm",
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of "
            "11.53 GiB of which 187.75 MiB is free. Including non-PyTorch memory, this process has 11.32 GiB"
        ),
        "out_of_memory",
        "0.22 GiB more were needed and 0.18 GiB were free; 36.25 MiB are missing",
        "--max-num-batched-tokens",
        False,
    ),
    (  # carolchenyx/MGFN.#35: a size without digits that we know
        "vllm",
        (
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.70 GiB. GPU 0 has a total capacty of "
            "6.00 GiB of which 0 bytes is free."
        ),
        "out_of_memory",
        "out of memory on the device",
        "smaller",
        False,
    ),
    (
        "vllm",
        (
            "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
            "initializing the engine."
        ),
        "out_of_memory",
        "leave no room for the KV cache",
        "--gpu-memory-utilization",
        True,
    ),
    (  # ik_llama.cpp#235
        "llama.cpp",
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8900.01 MiB on device 0: cudaMalloc failed: "
            "out of memory"
        ),
        "out_of_memory",
        "on device 0: a buffer of 8.69 GiB",
        "-ngl",
        True,
    ),
    (  # ollama#8597
        "llama.cpp",
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 45108.64 MiB on device 0: cudaMalloc failed: "
            "out of memory"
        ),
        "out_of_memory",
        "a buffer of 44.05 GiB",
        "-c",
        True,
    ),
    (  # LLAMA/issues/8101: 128 GiB of cache for the context that the model was trained for
        "llama.cpp",
        "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 137438953504",
        "out_of_memory",
        "a buffer of 128.00 GiB",
        "lower the context",
        True,
    ),
    (  # ollama#12634
        "llama.cpp",
        "alloc_tensor_range: failed to allocate CPU buffer of size 437944320",
        "out_of_memory",
        "a buffer of 0.41 GiB",
        "smaller quantization",
        True,
    ),
    (  # Sakura_Launcher_GUI#71
        "llama.cpp",
        "main: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080",
        "port_in_use",
        "port 8080 is in use",
        "another port",
        False,
    ),
    ("vllm", "OSError: [Errno 98] Address already in use", "port_in_use", "in use", "another port", False),
    (  # llama.vim#36
        "llama.cpp",
        "error: invalid argument: -hf",
        "bad_flag",
        "does not know -hf",
        "plan's command",
        True,
    ),
    (  # llama-swap#283
        "llama.cpp",
        "error while handling argument \"--flash-attn\": error: unkown value for --flash-attn: '--ctx-size'",
        "bad_flag",
        "does not take --flash-attn: error: unkown value",
        "correct it",
        True,
    ),
    (  # ramalama#758
        "vllm",
        "vllm: error: unrecognized arguments: --temperature 0.8",
        "bad_flag",
        "does not know --temperature 0.8",
        "leave it out",
        True,
    ),
    (  # VLLM/issues/9712
        "vllm",
        "ValueError: Model architectures ['LlamaForCausalLM'] are not supported for now. Supported architectures: x",
        "unsupported_architecture",
        "'LlamaForCausalLM'",
        "newer vLLM",
        True,
    ),
    (
        "vllm",
        (
            "ValueError: The checkpoint you are trying to load has model type `qwen3_next` but Transformers does not "
            "recognize this architecture."
        ),
        "unsupported_architecture",
        "type qwen3_next",
        "newer transformers",
        True,
    ),
    (
        "llama.cpp",
        "llama_model_load: error loading model: error loading model architecture: unknown model architecture: 'qwen35'",
        "unsupported_architecture",
        "the architecture qwen35",
        "newer llama.cpp",
        True,
    ),
    (  # ollama#6228
        "llama.cpp",
        (
            "llama_model_load: error loading model: tensor 'blk.2.ffn_down.weight' data is not within the file bounds, "
            "model is corrupted or incomplete"
        ),
        "model_broken",
        "ends too early (in blk.2.ffn_down.weight)",
        "models verify",
        True,
    ),
    (  # LLAMA/issues/6665
        "llama.cpp",
        "llama_model_load: error loading model: create_tensor: tensor 'blk.0.ffn_gate.0.weight' not found",
        "model_broken",
        "tensor 'blk.0.ffn_gate.0.weight' not found",
        "models verify",
        False,
    ),
    (  # Qwen3-VL#264
        "vllm",
        "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
        "model_broken",
        "MetadataIncompleteBuffer",
        "fetch the model again",
        True,
    ),
    (
        "vllm",
        (
            "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU "
            "has compute capability 7.5. You can use float16 instead"
        ),
        "unsupported_device",
        "Tesla T4 (compute capability 7.5)",
        "--dtype half",
        True,
    ),
]


@pytest.mark.parametrize(("engine", "line", "code", "says", "advice", "permanent"), REAL_LINES)
def test_a_real_line_is_told_in_words(
    engine: str, line: str, code: str, says: str, advice: str, permanent: bool
) -> None:
    before = ["INFO 05-10 16:00:15 [core.py:58] Initializing a V1 LLM engine", "warning: not all is well"]
    reason = find_reason([*before, line, "main: exiting due to model loading error"], engine, 1)
    assert (reason.code, reason.permanent) == (code, permanent)
    assert says in reason.message
    assert advice in reason.advice
    assert "{" not in reason.message + reason.advice


def test_the_cause_is_preferred_to_what_follows_from_it() -> None:
    lines = [
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 35533.34 MiB on device 0: cudaMalloc failed: out of m",
        "llama_model_load: error loading model: unable to allocate CUDA0 buffer",
        "llama_model_load_from_file_impl: failed to load model",
    ]
    assert find_reason([lines[0] + "emory", *lines[1:]], "llama.cpp", 1).code == "out_of_memory"


def test_what_was_free_before_the_start_is_put_beside_what_an_engine_does_not_tell() -> None:
    line = "allocating 20480.00 MiB on device 0: cudaMalloc failed: out of memory"
    reason = find_reason([line], "llama.cpp", 1, free_gib=12.5)
    assert "12.50 GiB were free before the start, so at least 7.50 GiB are missing" in reason.message
    assert reason.missing_gib == 7.5


def test_an_unknown_end_is_told_with_the_last_line_that_speaks_of_an_error() -> None:
    reason = find_reason(["loading", "RuntimeError: the flux failed", "bye"], "vllm", 3)
    assert reason.message == "it ended with exit code 3: RuntimeError: the flux failed"
    assert not reason.permanent


@pytest.mark.parametrize(
    ("number", "code", "permanent"),
    [(signal.SIGKILL, "killed", False), (signal.SIGILL, "illegal_instruction", True), (signal.SIGSEGV, "ended", False)],
)
def test_signals_have_their_reasons(number: int, code: str, permanent: bool) -> None:
    reason = find_reason([], "llama.cpp", -number)
    assert (reason.code, reason.permanent) == (code, permanent)


def test_a_log_can_not_put_control_characters_on_the_screen() -> None:
    reason = find_reason(["error: unrecognized arguments: --x\x1b[2J\x07" + "y" * 5000], "vllm", 2)
    assert "\x1b" not in reason.message
    assert len(reason.message) < 400


def test_every_entry_of_the_table_is_met_by_a_real_line_or_named_here() -> None:
    """A new entry needs a line of a log; the ones below are common messages of Python and the drivers."""
    common = {"no_device", "model_missing", "model_gated", "engine_broken", "context_too_long", "tensor_parallel"}
    met = {
        pattern.find.pattern
        for pattern in failure_patterns()
        for engine, line, *_ in REAL_LINES
        if pattern.engine in (engine, "any") and pattern.find.search(line)
    }
    unmet = {
        pattern.code for pattern in failure_patterns() if pattern.find.pattern not in met and pattern.code not in common
    }
    assert unmet <= {"out_of_memory", "bad_flag", "unsupported_device", "model_broken"}


@pytest.mark.parametrize("pattern", failure_patterns(), ids=lambda pattern: pattern.find.pattern[:40])
def test_no_entry_takes_long_on_a_hostile_line(pattern: FailurePattern) -> None:
    pattern.find.search(
        "max seq len (1" + "1" * 20_000 + " (" * 2000 + "CUDA out of memory. Tried to allocate 1" + ".1" * 5000
    )
