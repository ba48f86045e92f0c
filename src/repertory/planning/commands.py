"""The command that starts a planned instance, ready to copy."""

import math
from collections.abc import Mapping

from repertory.catalog.profiles import Slot
from repertory.planning.instance import Instance
from repertory.planning.needs import AgentNeeds
from repertory.planning.packing import Placement
from repertory.planning.together import Together

__all__ = ("as_placed", "engine_command", "vllm_share")

_PORT = 8101
_SLOT_FOLDER = "."
"""Where llama-server puts slot states: a folder that exists wherever the command is copied to. `up` names its own."""


def vllm_share(placement: Placement, memory_gib: float) -> float:
    """The `--gpu-memory-utilization` that gives an instance what the plan counts for it, rounded up."""
    return min(0.98, math.ceil(placement.load_mib / 1024 / memory_gib * 100 + 0.5) / 100)


def as_placed(placement: Placement, agents: Mapping[str, AgentNeeds], together: Together) -> Instance:
    """The instance with the settings that its agents make it start with: longest request, or slots and their cells."""
    candidate = placement.candidate
    if candidate.slot_context is None:
        context = max(agents[name].context_tokens for name in placement.agents)
        return candidate.instance.with_settings(context=context)
    mine = frozenset(placement.agents)
    sets = candidate.cached_at_once(together)
    slots = max(sum(agents[name].concurrency for name in group & mine) for group in sets)
    return candidate.instance.with_settings(max_seqs=slots, context=slots * candidate.slot_context)


def engine_command(
    placement: Placement, number: int, slots: tuple[Slot, ...], agents: Mapping[str, AgentNeeds], together: Together
) -> list[str]:
    """Arguments of the engine's server; `CUDA_VISIBLE_DEVICES` is set by the first ones."""
    candidate = placement.candidate
    choice = candidate.choice
    instance = as_placed(placement, agents, together)
    visible = ",".join(slots[d].name.removeprefix("gpu") for d in placement.slots)
    env = ["env", f"CUDA_VISIBLE_DEVICES={visible}"] if candidate.device.vendor == "nvidia" else []
    port = str(_PORT + number)
    if instance.engine == "llama.cpp":
        file = choice.repo.removeprefix("docker:")
        kind = choice.format.name.removeprefix("gguf-").upper()
        source = ["--docker-repo", file] if choice.repo.startswith("docker:") else ["-hf", f"{file}:{kind}"]
        command = [*env, "llama-server", *source, "-c", str(instance.longest), "-np", str(instance.max_seqs)]
        # Slots of their own (no --kv-unified) that can be saved: so a prefix is computed once and copied.
        command += ["-ngl", "99", "-fa", "on", "--slot-save-path", _SLOT_FOLDER]
        if candidate.span > 1:
            command += ["--split-mode", "layer"]
        return [*command, "--port", port]
    share = vllm_share(placement, slots[placement.slots[0]].memory_gib)
    command = [*env, "vllm", "serve", choice.repo, "--port", port, "--max-model-len", str(instance.longest)]
    command += ["--gpu-memory-utilization", f"{share:.2f}", "--max-num-seqs", str(instance.max_seqs)]
    command += ["--max-num-batched-tokens", str(instance.batched_tokens), "--enable-prefix-caching"]
    command += ["--scheduling-policy", "priority"]
    # Else some models fill an answer under a grammar with white space up to its cap; the flag needs a named backend.
    command += ["--structured-outputs-config.backend", "xgrammar"]
    command += ["--structured-outputs-config.disable_any_whitespace", "true"]
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
