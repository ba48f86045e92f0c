"""A plan in the terminal: agents, instances, a picture of each device's memory, reasons and comparisons."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from repertory.planning.compare import HandPlan
from repertory.planning.next_best import OtherPlan
from repertory.planning.plan import Plan
from repertory.planning.published import PublishedModel

__all__ = ("show_plan",)

_WIDTH = 48
_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


def show_plan(
    out: Console,
    plan: Plan,
    hand: Sequence[HandPlan],
    published: Sequence[PublishedModel],
    others: Mapping[str, OtherPlan],
    *,
    explain: bool,
) -> None:
    """Print a plan, or why there is none."""
    head = f"{plan.team.name} on {plan.profile.described}: "
    if not plan.feasible:
        out.print(f"{head}no plan", style="bold", markup=False)
        for note in plan.notes:
            out.print(f"- {note}", markup=False)
        return
    proof = "proven best" if plan.casting.status == "optimal" else f"within {plan.casting.gap:.2%} of the best possible"
    out.print(f"{head}{proof}, solved in {plan.casting.solve_s:.1f} s", style="bold", markup=False)
    out.print()
    out.print(_agents(plan))
    out.print()
    out.print(_instances(plan))
    out.print()
    for line in _devices(plan):
        out.print(line)
    turn = plan.turn
    if turn is not None:
        swap = f", of it {turn.swap_s:.1f} s waking" if turn.swap_s else ""
        out.print()
        out.print(
            f"a turn: first token {turn.first_token_s:.1f} s, first reply {turn.first_reply_s:.1f} s, "
            f"all {turn.reply_s:.1f} s{swap} (predicted; 0.8 to 1.3 times that)",
            markup=False,
        )
    if explain:
        _explain(out, plan, hand, published, others)
    for note in plan.notes:
        out.print(f"note: {note}", markup=False)
    out.print()
    out.print("to start it by hand:")
    for number, item in enumerate(plan.casting.placements):
        out.print("  " + " ".join(plan.instance(number, item)["command"]), markup=False, soft_wrap=True)


def _agents(plan: Plan) -> Table:
    table = Table("agent", "score", "benchmark", "thinks", "instance", "model", box=None, pad_edge=False)
    for name, item in plan.casting.by_agent.items():
        score = item.candidate.scores[name]
        mark = "~" if score.estimated else ""
        table.add_row(
            name,
            f"{mark}{score.total:.1f}",
            score.main,
            "yes" if score.thinking else "no",
            plan.instance_id(item),
            item.candidate.choice.model.name,
        )
    return table


def _instances(plan: Plan) -> Tree:
    tree = Tree("instances")
    for item in plan.casting.placements:
        candidate = item.candidate
        names = ", ".join(plan.profile.slots[d].name for d in item.slots)
        state = "" if item.resident else " (sleeps while others run)"
        label = Text(f"{plan.instance_id(item)} {candidate.choice.repo} on {candidate.instance.engine}, {names}{state}")
        branch = tree.add(label)
        branch.add(Text(f"{item.load_mib / 1024:.1f} GiB per device, {candidate.choice.format.name}"))
        branch.add(Text("plays " + ", ".join(item.agents)))
    return tree


def _devices(plan: Plan) -> list[Text]:
    lines: list[Text] = []
    for d, slot in enumerate(plan.profile.slots[:64]):
        line = Text(f"{slot.name:>6} ")
        filled = 0
        used = 0.0
        asleep = [p for p in plan.casting.placements if not p.resident and d in p.slots]
        widest = max(asleep, key=lambda p: p.load_mib, default=None)
        for index, item in enumerate(plan.casting.placements):
            if d not in item.slots or (not item.resident and item is not widest):
                continue
            share = item.load_mib / 1024 / slot.memory_gib
            cells = max(1, min(round(share * _WIDTH), _WIDTH - filled))
            line.append("█" * cells if item.resident else "▒" * cells, style=_COLOURS[index % len(_COLOURS)])
            filled += cells
            used += item.load_mib / 1024
        line.append("·" * (_WIDTH - filled))
        line.append(f" {used:.1f} of {slot.memory_gib:.1f} GiB")
        lines.append(line)
    return lines


def _explain(
    out: Console,
    plan: Plan,
    hand: Sequence[HandPlan],
    published: Sequence[PublishedModel],
    others: Mapping[str, OtherPlan],
) -> None:
    out.print()
    for name in plan.casting.by_agent:
        row = plan.agent(name)
        out.print(f"{name}: {row['why']}", markup=False)
        if best := row["next_best"]:
            out.print(
                f"   next best: {best['model']} ({best['score']:.1f}, {best['score_change']:+.1f}), "
                f"{best['extra_gib']:.1f} GiB more{'' if best['fits_beside'] else ', which are not free'}",
                markup=False,
            )
        if name in others:
            out.print(f"   otherwise: {others[name].words}", markup=False)
    if hand:
        table = Table(
            "plan", "devices", "instances", "GiB", "score", "turn s", "$/1000 turns", box=None, pad_edge=False
        )
        for row in hand:
            table.add_row(
                row.name,
                str(row.devices) if row.devices else "over 64",
                str(row.instances),
                f"{row.memory_gib:.0f}",
                f"{row.score:.1f}",
                f"{row.turn_s:.0f}" if row.turn_s is not None else "?",
                f"{row.cost_per_thousand:.2f}" if row.cost_per_thousand is not None else "?",
            )
        out.print()
        out.print(table)
    if published:
        total = sum(row.real_gb for row in published)
        claimed = sum(row.claimed_gb for row in published)
        out.print()
        out.print(
            f"the published six-model plan counts {claimed:.0f} GB; its weights at four bits take {total:.0f} GB, "
            f"so it does not fit:",
            markup=False,
        )
        for row in published:
            out.print(
                f"   {row.model}: counted {row.claimed_gb:.0f} GB ({row.bits_claimed:.1f} bits per parameter), really "
                f"{row.real_gb:.0f} GB",
                markup=False,
            )
