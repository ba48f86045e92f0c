"""A whole plan: casting, reasons, predicted memory, speed and turn, and the comparison with plans made by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from repertory.catalog.loader import Catalog
from repertory.catalog.profiles import DeviceProfile
from repertory.planning.candidates import Candidate, candidates
from repertory.planning.casting import Casting, cast
from repertory.planning.clash import ways_out, why_infeasible
from repertory.planning.commands import as_placed, engine_command
from repertory.planning.estimate import instance_memory
from repertory.planning.instance import GIB, Instance
from repertory.planning.packing import Placement, memory_of
from repertory.planning.plan_notes import plan_notes
from repertory.planning.scores import ScoreTable
from repertory.planning.speed import decode_speed, prefill_speed
from repertory.planning.swap import cast_with_swaps
from repertory.planning.team_needs import TeamNeeds
from repertory.planning.together import together_sets
from repertory.planning.turn_time import TurnTime, turn_time, wake_seconds

__all__ = ("Plan", "make_plan")


@dataclass(frozen=True)
class Plan:
    """A plan with everything that explains it.

    Attributes:
        found: All candidates, for next-best answers and comparisons.
        notes: Sentences for the reader: estimated scores, swaps, clashes, what was left out.
    """

    team: TeamNeeds
    profile: DeviceProfile
    casting: Casting
    found: tuple[Candidate, ...]
    turn: TurnTime | None
    notes: tuple[str, ...]

    @property
    def feasible(self) -> bool:
        """Whether there is a plan."""
        return self.casting.status in ("optimal", "feasible")

    def document(self) -> dict[str, Any]:
        """The plan as the command line's JSON document, and as the plan file that `up` takes."""
        return {
            "team": self.team.name,
            "devices": self.profile.name,
            "status": self.casting.status if self.feasible else "infeasible",
            "gap": round(self.casting.gap, 6),
            "solve_s": round(self.casting.solve_s, 3),
            "score": round(self.casting.score, 3),
            "instances": [self.instance(i, item) for i, item in enumerate(self.casting.placements)],
            "agents": {name: self.agent(name) for name in self.team.agents if name in self.casting.by_agent},
            "turn": self._turn(),
            "memory": self._memory(),
            "notes": list(self.notes),
        }

    def instance_id(self, placement: Placement) -> str:
        """The instance's name in this plan."""
        return f"i{self.casting.placements.index(placement) + 1}"

    def _turn(self) -> dict[str, object]:
        if self.turn is None:
            return {"first_reply_s": None, "reply_s": None}
        return {
            "first_token_s": round(self.turn.first_token_s, 2),
            "first_reply_s": round(self.turn.first_reply_s, 1),
            "reply_s": round(self.turn.reply_s, 1),
            "reply_s_range": [round(self.turn.reply_s / 1.2, 1), round(self.turn.reply_s / 0.75, 1)],
            "swap_s": round(self.turn.swap_s, 1),
        }

    def _memory(self) -> list[dict[str, object]]:
        taken = memory_of([item for item in self.casting.placements if item.resident])
        rows: list[dict[str, object]] = []
        for d, slot in enumerate(self.profile.slots):
            asleep = [item.load_mib for item in self.casting.placements if not item.resident and d in item.slots]
            used = (taken.get(d, 0) + max(asleep, default=0)) / 1024
            rows.append({"device": slot.name, "name": slot.device.name, "total_gib": round(slot.memory_gib, 2),
                         "budget_gib": round(slot.budget_gib, 2), "used_gib": round(used, 2)})  # fmt: skip
        return rows

    def instance(self, number: int, item: Placement) -> dict[str, Any]:
        """One instance as JSON."""
        candidate = item.candidate
        agents, together = self.team.agents, together_sets(list(self.team.agents), self.team.work)
        instance = as_placed(item, agents, together)
        requests = sum(agents[name].concurrency for name in item.agents)
        prompt = max(self._prompt(name) for name in item.agents)
        decode = decode_speed(instance, candidate.device, min(4096, instance.longest), requests)
        alone = decode_speed(instance, candidate.device, min(4096, instance.longest), 1)
        prefill = prefill_speed(instance, candidate.device, prompt)
        return {
            "id": f"i{number + 1}",
            "model": candidate.choice.model.id,
            "checkpoint": candidate.choice.repo,
            "format": candidate.choice.format.name,
            "engine": instance.engine,
            "devices": [self.profile.slots[d].name for d in item.slots],
            "tensor_parallel": candidate.span,
            "context": instance.longest,
            "slots": instance.max_seqs,
            "agents": list(item.agents),
            "memory": self._parts(item, instance),
            "speed": {
                "prefill_tok_s": round(prefill.tok_s, 1),
                "decode_tok_s": round(decode.tok_s, 2),
                "decode_tok_s_range": [round(decode.low, 2), round(decode.high, 2)],
                "decode_tok_s_alone": round(alone.tok_s, 2),
                "first_token_s": round(prefill.seconds + alone.step_s, 3),
            },
            "resident": item.resident,
            "wake_s": None if item.resident else round(wake_seconds(instance, candidate.device), 1),
            "command": engine_command(item, number, self.profile.slots, agents, together),
        }

    def _prompt(self, agent: str) -> int:
        work = self.team.work.get(agent)
        return (work.new_shared_tokens + work.own_tokens) if work else 1024

    def _parts(self, item: Placement, instance: Instance) -> dict[str, float]:
        """Memory per device by part; the parts add up to what the plan reserves."""
        slot = self.profile.slots[item.slots[0]]
        rank = instance_memory(instance, slot.memory_gib, slot.device.name).ranks[0]
        cache = (item.load_mib - item.candidate.fixed_mib) / 1024
        weights, activation, graphs = rank.weights / GIB, rank.activation / GIB, rank.graphs / GIB
        total = item.load_mib / 1024
        return {
            "weights_gib": round(weights, 3),
            "kv_gib": round(cache, 3),
            "activation_gib": round(activation, 3),
            "graphs_gib": round(graphs, 3),
            "overhead_gib": round(total - weights - cache - activation - graphs, 3),
            "total_gib": round(total, 3),
        }

    def agent(self, name: str) -> dict[str, Any]:
        """One agent as JSON: its model, score, reasons and next best."""
        item = self.casting.by_agent[name]
        score = item.candidate.scores[name]
        values = {
            series: {"score": round(value.score, 2), "source": value.source, "estimated": value.estimated}
            for series, value in score.values.items()
        }
        return {
            "instance": self.instance_id(item),
            "model": item.candidate.choice.model.id,
            "score": round(score.total, 2),
            "benchmark": score.main,
            "thinking": score.thinking,
            "values": values,
            "why": self._why(name, item),
            "next_best": self._next_best(name, item),
        }

    def _why(self, name: str, item: Placement) -> str:
        candidate = item.candidate
        mine = candidate.scores[name].total
        better = [c for c in self.found if name in c.scores and c.scores[name].total > mine + 1e-9
                  and c.choice.model.id != candidate.choice.model.id]  # fmt: skip
        where = f"{candidate.choice.model.name} in {candidate.choice.format.name}"
        if not better:
            return f"{where} has the best score for it of all that fit ({mine:.1f})"
        best = max(better, key=lambda c: (c.scores[name].total, -c.fixed_mib))
        need = best.span * (best.fixed_mib + best.agent_mib[name]) / 1024
        free = max(0, sum(slot.room_mib for slot in self.profile.slots) - self.casting.memory_mib) / 1024
        gain = best.scores[name].total - mine
        proven = self.casting.status == "optimal"
        why_not = (
            "taking it from others costs more score than it brings"
            if proven
            else "no plan with it was found that scores more"
        )
        return (
            f"{where} scores {mine:.1f}; {best.choice.model.name} would score {gain:.1f} more, but needs "
            f"{need:.1f} GiB and {free:.1f} GiB are free, and {why_not}"
        )

    def _next_best(self, name: str, item: Placement) -> dict[str, object] | None:
        mine = item.candidate.choice.model.id
        others = [c for c in self.found if name in c.scores and c.choice.model.id != mine]
        top = item.candidate.scores[name].total
        lower = [c for c in others if c.scores[name].total <= top + 1e-9] or others
        if not lower:
            return None
        running = {p.candidate.name for p in self.casting.placements}
        best = max(lower, key=lambda c: (round(c.scores[name].total, 6), c.name in running, -c.fixed_mib, c.name))
        extra = best.agent_mib[name] * best.span if best.name in running else best.span * (
            best.fixed_mib + best.agent_mib[name]
        )  # fmt: skip
        free = sum(slot.room_mib for slot in self.profile.slots) - self.casting.memory_mib
        return {
            "model": best.choice.model.id,
            "format": best.choice.format.name,
            "score": round(best.scores[name].total, 2),
            "score_change": round(best.scores[name].total - top, 2),
            "extra_gib": round(extra / 1024, 2),
            "fits_beside": bool(extra <= free),
        }


def make_plan(
    team: TeamNeeds,
    profile: DeviceProfile,
    catalog: Catalog,
    *,
    swap: bool = False,
    limit_s: float = 60.0,
    min_instances: int = 1,
    only: str | None = None,
    measured: Mapping[str, Mapping[tuple[str, str], float]] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Plan:
    """Cast a team on devices.

    Args:
        team: Agents, their needs and their work.
        profile: The devices.
        catalog: Models to choose from.
        swap: Whether instances may sleep while others run.
        limit_s: Seconds for the solver.
        min_instances: The least number of instances.
        only: A model that all agents must play on, in any of its checkpoints.
        measured: Scores measured on one's own instances; they beat published ones.
        progress: Told what is being solved.
    """
    table = ScoreTable(catalog.models, measured)
    models = [catalog.find_model(only)] if only is not None else catalog.models
    found = candidates(models, profile, team.agents, team.work, table, fan_out=team.fan_out)
    together = together_sets(list(team.agents), team.work)
    casting = cast(
        found, profile, team.agents, together, limit_s=limit_s, min_instances=min_instances, progress=progress
    )
    notes: list[str] = []
    if swap:
        casting = _with_swaps(casting, found, profile, team, limit_s, notes)
    if casting.status not in ("optimal", "feasible"):
        if casting.status == "unknown":
            notes.append(f"no plan was found within {limit_s:g} s; that is no proof that there is none")
        else:
            notes += why_infeasible(models, profile, team, table, found)
            notes += ways_out(models, profile, team, table, found, swap=swap)
        return Plan(team, profile, casting, tuple(found), None, tuple(notes))
    turn = turn_time(casting.placements, team.agents, team.work, team.first_reply, team.full_reply)
    notes += plan_notes(team.agents, casting, catalog)
    return Plan(team, profile, casting, tuple(found), turn, tuple(notes))


def _with_swaps(
    casting: Casting,
    found: Sequence[Candidate],
    profile: DeviceProfile,
    team: TeamNeeds,
    limit_s: float,
    notes: list[str],
) -> Casting:
    """The better of the plan without swaps and the one with them."""
    swapped = cast_with_swaps(found, profile, team.agents, team.work, limit_s=min(limit_s, 30.0))
    if swapped.status not in ("optimal", "feasible"):
        return casting
    if casting.status in ("optimal", "feasible") and swapped.score <= casting.score + 1e-9:
        notes.append("swapping brings no better scores: everything stays resident")
        return casting
    if casting.status in ("optimal", "feasible"):
        notes.append(f"swapping raises the sum of scores from {casting.score:.1f} to {swapped.score:.1f}")
    sleepers = [item for item in swapped.placements if not item.resident]
    seconds = sum(wake_seconds(item.candidate.instance, item.candidate.device) for item in sleepers)
    host = sum(item.candidate.instance.weights.text for item in sleepers) / GIB
    notes.append(
        f"{len(sleepers)} instances sleep while others run: waking them takes {seconds:.1f} s a turn, and their "
        f"weights take {host:.0f} GiB of host memory"
    )
    notes.append("swap plans choose among the best few models of each agent; the proof is about those")
    return replace(swapped, solve_s=casting.solve_s + swapped.solve_s)
