"""Which arguments and environment names of a plan are handed on to an engine.

A plan file may come from anywhere, and engines have arguments that load code, open ports to the world or write files.
So only those listed here pass; an engine that needs others is started by hand and attached by its address.
"""

import re
from collections.abc import Mapping, Sequence

from repertory.errors import UsageError

__all__ = ("LLAMA_FLAGS", "VLLM_FLAGS", "check_environment", "split_command")

Flags = Mapping[str, int]
"""Flag to the number of its values: 0 or 1."""

_FREE = dict.fromkeys(("--host", "--port", "--api-key", "--served-model-name", "--alias", "-a"), 1)
"""Set by the supervisor; left out of what a plan says."""


def _table(with_value: str, *, switches: str) -> Flags:
    return dict.fromkeys(with_value.split(), 1) | dict.fromkeys(switches.split(), 0)


VLLM_FLAGS: Flags = _table(
    "--max-model-len --gpu-memory-utilization --max-num-seqs --max-num-batched-tokens --dtype "
    "--kv-cache-dtype --quantization --tensor-parallel-size --pipeline-parallel-size --scheduling-policy "
    "--block-size --seed --swap-space --cpu-offload-gb --tool-call-parser --reasoning-parser --max-logprobs "
    "--tokenizer-mode --load-format --attention-backend --kv-cache-memory-bytes --data-parallel-size "
    "--guided-decoding-backend --revision --structured-outputs-config.backend "
    "--structured-outputs-config.disable_any_whitespace",
    switches="--enforce-eager --enable-prefix-caching --no-enable-prefix-caching --enable-chunked-prefill "
    "--no-enable-chunked-prefill --enable-sleep-mode --enable-auto-tool-choice --enable-expert-parallel "
    "--enable-prompt-tokens-details --disable-custom-all-reduce --language-model-only",
)

LLAMA_FLAGS: Flags = _table(
    "-ngl --n-gpu-layers --gpu-layers -fa --flash-attn --split-mode -sm --tensor-split -ts --main-gpu -mg -b "
    "--batch-size -ub --ubatch-size -t --threads -tb --threads-batch -ctk --cache-type-k -ctv --cache-type-v "
    "--n-cpu-moe --reasoning-format --cache-ram --seed -s",
    switches="--jinja --no-mmap --mlock --no-repack --cpu-moe --no-warmup --swa-full --metrics",
)

_ENVIRONMENT = re.compile(
    r"(CUDA|HIP|ROCR)_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|OMP_NUM_THREADS|HF_HUB_OFFLINE|TRANSFORMERS_OFFLINE"
    r"|VLLM_CPU_(KVCACHE_SPACE|OMP_THREADS_BIND|NUM_OF_RESERVED_CPU|SGL_KERNEL)|VLLM_PP_LAYER_PARTITION"
    r"|VLLM_ATTENTION_BACKEND|VLLM_NO_USAGE_STATS|VLLM_LOGGING_LEVEL|VLLM_ENGINE_READY_TIMEOUT_S"
    r"|VLLM_USE_(FLASHINFER_\w+|DEEP_GEMM)|NCCL_P2P_DISABLE|PYTORCH_CUDA_ALLOC_CONF"
)
_VALUE = re.compile(r"[\x20-\x7e]{0,256}")


def split_command(
    arguments: Sequence[str], flags: Flags, *, own: Flags, where: str
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The flags of a plan's command that are handed on, and the values of those that we read ourselves.

    Args:
        arguments: The command behind the program (and behind vLLM's model).
        flags: What the engine may be given.
        own: What is read and not handed on.
        where: The place, for the error.

    Raises:
        UsageError: A flag is not known, or lacks its value.
    """
    passed: list[str] = []
    read: dict[str, str] = {}
    rest = [part for item in arguments for part in _apart(item)]
    while rest:
        name = rest.pop(0)
        known = {**_FREE, **own, **flags}
        if name not in known:
            message = f"the argument {name!r} is not one that a plan may give to an engine"
            raise UsageError(
                message, where=where, hint="start this engine by hand and attach it: an instance with engine `url`"
            )
        values = [rest.pop(0) for _ in range(min(known[name], len(rest)))]
        if len(values) < known[name] or not all(_VALUE.fullmatch(value) for value in values):
            message = f"the argument {name} has no usable value"
            raise UsageError(message, where=where)
        if name in flags:
            passed += [name, *values]
        else:
            read[name] = values[0] if values else ""
    return tuple(passed), read


def check_environment(environment: Mapping[str, str], where: str) -> dict[str, str]:
    """The environment of a plan's command.

    Raises:
        UsageError: A name is not known.
    """
    for name, value in environment.items():
        if not _ENVIRONMENT.fullmatch(name) or not _VALUE.fullmatch(value):
            message = f"the environment {name!r} is not one that a plan may set for an engine"
            raise UsageError(message, where=where, hint="set it in the environment of `repertory up`")
    return dict(environment)


def _apart(item: str) -> list[str]:
    """`--flag=value` as two."""
    return item.split("=", 1) if item.startswith("--") and "=" in item else [item]
