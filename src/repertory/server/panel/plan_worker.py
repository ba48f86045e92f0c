"""Makes one plan in a process of its own: the solver takes whole cores for seconds, and may be ended from outside.

It reads a request as JSON from its standard input and writes `{"plan": document}` or `{"error": {...}}`.
"""

import json
import sys
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from repertory.catalog.own_catalog import own_catalog
from repertory.catalog.profiles import DeviceProfile, profile_named
from repertory.errors import RepertoryError, UsageError
from repertory.planning.needs import AgentNeeds
from repertory.planning.plan import make_plan
from repertory.planning.team_needs import TeamNeeds

__all__ = ("PlanWork", "main")


class PlanWork(BaseModel):
    """What the worker is to do.

    Attributes:
        team: The team with its needs and work, before overrides.
        devices: What `--devices` takes, but no file.
        needs: Agent -> its needs, in place of the team's.
    """

    model_config = ConfigDict(extra="forbid")

    team: TeamNeeds
    devices: str
    swap: bool
    only: str | None
    min_instances: int
    ignore_latency: bool
    limit_s: float
    needs: dict[str, AgentNeeds]


def main() -> None:
    """Make the plan of the request on the standard input."""
    work = PlanWork.model_validate_json(sys.stdin.buffer.read())
    try:
        answer: dict[str, Any] = {"plan": _plan(work)}
    except RepertoryError as error:
        kind = "usage" if isinstance(error, UsageError) else "failed"
        answer = {"error": {"kind": kind, "message": error.message, "hint": error.hint}}
    sys.stdout.write(json.dumps(answer, ensure_ascii=True, allow_nan=False))


def _plan(work: PlanWork) -> dict[str, Any]:
    catalog = own_catalog()
    unknown = sorted(set(work.needs) - set(work.team.agents))
    if unknown:
        message = f"{work.team.name} has no agent {', '.join(unknown)[:200]}"
        raise UsageError(message, hint=f"its agents are {', '.join(work.team.agents)}")
    team = replace(work.team, agents=work.team.agents | work.needs)
    if work.ignore_latency:
        team = team.without_latency()
    if work.min_instances > len(team.agents):
        message = f"{team.name} has {len(team.agents)} agents, which can not play on {work.min_instances} instances"
        raise UsageError(message)
    if work.devices.strip().lower() in {"auto", "detected", "this"}:
        from repertory.engines.devices import detected_profile  # noqa: PLC0415 - looks at this machine

        profile: DeviceProfile = detected_profile(catalog)
    else:
        profile = profile_named(work.devices, catalog)
    plan = make_plan(
        team,
        profile,
        catalog,
        swap=work.swap,
        limit_s=work.limit_s,
        min_instances=work.min_instances,
        only=work.only,
    )
    return plan.document()


if __name__ == "__main__":
    main()
