"""Plans for the published tiers, as the tables of `docs/seed-tiers.md`.

.venv/bin/python -m benchmarks.planner.seed_tiers > docs/seed-tiers.md
"""

from dataclasses import replace
from pathlib import Path

from repertory.catalog.loader import Catalog, load_catalog
from repertory.catalog.profiles import profile_named
from repertory.planning.compare import compare
from repertory.planning.plan import Plan, make_plan
from repertory.planning.published import BUDGET_GB, check_published_plan
from repertory.planning.team_needs import TeamNeeds, team_needs

TEXT = Path(__file__).with_name("seed_tiers.md")
TIERS = (
    ("engineering", "rtx4090", 1), ("engineering", "rtx4090", 3), ("engineering", "2xrtx4090", 1),
    ("engineering", "a100-211gb", 1), ("engineering", "8xa100-80gb", 1), ("coaching", "rtx4090", 1),
    ("coaching", "2xrtx4090", 1), ("coaching", "a40-pod", 1), ("coaching", "8xa40", 1),
)  # fmt: skip
FIXED = (("2xrtx4090", "Qwen3-30B-A3B", 40), ("a40-pod", "Qwen3-235B-A22B", 108), ("8xa40", "Qwen3-235B-A22B", 108))
RATIOS: list[str] = []
BRIEFING = 6000
"""Tokens of context that the published team gives every agent: an assumption, the publication names no number."""


def instances(plan: Plan) -> str:
    parts: list[str] = []
    for item in plan.casting.placements:
        candidate = item.candidate
        span = f" x{candidate.span}" if candidate.span > 1 else ""
        parts.append(
            f"{candidate.choice.model.name} ({candidate.choice.format.name}{span}, {candidate.instance.engine})"
        )
    return "; ".join(parts)


def tier(catalog: Catalog, team: str, devices: str, least: int) -> tuple[list[str], list[str]]:
    plan = make_plan(team_needs(team), profile_named(devices, catalog), catalog, min_instances=least)
    rows = compare(plan)
    label = devices if least == 1 else f"{devices}, at least {least} instances"
    turn = plan.turn
    assert turn is not None
    used = plan.casting.memory_mib / 1024
    have = sum(slot.budget_gib for slot in plan.profile.slots)
    line = (
        f"| {team} | {label} | {instances(plan)} | {used:.0f} of {have:.0f} | {rows[0].score:.1f} | "
        f"{turn.first_reply_s:.1f} / {turn.reply_s:.0f} | {plan.casting.status} |"
    )
    others: list[str] = []
    if least == 1 and rows[0].devices and rows[1].devices:
        RATIOS.append(f"{rows[1].devices / rows[0].devices:.1f} times on {devices} ({team})")
    for row in rows if least == 1 else []:
        cost = f"{row.cost_per_thousand:.2f}" if row.cost_per_thousand is not None else "no price"
        seconds = f"{row.turn_s:.0f}" if row.turn_s is not None else "?"
        count = str(row.devices) if row.devices else "over 64"
        others.append(
            f"| {team}, {devices} | {row.name} | {count} | {row.instances} | {row.memory_gib:.0f} | {row.score:.1f} | "
            f"{seconds} | {cost} |"
        )
    return [line], others


def briefed(team: TeamNeeds) -> TeamNeeds:
    """The same team where every agent reads the whole context by itself, with nothing shared."""
    work = {
        name: item.model_copy(update={"new_shared_tokens": 0, "own_tokens": item.own_tokens + BRIEFING})
        for name, item in team.work.items()
    }
    return replace(team, work=work)


def fixed(catalog: Catalog) -> list[str]:
    lines: list[str] = []
    team = team_needs("coaching")
    for devices, model, published in FIXED:
        profile = profile_named(devices, catalog)
        ours = make_plan(team, profile, catalog, only=model)
        alone = make_plan(briefed(team), profile, catalog, only=model)
        if ours.turn is None or alone.turn is None:
            lines.append(f"| {devices} | {model} | does not fit | | | {published} |")
            continue
        lines.append(
            f"| {devices} | {instances(ours)} | {ours.turn.first_reply_s:.1f} | {ours.turn.reply_s:.1f} | "
            f"{alone.turn.reply_s:.1f} | {published} |"
        )
    return lines


def main() -> None:
    catalog = load_catalog()
    lines: list[str] = []
    others: list[str] = []
    for team, devices, least in TIERS:
        mine, compared = tier(catalog, team, devices, least)
        lines += mine
        others += compared
    published = check_published_plan(catalog)
    checked = [
        f"| {row.model} | {', '.join(row.agents)} | {row.claimed_gb:.0f} | {row.bits_claimed:.1f} | "
        f"{row.flat_gb:.0f} | {row.real_gb:.0f} |"
        for row in published
    ]
    flat, real = sum(row.flat_gb for row in published), sum(row.real_gb for row in published)
    checked.append(f"| together | | {BUDGET_GB:.0f} | | {flat:.0f} | {real:.0f} |")
    text = TEXT.read_text("utf-8")
    for name, table in (("TIERS", lines), ("COMPARED", others), ("PUBLISHED", checked), ("FIXED", fixed(catalog))):
        text = text.replace(f"<!-- {name} -->", "\n".join(table))
    text = text.replace("<!-- RATIOS -->", ",\n".join(RATIOS))
    print(text.replace("<!-- BRIEFING -->", f"{BRIEFING:,}"), end="")


if __name__ == "__main__":
    main()
