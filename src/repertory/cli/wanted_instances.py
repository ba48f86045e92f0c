"""What `repertory up` was asked to start: a plan file, a team to plan for, one model for all, or an address."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from repertory.errors import UsageError

if TYPE_CHECKING:
    from repertory.serving.instances.records import InstanceSpec, WantedInstances

__all__ = ("UpRequest", "wanted_instances")


@dataclass(frozen=True)
class UpRequest:
    """The arguments of `up`.

    Attributes:
        target: A plan file, or a team.
        model: All agents on one llama.cpp with this model, without planning.
        engine_url: All agents on an engine that already runs.
        slot_cache_gib: Disk space for computed prompts; None takes what the plan says, else the default.
    """

    target: str
    model: str | None = None
    engine_url: str | None = None
    engine_key: str | None = None
    swap: bool = False
    only: str | None = None
    context_tokens: int = 8192
    llama_server: str | None = None
    vllm: str | None = None
    slot_cache_gib: float | None = None


def wanted_instances(request: UpRequest, say: Callable[[str], None]) -> "WantedInstances":
    """The instances to start, with their files and programs.

    Raises:
        RepertoryError: There is no plan, or something of it can not be had here.
    """
    from repertory.cli.model_download import fetch_model
    from repertory.serving.instances.plan_file import instances_of_plan, read_plan_file
    from repertory.serving.instances.resolve import Programs, resolve_instances

    programs = Programs(request.llama_server, request.vllm)
    if request.target.endswith(".json"):
        if request.model or request.engine_url or request.only:
            raise UsageError("a plan file says all: --model, --only and --engine-url go with a team")
        wanted = instances_of_plan(read_plan_file(Path(request.target)), request.target)
    elif request.engine_url is not None:
        wanted = _all_on(request, {"engine": "url", "url": request.engine_url, "api_key": request.engine_key})
    elif request.model is not None:
        slots = len(_agents(request.target)[1])
        facts: dict[str, object] = {"engine": "llama.cpp", "checkpoint": request.model, "slots": slots}
        wanted = _all_on(request, facts | {"devices": ("cpu",), "context_tokens": request.context_tokens})
    else:
        wanted = _planned(request, say)
    if request.slot_cache_gib is not None:
        wanted = wanted.model_copy(update={"slot_cache_gib": request.slot_cache_gib})
    return _with_names(resolve_instances(wanted, programs, fetch_model, request.target))


def _with_names(wanted: "WantedInstances") -> "WantedInstances":
    """Ask engines that somebody else runs for the name of their model, where the plan does not say it."""
    import anyio

    from repertory.engines.connect import connect

    async def named(spec: "InstanceSpec") -> "InstanceSpec":
        if spec.engine != "url" or spec.url is None or spec.served_name:
            return spec
        engine = await connect(spec.url, api_key=spec.api_key)
        await engine.aclose()
        return spec.model_copy(update={"served_name": engine.model, "model": engine.model})

    async def all_named() -> list["InstanceSpec"]:
        return [await named(spec) for spec in wanted.instances]

    return wanted.model_copy(update={"instances": tuple(anyio.run(all_named))})


def _planned(request: UpRequest, say: Callable[[str], None]) -> "WantedInstances":
    """A plan for the devices that this machine has."""
    from repertory.catalog.own_catalog import own_catalog
    from repertory.cli.device_option import read_devices
    from repertory.cli.plan_team import read_team_needs
    from repertory.planning.plan import make_plan
    from repertory.serving.instances.plan_file import PlanDocument, check_plan, instances_of_plan

    catalog = own_catalog()
    needs = read_team_needs(request.target)
    profile = read_devices("auto", catalog)
    plan = make_plan(needs, profile, catalog, swap=request.swap, only=request.only, progress=say)
    document = PlanDocument.model_validate(plan.document())
    try:
        return instances_of_plan(check_plan(document, request.target), request.target)
    except UsageError as error:
        hint = f"`repertory up {request.target} --model NAME` puts all agents on one model without planning"
        raise UsageError(error.message, where=error.where, hint=error.hint or hint) from error


def _all_on(request: UpRequest, facts: dict[str, object]) -> "WantedInstances":
    from repertory.serving.instances.records import InstanceSpec, WantedInstances

    team, agents = _agents(request.target)
    name = request.model or ""
    served = Path(name).name.removesuffix(".gguf")
    base: dict[str, object] = {"id": "i1", "model": name, "checkpoint": "", "served_name": served, "agents": agents}
    spec: InstanceSpec = InstanceSpec.model_validate(base | facts)
    return WantedInstances(team=team, instances=(spec,))


def _agents(team: str) -> tuple[str, tuple[str, ...]]:
    """A team's name and agents; the engineering team is known to the planner before it can be run."""
    from repertory.planning.team_needs import TEAMS

    if team in TEAMS:
        return team, tuple(TEAMS[team].agents)
    from repertory.teams import find_team

    found, _ = find_team(team)
    return found.name, tuple(found.agents)
