"""`/api/plan` and `/api/devices`: which model plays which agent, on what, and starting it."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends

from repertory.catalog.benchmarks import BENCHMARKS
from repertory.catalog.own_catalog import own_catalog
from repertory.catalog.profiles import NAMED_PROFILES, profile_named
from repertory.catalog.records import Device
from repertory.engines.devices import detect_devices
from repertory.server.panel.failures import FAILURE
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.plans import (
    DetectedDevice,
    DeviceList,
    DeviceProfileRow,
    DeviceRow,
    PlanDocument,
    PlanRequest,
    PlanStart,
    PlanStarted,
    TeamNeedsAnswer,
)
from repertory.server.panel.visitor import Admin, Anyone

__all__ = ("router",)

router = APIRouter(prefix="/api", tags=["plans"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]


@router.get("/devices", operation_id="get_devices")
async def get_devices(_: Anyone) -> DeviceList:
    """What this machine has, and the names that plans can be made for."""
    return await asyncio.to_thread(_devices)


@router.get("/plan/needs/{team}", operation_id="get_team_needs")
async def get_team_needs(team: str, panel: _PanelOf, _: Admin) -> TeamNeedsAnswer:
    """What the agents of a team need of a model, as a start for changes."""
    needs = panel.plans.needs_of(team)
    return TeamNeedsAnswer(team=needs.name, needs=needs.agents, benchmarks=list(BENCHMARKS))


@router.post("/plan", operation_id="make_plan")
async def make_plan(body: PlanRequest, panel: _PanelOf, _: Admin) -> PlanDocument:
    """Cast a team's agents to models on devices. It takes up to the limit and some; one plan is made at a time."""
    return await panel.plans.plan(body)


@router.post("/plan/start", operation_id="start_plan", status_code=202)
async def start_plan(body: PlanStart, panel: _PanelOf, _: Admin) -> PlanStarted:
    """Start the instances of a plan that was made here, in place of those that run now. Missing files are pulled."""
    wanted = panel.plans.start(body.plan)
    return PlanStarted(
        plan=body.plan,
        team=wanted.team,
        instances=[spec.id for spec in wanted.instances],
        serves_at_once=panel.engines.supervised,
    )


def _devices() -> DeviceList:
    catalog = own_catalog()
    profiles = {name: profile_named(name, catalog) for name in NAMED_PROFILES}
    return DeviceList(
        detected=[
            DetectedDevice(
                name=item.name,
                vendor=item.vendor,
                memory_gib=round(item.memory_gib, 2),
                free_gib=None if item.free_gib is None else round(item.free_gib, 2),
                how=item.how,
            )
            for item in detect_devices()
        ],
        profiles=[
            DeviceProfileRow(
                name=name,
                devices=len(profile.slots),
                memory_gib=round(sum(slot.budget_gib for slot in profile.slots), 2),
                about=NAMED_PROFILES[name][2],
            )
            for name, profile in profiles.items()
        ],
        devices=[_device(device) for device in catalog.devices],
    )


def _device(device: Device) -> DeviceRow:
    return DeviceRow(
        id=device.id,
        name=device.name,
        vendor=device.vendor,
        memory_gib=device.memory_gib.value,
        bandwidth_gb_s=device.bandwidth_gb_s.value if device.bandwidth_gb_s else None,
        tflops=device.tflops.value if device.tflops else None,
        price_usd_h=device.price_usd_h.low if device.price_usd_h else None,
    )
