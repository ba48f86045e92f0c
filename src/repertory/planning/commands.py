"""The command that starts a planned instance, ready to copy."""

import math
from collections.abc import Mapping

from repertory.catalog.profiles import Slot
from repertory.planning.needs import AgentNeeds
from repertory.planning.packing import Placement
from repertory.planning.together import Together

__all__ = ("engine_command", "vllm_share")

_PORT = 8101


def vllm_share(placement: Placement, memory_gib: float) -> float:
    """The `--gpu-memory-utilization` that gives an instance what the plan counts for it, rounded up."""
    return min(0.98, math.ceil(placement.load_mib / 1024 / memory_gib * 100 + 0.5) / 100)


def engine_command(
    placement: Placement, number: int, slots: tuple[Slot, ...], agents: Mapping[str, AgentNeeds], together: Together
) -> list[str]:
    """Arguments of the engine's server; `CUDA_VISIBLE_DEVICES` is set by the first ones."""
    candidate = placement.candidate
    choice = candidate.choice
    context = max(agents[name].context_tokens for name in placement.agents)
    requests = sum(agents[name].concurrency for name in placement.agents)
    most = max((sum(agents[a].context_tokens * agents[a].concurrency for a in group & set(placement.agents))
                for group in together), default=context)  # fmt: skip
    visible = ",".join(slots[d].name.removeprefix("gpu") for d in placement.slots)
    env = ["env", f"CUDA_VISIBLE_DEVICES={visible}"] if candidate.device.vendor == "nvidia" else []
    port = str(_PORT + number)
    if candidate.instance.engine == "llama.cpp":
        file = choice.repo.removeprefix("docker:")
        kind = choice.format.name.removeprefix("gguf-").upper()
        source = ["--docker-repo", file] if choice.repo.startswith("docker:") else ["-hf", f"{file}:{kind}"]
        command = [*env, "llama-server", *source, "-c", str(most), "-np", str(requests), "-ngl", "99", "-fa", "on"]
        command.append("--kv-unified")  # slots share the cells, so that one may hold a longer context
        if candidate.span > 1:
            command += ["--split-mode", "layer"]
        return [*command, "--port", port]
    share = vllm_share(placement, slots[placement.slots[0]].memory_gib)
    command = [*env, "vllm", "serve", choice.repo, "--port", port, "--max-model-len", str(context)]
    command += ["--gpu-memory-utilization", f"{share:.2f}", "--max-num-seqs", str(candidate.instance.max_seqs)]
    command += ["--max-num-batched-tokens", str(candidate.instance.batched_tokens), "--enable-prefix-caching"]
    command += ["--scheduling-policy", "priority"]
    if candidate.span > 1:
        command += ["--tensor-parallel-size", str(candidate.span)]
    if not placement.resident:
        command += ["--enable-sleep-mode"]
    serving = choice.model.serving
    if serving.tool_parser:
        command += ["--enable-auto-tool-choice", "--tool-call-parser", serving.tool_parser]
    if serving.reasoning_parser:
        command += ["--reasoning-parser", serving.reasoning_parser]
    return command
