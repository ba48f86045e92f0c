"""Every way to run a model on the devices: checkpoint, engine, tensor parallelism, with memory, speed and scores.

Candidates that another one makes useless are left out by a sound rule: if A needs no more memory per device than B in
every part, spans as many devices of the same kind, and every agent that may use B may use A with at least the score,
then any plan with B stays valid, and is not worse, with A in its place.
"""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from repertory.catalog.formats import FORMATS
from repertory.catalog.loader import Choice
from repertory.catalog.profiles import DeviceProfile, Slot
from repertory.catalog.records import Checkpoint, Device, Model
from repertory.planning.instance import GIB, Instance, instance_of
from repertory.planning.kv_cache import kv_layout
from repertory.planning.llamacpp_memory import llamacpp_rank
from repertory.planning.needs import AgentNeeds, AgentWork
from repertory.planning.scores import AgentScore, ScoreTable
from repertory.planning.speed import decode_speed, prefill_speed
from repertory.planning.together import Together, together_sets
from repertory.planning.vllm_memory import rank_weights, vllm_overheads

__all__ = ("Candidate", "Exclusion", "candidates", "prune")

_SEQS = 32
_BATCHED = 2048
_OUTSIDE = 0.3 * GIB
"""CUDA context of a process, which vLLM's own accounting leaves out."""
_ERROR = {True: 0.01, False: 0.04}
"""Share of the weights added because the prediction may be off: known sizes, computed sizes."""
MIB = 2**20


@dataclass(frozen=True)
class Candidate:
    """One way to run one checkpoint.

    Attributes:
        fixed_mib: Memory per device without KV cache, rounded up.
        agent_mib: KV memory per device for each agent that may use it.
        scores: The score of each agent that may use it.
        kind: Key of the kind of device it runs on.
        slot_context: Tokens of each of llama.cpp's slots, which are equally large; None where there are none.
        keeps_slots: Whether every agent keeps its slots while others run.
    """

    choice: Choice
    instance: Instance
    device: Device
    kind: str
    span: int
    fixed_mib: int
    agent_mib: Mapping[str, int]
    scores: Mapping[str, AgentScore]
    slot_context: int | None = None
    keeps_slots: bool = False

    def cached_at_once(self, together: Together) -> Together:
        """Sets of agents whose caches are held at the same time."""
        return (frozenset(self.scores),) if self.keeps_slots else together

    def load_mib(self, agents: Iterable[str], together: Together) -> int:
        """Memory per device when it serves these agents: the cache of the largest set that is held at once."""
        mine = frozenset(agents)
        sets = self.cached_at_once(together)
        return self.fixed_mib + max((sum(self.agent_mib[agent] for agent in group & mine) for group in sets), default=0)

    def for_agents(self, agents: Container[str]) -> "Candidate | None":
        """The candidate for only these agents; None where it serves none of them."""
        scores = {name: score for name, score in self.scores.items() if name in agents}
        if len(scores) == len(self.scores):
            return self
        needs = {name: self.agent_mib[name] for name in scores}
        return replace(self, scores=scores, agent_mib=needs) if scores else None

    @property
    def name(self) -> str:
        """A readable key, unique among the candidates."""
        tp = f" x{self.span}" if self.span > 1 else ""
        slots = f", slots of {self.slot_context:,}" if self.slot_context else ""
        return f"{self.choice.model.id}: {self.choice.repo} ({self.choice.format.name}{slots}){tp} on {self.kind}"


@dataclass(frozen=True)
class Exclusion:
    """Why no candidate serves an agent, for one need at a time."""

    agent: str
    best_without: str
    reason: str


def _kind(slot: Slot) -> str:
    return slot.device.id


def _engines(device: Device, gguf: bool) -> str | None:
    if gguf:
        return "llama.cpp"
    return "vllm" if device.vendor in ("nvidia", "amd") else None


def _runs(device: Device, choice: Choice) -> bool:
    """Whether the format's kernels exist for the device."""
    spec = choice.format
    if spec.gguf:
        return True
    if device.vendor == "amd" and spec.kernel == "fp4":
        return False
    if not device.bf16:  # before compute capability 8.0 neither bf16 nor the weight-only FP8 and FP4 kernels run
        return spec.kernel in ("int4", "int8")
    return True


def _choices(model: Model) -> list[Choice]:
    """The published checkpoints of a model, the original first; of several of one format the one with a known size."""
    found: dict[str, Choice] = {}
    native = FORMATS[model.native_format]
    own = Checkpoint(repo=model.id, format=native.name, source=model.params_source)
    found[native.name] = Choice(model, native, own)
    rows = sorted(model.checkpoints, key=lambda row: (row.bytes is None, row.repo.startswith("docker:"), row.repo))
    for row in rows:
        if row.format not in found or (found[row.format].known_bytes is None and row.bytes is not None):
            found[row.format] = Choice(model, FORMATS[row.format], row)
    return list(found.values())


def _spans(instance: Instance, most: int) -> list[int]:
    if instance.engine == "llama.cpp":
        return [n for n in (1, 2, 4, 8) if n <= most]
    return [n for n in (1, 2, 4, 8, 16) if n <= most and instance.arch.spreads_over(n)]


def candidates(
    models: Sequence[Model],
    profile: DeviceProfile,
    agents: Mapping[str, AgentNeeds],
    work: Mapping[str, AgentWork],
    table: ScoreTable,
    *,
    fan_out: bool = True,
) -> list[Candidate]:
    """All candidates that fit some device block and serve at least one agent.

    Args:
        models: Models to choose from.
        profile: The devices.
        agents: What each agent needs.
        work: What a turn gives each agent to do.
        table: Scores of the models.
        fan_out: Whether each agent keeps its own slots of llama.cpp (see `TeamNeeds`).
    """
    found: list[Candidate] = []
    kinds: dict[str, list[Slot]] = {}
    for slot in profile.slots:
        kinds.setdefault(_kind(slot), []).append(slot)
    together = max(sum(agents[name].concurrency for name in group) for group in together_sets(list(agents), work))
    for model in models:
        if not model.scores:
            continue
        for choice in _choices(model):
            scores = _scores(model, choice, agents, table)
            if not scores:
                continue
            for kind, slots in kinds.items():
                found += _on_kind(choice, kind, slots, agents, work, scores, together, fan_out=fan_out)
    return found


def _scores(model: Model, choice: Choice, agents: Mapping[str, AgentNeeds], table: ScoreTable) -> dict[str, AgentScore]:
    scores: dict[str, AgentScore] = {}
    for name, needs in agents.items():
        if needs.tool_calling and not model.serving.tool_parser:
            continue
        if needs.context_tokens > model.max_context:
            continue
        score = table.agent_score(model, needs, choice.format.score_loss)
        if score is not None and not score.below:
            scores[name] = score
    return scores


def _on_kind(
    choice: Choice,
    kind: str,
    slots: Sequence[Slot],
    agents: Mapping[str, AgentNeeds],
    work: Mapping[str, AgentWork],
    scores: Mapping[str, AgentScore],
    together: int,
    *,
    fan_out: bool,
) -> list[Candidate]:
    device = slots[0].device
    engine = _engines(device, choice.format.gguf)
    if engine is None or not _runs(device, choice):
        return []
    per_node = max(sum(1 for slot in slots if slot.node == node) for node in {slot.node for slot in slots})
    room_mib = max(slot.room_mib for slot in slots)
    contexts = sorted({agents[name].context_tokens for name in scores})
    if engine == "llama.cpp":
        base = instance_of(choice, engine, max_seqs=1)
    else:
        base = instance_of(choice, engine, context=contexts[-1], max_seqs=_SEQS, batched_tokens=_BATCHED)
        contexts = []
    found: list[Candidate] = []
    for span in _spans(base, per_node):
        instance = base.with_settings(tensor_parallel=span)
        fast = {
            name: score
            for name, score in scores.items()
            if _fast_enough(instance, device, agents[name], work.get(name, AgentWork()), together)
        }
        for slot_context in contexts or [None]:
            if slot_context is not None:
                instance = instance.with_settings(context=slot_context)
            fixed = math.ceil(_fixed_bytes(instance, room_mib * MIB, device.name) / MIB)
            if fixed >= room_mib:
                break
            able = {n: s for n, s in fast.items() if slot_context is None or agents[n].context_tokens <= slot_context}
            cache = _cache_bytes(instance, {agents[name].context_tokens for name in able})
            need = {n: math.ceil(cache[agents[n].context_tokens] * agents[n].concurrency / MIB) for n in able}
            able = {name: score for name, score in able.items() if fixed + need[name] <= room_mib}
            if able:
                kept = {name: need[name] for name in able}
                own = fan_out and slot_context is not None
                found.append(Candidate(choice, instance, device, kind, span, fixed, kept, able, slot_context, own))
    return found


def _fixed_bytes(instance: Instance, room: float, device_name: str) -> float:
    """Memory on each device without cache; more than the prediction by what it may be off."""
    if instance.engine == "llama.cpp":
        rank = llamacpp_rank(instance, room)
        return rank.weights * (1 + _ERROR[instance.weights_known]) + rank.activation + rank.overhead
    activation, graphs, other, _ = vllm_overheads(instance, room, device_name)
    weights = rank_weights(instance)
    return weights * (1 + _ERROR[instance.weights_known]) + activation + graphs + other + _OUTSIDE


def _cache_bytes(instance: Instance, contexts: Iterable[int]) -> dict[int, float]:
    """Memory on each device for the cache of one request, by its context; of llama.cpp, for one slot."""
    if instance.engine == "llama.cpp":
        return dict.fromkeys(contexts, llamacpp_rank(instance, 0.0).kv_pool)
    layout = kv_layout(instance.arch, instance.kv_dtype, instance.tensor_parallel)
    return {context: layout.request_bytes(context, _BATCHED) for context in contexts}


def _fast_enough(instance: Instance, device: Device, needs: AgentNeeds, work: AgentWork, together: int) -> bool:
    """Whether the agent's latency holds even when the whole team is on the instance at once."""
    if needs.min_decode_tok_s is not None:
        context = min(needs.context_tokens, 4096)
        if decode_speed(instance, device, context, together).tok_s < needs.min_decode_tok_s:
            return False
    if needs.max_first_token_s is not None:
        prompt = work.new_shared_tokens + work.own_tokens
        if prefill_speed(instance, device, prompt).seconds > needs.max_first_token_s:
            return False
    return True


def prune(found: Sequence[Candidate], agents: Sequence[str]) -> list[Candidate]:
    """The candidates that no other one makes useless (see the module's rule). Order decides between equals."""
    import numpy as np  # noqa: PLC0415 - comes with OR-Tools, which only plans need

    groups: dict[tuple[str, int], list[Candidate]] = {}
    for candidate in found:
        groups.setdefault((candidate.kind, candidate.span), []).append(candidate)
    kept: list[Candidate] = []
    for group in groups.values():
        rows = np.array(
            [
                [-c.fixed_mib]
                + [c.scores[a].total if a in c.scores else -1.0 for a in agents]
                + [-float(c.agent_mib[a]) if a in c.agent_mib else -1e12 for a in agents]
                for c in group
            ]
        )
        order = sorted(range(len(group)), key=lambda i: tuple(-rows[i]))
        front: list[int] = []
        for index in sorted(order, key=lambda i: -float(rows[i, 1 : len(agents) + 1].sum())):
            if front and bool((rows[front] >= rows[index] - 1e-9).all(axis=1).any()):
                continue
            front.append(index)
        kept += [group[i] for i in front]
    return kept
