"""How long a turn takes on a plan: who waits for whom, prompts read one after another, answers written side by side.

Instances that share a device share its time: each runs at its part of the speed while others run beside it.
Each instance reads prompts in the order in which its agents become ready (the first one reads what is new of the shared
context, the others find it in the cache) and decodes all running agents together, so that each slows the others. An
instance that sleeps is woken first, which its devices do one instance at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repertory.catalog.records import Device
from repertory.planning.instance import Instance
from repertory.planning.needs import AgentNeeds, AgentWork
from repertory.planning.packing import Placement
from repertory.planning.speed import decode_speed, prefill_speed

__all__ = ("TurnTime", "turn_time", "wake_seconds")

_WAKE_FIXED_S = 1.0
_START_FIXED_S = 6.0
_HOST_SHARE = 0.6
"""Share of the host link's peak that copies of weights reach."""


@dataclass(frozen=True)
class TurnTime:
    """Predicted seconds.

    Attributes:
        first_token_s: Until the first token of the first reply.
        first_reply_s: Until the first reply is complete.
        reply_s: Until the turn ends.
        swap_s: Spent waking instances.
        ends: By agent, seconds from the start of the turn.
    """

    first_token_s: float
    first_reply_s: float
    reply_s: float
    swap_s: float
    ends: Mapping[str, float]


def wake_seconds(instance: Instance, device: Device) -> float:
    """Seconds to wake (vLLM) or load again (llama.cpp) an instance whose weights are in host memory."""
    per_device = instance.weights.text / instance.devices
    copy = per_device / (device.host_gb_s * 1e9 * _HOST_SHARE)
    return copy + (_START_FIXED_S if instance.engine == "llama.cpp" else _WAKE_FIXED_S)


@dataclass
class _Job:
    agent: str
    placement: Placement
    ready: float | None = None
    reading: float = 0.0
    tokens: float = 0.0
    first: float | None = None
    end: float | None = None


def turn_time(
    placements: Sequence[Placement],
    agents: Mapping[str, AgentNeeds],
    work: Mapping[str, AgentWork],
    first_reply: str,
    full_reply: str,
) -> TurnTime:
    """Predict a turn. The agent of the first reply is served first; the others in the order of the team."""
    where = {agent: item for item in placements for agent in item.agents}
    names = [name for name in agents if name in where]
    order = sorted(names, key=lambda name: (name != first_reply, names.index(name)))
    jobs = {name: _Job(name, where[name]) for name in order}
    thinks = {name: where[name].candidate.scores[name].thinking for name in names}
    for name, job in jobs.items():
        item = work.get(name, AgentWork())
        job.tokens = (item.output_tokens + (item.thinking_tokens if thinks[name] else 0)) * item.repeats
    now, swaps = 0.0, 0.0
    awake: dict[int, Placement] = {}
    read_shared: set[int] = set()
    free_at: dict[int, float] = {}
    contexts = {name: work.get(name, AgentWork()).own_tokens + 2048 for name in names}
    while any(job.end is None for job in jobs.values()):
        for name in order:
            job = jobs[name]
            after = work.get(name, AgentWork()).after
            if job.ready is None and all(jobs[other].end is not None for other in after if other in jobs):
                blocked = not job.placement.resident and any(
                    other.ready is not None and other.end is None and other.placement is not job.placement
                    and not other.placement.resident and set(other.placement.slots) & set(job.placement.slots)
                    for other in jobs.values()
                )  # fmt: skip
                if blocked:
                    continue
                key = id(job.placement)
                start = max(now, free_at.get(key, 0.0))
                if not job.placement.resident and any(awake.get(d) is not job.placement for d in job.placement.slots):
                    seconds = wake_seconds(job.placement.candidate.instance, job.placement.candidate.device)
                    swaps += seconds
                    start += seconds
                    awake.update(dict.fromkeys(job.placement.slots, job.placement))
                    read_shared.discard(key)
                item = work.get(name, AgentWork())
                shared = 0 if key in read_shared else item.new_shared_tokens
                read_shared.add(key)
                prompt = shared + item.own_tokens
                candidate = job.placement.candidate
                seconds = prefill_speed(candidate.instance, candidate.device, prompt).seconds
                running = [other for other in jobs.values() if other.ready is not None and other.end is None]
                seconds *= _beside(job.placement, running)
                job.ready = start
                job.reading = start + seconds
                free_at[key] = job.reading
        now = _advance(jobs, now, contexts)
    first = jobs[first_reply] if first_reply in jobs else jobs[order[0]]
    last = jobs[full_reply] if full_reply in jobs else max(jobs.values(), key=lambda job: job.end or 0.0)
    ends = {name: job.end or 0.0 for name, job in jobs.items()}
    return TurnTime(first.first or 0.0, first.end or 0.0, max(last.end or 0.0, *ends.values()), swaps, ends)


def _beside(placement: Placement, running: Sequence[_Job]) -> int:
    """How many instances, this one included, work on its busiest device."""
    others = {id(job.placement): job.placement.slots for job in running if job.placement is not placement}
    return 1 + max(sum(d in slots for slots in others.values()) for d in placement.slots)


def _rate(instance: Instance, job: _Job, running: int, context: int) -> float:
    return decode_speed(instance, job.placement.candidate.device, context, running).tok_s


def _advance(jobs: Mapping[str, _Job], now: float, contexts: Mapping[str, int]) -> float:
    """Move to the next event: a prompt is read, or an answer is complete."""
    active = [job for job in jobs.values() if job.ready is not None and job.end is None]
    decoding = [job for job in active if job.reading <= now + 1e-12]
    rates: dict[str, float] = {}
    for job in decoding:
        together = sum(1 for other in decoding if other.placement is job.placement)
        rate = _rate(job.placement.candidate.instance, job, together, contexts[job.agent])
        rates[job.agent] = rate / _beside(job.placement, active)
        if job.first is None:
            job.first = now + 1.0 / rates[job.agent]
    events = [job.reading for job in active if job.reading > now + 1e-12]
    events += [now + job.tokens / rates[job.agent] for job in decoding]
    if not events:
        msg = "agents wait for each other in a circle"
        raise ValueError(msg)
    then = min(events)
    for job in decoding:
        job.tokens -= (then - now) * rates[job.agent]
        if job.tokens <= 1e-6:
            job.end = then
    return then
