"""Plans: which model plays which agent on which devices, and why."""

from typing import Annotated, Literal

from pydantic import Field

from repertory.planning.needs import AgentNeeds
from repertory.server.panel.schema.base import Answer, JsonObject, Request

__all__ = (
    "DetectedDevice",
    "DeviceList",
    "DeviceProfileRow",
    "DeviceRow",
    "PlanAgent",
    "PlanDevice",
    "PlanDocument",
    "PlanInstance",
    "PlanMemory",
    "PlanRequest",
    "PlanSpeed",
    "PlanStart",
    "PlanStarted",
    "PlanTurn",
    "TeamNeedsAnswer",
)


class DetectedDevice(Answer):
    """One device of this machine."""

    name: str
    vendor: str
    memory_gib: float
    free_gib: float | None
    how: str
    """What told of it."""


class DeviceProfileRow(Answer):
    """A named set of devices that plans can be made for."""

    name: str
    devices: int
    memory_gib: float
    about: str


class DeviceRow(Answer):
    """One kind of device that the catalog knows."""

    id: str
    name: str
    vendor: str
    memory_gib: float
    bandwidth_gb_s: float | None
    tflops: float | None
    """Dense 16-bit matrix speed."""
    price_usd_h: float | None
    """The lowest known price for an hour."""


class DeviceList(Answer):
    """What this machine has, and what plans can be made for."""

    detected: list[DetectedDevice]
    profiles: list[DeviceProfileRow]
    devices: list[DeviceRow]


class PlanRequest(Request):
    """What is to be planned."""

    team: Annotated[str, Field(min_length=1, max_length=200)]
    """A team that is served here, or a built-in one."""
    devices: Annotated[str, Field(min_length=1, max_length=200)] = "auto"
    """A named profile, a device, `4xA100-80GB`, `2x24GiB`, or `auto` for this machine."""
    swap: bool = False
    """Instances may sleep while others run."""
    only: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """A model that all agents must play on."""
    min_instances: Annotated[int, Field(ge=1, le=64)] = 1
    ignore_latency: bool = False
    """Plan even where agents are slower than they need."""
    limit_s: Annotated[float, Field(ge=0.5, le=120)] = 30.0
    """Seconds for the solver."""
    needs: dict[str, AgentNeeds] = Field(default_factory=dict, max_length=64)
    """Agent -> its needs, in place of those that the team states."""


class TeamNeedsAnswer(Answer):
    """What the agents of a team need of a model, as the team states it."""

    team: str
    needs: dict[str, AgentNeeds]
    benchmarks: list[str]
    """The benchmark series that needs can name."""


class PlanMemory(Answer):
    """Memory of an instance on each of its devices; the parts add up to the total."""

    weights_gib: float
    kv_gib: float
    activation_gib: float
    graphs_gib: float
    overhead_gib: float
    total_gib: float


class PlanSpeed(Answer):
    """Predicted speed of an instance."""

    prefill_tok_s: float
    decode_tok_s: float
    """Of each request when all that are planned run at once."""
    decode_tok_s_range: tuple[float, float]
    decode_tok_s_alone: float
    """Of one request that runs alone."""
    first_token_s: float


class PlanInstance(Answer):
    """One instance of a plan."""

    id: str
    model: str
    checkpoint: str
    format: str
    engine: str
    devices: list[str]
    tensor_parallel: int
    context: int
    """Tokens of the longest request."""
    slots: int
    agents: list[str]
    memory: PlanMemory
    speed: PlanSpeed
    resident: bool
    """False when it sleeps while others run."""
    wake_s: float | None
    command: list[str]


class PlanAgent(Answer):
    """Why an agent plays on what it plays on."""

    instance: str
    model: str
    score: float
    benchmark: str
    thinking: bool | None
    values: dict[str, JsonObject]
    """Benchmark series -> `score`, `source` and whether it is `estimated`."""
    why: str
    next_best: JsonObject | None
    """The next best model: `model`, `format`, `score`, `score_change`, `extra_gib`, `fits_beside`."""


class PlanTurn(Answer):
    """Predicted times of a turn, in seconds; null when there is no plan."""

    first_token_s: float | None
    first_reply_s: float | None
    reply_s: float | None
    reply_s_range: tuple[float, float] | None
    swap_s: float | None
    """How much of it is waking instances."""


class PlanDevice(Answer):
    """How full a device is."""

    device: str
    name: str
    total_gib: float
    budget_gib: float
    used_gib: float


class PlanDocument(Answer):
    """A plan, as `repertory plan --json` tells it."""

    plan: str
    """Names this plan in `POST /api/plan/start`; it is kept until the server ends, the last 32."""
    team: str
    devices: str
    status: Literal["optimal", "feasible", "infeasible"]
    gap: float
    """How far from the optimum it may be, as a share; 0 is proven best."""
    solve_s: float
    score: float
    instances: list[PlanInstance]
    agents: dict[str, PlanAgent]
    turn: PlanTurn
    memory: list[PlanDevice]
    notes: list[str]


class PlanStart(Request):
    """A plan to start."""

    plan: Annotated[str, Field(min_length=1, max_length=64)]
    """Its name, of `POST /api/plan`."""


class PlanStarted(Answer):
    """Instances that are being started; `GET /api/overview` shows how far they are, events tell the end."""

    plan: str
    team: str
    instances: list[str]
    serves_at_once: bool
    """Whether this server will use them as soon as they are ready; false: it was started on other engines, and uses
    these after it was started again."""
