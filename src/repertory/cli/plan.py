"""`repertory plan`, with `estimate` and `devices` beside it."""

from pathlib import Path
from typing import Annotated

import typer

from repertory.cli import devices, estimate
from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.errors import UsageError

__all__ = ("register",)


def register(app: typer.Typer) -> None:
    """Add the commands of the planner."""
    app.command("plan")(_plan)
    estimate.register(app)
    devices.register(app)


def _plan(
    team: Annotated[
        str, typer.Argument(metavar="TEAM", help="coaching, engineering, or a team file whose agents have needs.")
    ],
    devices: Annotated[
        str, typer.Option("--devices", metavar="PROFILE", help="rtx4090, 8xA100-80GB, FILE.yaml, auto: see `devices`.")
    ],
    swap: Annotated[bool, typer.Option("--swap", help="Instances may sleep while others run.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each agent got its model, and compare.")] = False,
    instances: Annotated[int, typer.Option("--instances", min=1, max=64, help="At least so many instances.")] = 1,
    ignore_latency: Annotated[
        bool, typer.Option("--ignore-latency", help="Plan even where agents are slower than they need.")
    ] = False,
    only: Annotated[str | None, typer.Option("--only", metavar="MODEL", help="All agents on this model.")] = None,
    limit: Annotated[float, typer.Option("--limit", min=0.5, max=3600, help="Seconds for the solver.")] = 60.0,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Also write the plan file for `up`.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Cast a team's agents to models on devices: the best that fits, proven, with its memory, speed and reasons."""
    import json

    from repertory.catalog.own_catalog import own_catalog
    from repertory.cli.device_option import read_devices
    from repertory.cli.plan_team import read_team_needs
    from repertory.planning.compare import compare
    from repertory.planning.next_best import OtherPlan, without_its_model
    from repertory.planning.plan import make_plan
    from repertory.planning.published import BUDGET_GB, check_published_plan

    catalog = own_catalog()
    needs = read_team_needs(team)
    if ignore_latency:
        needs = needs.without_latency()
    profile = read_devices(devices, catalog)
    if instances > len(needs.agents):
        msg = f"{needs.name} has {len(needs.agents)} agents, which can not play on {instances} instances."
        raise UsageError(msg)

    def tell(words: str) -> None:
        side().print(words, style="dim", markup=False)

    result = make_plan(
        needs,
        profile,
        catalog,
        swap=swap,
        limit_s=limit,
        min_instances=instances,
        only=only,
        progress=tell,
    )
    document = result.document()
    hand = compare(result) if explain else []
    others: dict[str, OtherPlan] = {}
    if explain:
        document["comparison"] = [row.document() for row in hand]
        others = {name: without_its_model(result, name, tell) for name in result.casting.by_agent}
        for name, other in others.items():
            document["agents"][name]["without_its_model"] = other.document()
    published = check_published_plan(catalog) if explain and needs.name == "engineering" else []
    if published:
        document["published_plan"] = {
            "claimed_gb": BUDGET_GB,
            "four_bits_gb": round(sum(row.flat_gb for row in published), 1),
            "awq_gb": round(sum(row.real_gb for row in published), 1),
            "fits": sum(row.real_gb for row in published) <= BUDGET_GB,
            "models": [vars(row) | {"agents": list(row.agents)} for row in published],
        }
    if output is not None and result.feasible:
        try:
            output.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", "utf-8")
        except OSError as error:
            raise UsageError(
                "The plan file can not be written.", where=str(output), hint=str(error.strerror)
            ) from error
    if as_json:
        emit_json(document)
    else:
        from repertory.cli.plan_view import show_plan

        show_plan(screen(), result, hand, published, others, explain=explain)
    if not result.feasible:
        raise typer.Exit(1)
