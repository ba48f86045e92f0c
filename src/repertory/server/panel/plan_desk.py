"""Plans made and started through the panel."""

import asyncio
import json
import secrets
import sys
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, cast

from repertory.engines.model_store import ensure_model
from repertory.errors import RepertoryError, UsageError
from repertory.planning.team_needs import TEAMS, TeamNeeds
from repertory.server.casting import ServedTeam
from repertory.server.panel.event_hub import EventHub
from repertory.server.panel.failures import not_found
from repertory.server.panel.plan_worker import PlanWork
from repertory.server.panel.schema.events import PlanStartEnded
from repertory.server.panel.schema.plans import PlanDocument, PlanRequest
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.serving.instances.commands import bring_up
from repertory.serving.instances.plan_file import PlanDocument as PlanToStart
from repertory.serving.instances.plan_file import check_plan, instances_of_plan
from repertory.serving.instances.records import WantedInstances
from repertory.serving.instances.resolve import Programs, resolve_instances
from repertory.teams.needs import needs_of_team

__all__ = ("PlanDesk",)

_KEPT = 32
_BESIDE_SOLVER_S = 90.0
"""Candidates, notes and swaps take time beside the solver's own limit."""
_MOST_BYTES = 32 * 1024 * 1024


class PlanDesk:
    """Makes plans, one at a time, and starts those it made.

    Args:
        teams: The served teams.
        hub: Is told when instances were started.
    """

    def __init__(self, teams: Mapping[str, ServedTeam], hub: EventHub) -> None:
        self._teams = teams
        self._hub = hub
        self._solving = asyncio.Lock()
        self._plans: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._starting: set[asyncio.Task[None]] = set()

    def needs_of(self, team: str) -> TeamNeeds:
        """What the agents of a served or built-in team need.

        Raises:
            UsageError: Its agents state no needs.
            GatewayError: There is no such team.
        """
        if team in TEAMS:
            return TEAMS[team]
        served = self._teams.get(team)
        if served is None:
            raise not_found("team", team)
        return needs_of_team(served.team)

    async def plan(self, request: PlanRequest) -> PlanDocument:
        """Make a plan in a process of its own.

        Raises:
            UsageError: The team, the devices or a model is not known.
            GatewayError: It took too long, or another plan is being made.
        """
        work = PlanWork(
            team=self.needs_of(request.team),
            devices=request.devices,
            swap=request.swap,
            only=request.only,
            min_instances=request.min_instances,
            ignore_latency=request.ignore_latency,
            limit_s=request.limit_s,
            needs=request.needs,
        )
        if self._solving.locked():
            message = "another plan is being made"
            raise GatewayError(message, status=409, code="plan_runs", hint="try again in a moment", retry_after_s=5)
        async with self._solving:
            answer = await _solve(work, request.limit_s * (2 if request.swap else 1) + _BESIDE_SOLVER_S)
        name = f"p{secrets.token_hex(6)}"
        self._plans[name] = answer
        while len(self._plans) > _KEPT:
            self._plans.popitem(last=False)
        return PlanDocument.model_validate({"plan": name, **answer})

    def start(self, plan: str) -> WantedInstances:
        """Start the instances of a plan that was made here; events tell the end.

        Raises:
            GatewayError: There is no such plan, or another one is being started.
            UsageError: It can not be started.
        """
        document = self._plans.get(plan)
        if document is None:
            raise not_found("plan", plan)
        if self._starting:
            raise GatewayError("another plan is being started", status=409, code="plan_starts")
        wanted = instances_of_plan(check_plan(PlanToStart.model_validate(document), plan), plan)
        task = asyncio.create_task(self._bring_up(plan, wanted))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        return wanted

    async def _bring_up(self, plan: str, wanted: WantedInstances) -> None:
        try:
            resolved = await asyncio.to_thread(resolve_instances, wanted, Programs(), ensure_model, plan)
            await bring_up(resolved)
        except (RepertoryError, OSError) as error:
            message = error.message if isinstance(error, RepertoryError) else str(error.strerror)
            self._hub.tell(PlanStartEnded(plan=plan, started=False, message=message))
        else:
            self._hub.tell(PlanStartEnded(plan=plan, started=True, message=None))


async def _solve(work: PlanWork, within_s: float) -> dict[str, Any]:
    """Let a process make the plan; it is ended when it takes too long, or when nobody waits for it any more."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "repertory.server.panel.plan_worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_MOST_BYTES,
    )
    try:
        async with asyncio.timeout(within_s):
            written, _ = await process.communicate(work.model_dump_json().encode())
    except TimeoutError:
        message = f"no plan was made within {within_s:.0f} s"
        raise GatewayError(message, status=504, code="plan_too_slow", hint="plan for fewer devices or agents") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        answer: object = json.loads(written)
    except ValueError:
        answer = None
    if process.returncode or not isinstance(answer, dict):
        raise GatewayError("the planner ended without a plan", status=500, code="planner_failed")
    document = cast("dict[str, Any]", answer)
    if "error" in document:
        error = document["error"]
        kind = UsageError if error["kind"] == "usage" else RepertoryError
        raise kind(str(error["message"]), hint=error["hint"])
    return document["plan"]
