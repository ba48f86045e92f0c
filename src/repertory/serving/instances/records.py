"""What the supervisor is asked to run, and what it tells of it: the contents of the state file."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

__all__ = (
    "DeviceName",
    "InstanceId",
    "InstanceSpec",
    "InstanceState",
    "InstanceStatus",
    "MemoryUse",
    "ServingState",
    "SlotCacheGib",
    "SupervisorRecord",
    "WantedInstances",
)

InstanceId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]
"""Also the name of the instance's folder, so it can be no path."""

SlotCacheGib = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]

DeviceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$")]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class InstanceSpec(_Record):
    """One instance to run, with every name resolved: the same spec always starts the same command.

    Attributes:
        engine: Which program serves it; `url` is an engine that somebody else runs.
        model: The model, as the plan calls it.
        checkpoint: Repository, folder or file of its weights.
        served_name: The name under which requests ask for it.
        devices: The devices it uses; two instances that share one are never started at the same time.
        resident: False when it may be put to sleep while others use its devices.
        predicted_gib: What the plan says that it takes on each device.
        program: The engine's executable; None for the embedded llama.cpp.
        slots: llama.cpp: requests at the same time.
        context_tokens: llama.cpp: context of one slot (of all slots together where the KV cache is unified).
        kv_unified: llama.cpp: one KV cache for all slots; then slots can not be copied.
        arguments: Further arguments of the engine, checked against the list of known ones.
        environment: Further environment of the engine, checked likewise.
        url: The address of an engine that somebody else runs.
        api_key: Its key.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: InstanceId
    engine: Literal["llama.cpp", "vllm", "url"]
    model: str
    checkpoint: str
    served_name: str
    agents: tuple[str, ...] = ()
    devices: tuple[DeviceName, ...] = ()
    resident: bool = True
    predicted_gib: float | None = None
    program: str | None = None
    slots: Annotated[int, Field(ge=1, le=1024)] = 1
    context_tokens: Annotated[int, Field(ge=256)] = 8192
    kv_unified: bool = False
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = Field(default_factory=dict)
    url: str | None = None
    api_key: str | None = Field(default=None, repr=False)

    @field_validator("url")
    @classmethod
    def _root(cls, url: str | None) -> str | None:
        """People give the address with or without the `/v1` at its end; requests add their own."""
        return url and url.strip().rstrip("/").removesuffix("/v1")


class WantedInstances(_Record):
    """Everything that shall run: what `up` hands to the supervisor, and what a new supervisor starts from.

    Attributes:
        slot_cache_gib: Disk space for the computed prompts of sessions that may come back; 0 keeps none, None takes
            the default.
    """

    team: str
    instances: tuple[InstanceSpec, ...]
    slot_cache_gib: SlotCacheGib | None = None


class InstanceStatus(StrEnum):
    """Where an instance is in its life."""

    WAITING = "waiting"
    STARTING = "starting"
    READY = "ready"
    ASLEEP = "asleep"
    BACKING_OFF = "backing_off"
    FAILED = "failed"
    STOPPED = "stopped"


class MemoryUse(_Record):
    """Memory of an instance: predicted by the plan and measured, per device, in GiB.

    Attributes:
        how: `pss` (shares of shared pages), `rss`, `nvml` or `nvidia-smi`.
        host_gib: Main memory of all its processes.
    """

    predicted_gib: float | None = None
    measured_gib: float | None = None
    host_gib: float | None = None
    how: str | None = None


class InstanceState(_Record):
    """One instance as it is.

    Attributes:
        message: What happens, or why it failed, in words.
        advice: What to do about a failure.
        failure: Stable short name of the last failure.
        restarts: Starts after the first one that were not asked for.
        launch: Names the present start; every process of it carries this name in its environment.
        build: The version that the embedded engine told; empty for others, which tell it themselves.
        start_s: How long the last start took until the first generation.
        sleep_s: How long it last took to fall asleep.
        wake_s: How long it last took to wake.
    """

    spec: InstanceSpec
    status: InstanceStatus = InstanceStatus.WAITING
    message: str = ""
    advice: str = ""
    failure: str | None = None
    url: str | None = None
    api_key: str | None = Field(default=None, repr=False)
    launch: str | None = None
    build: str = ""
    pid: int | None = None
    restarts: int = 0
    start_s: float | None = None
    sleep_s: float | None = None
    wake_s: float | None = None
    since: str = ""
    memory: MemoryUse = Field(default_factory=MemoryUse)


class SupervisorRecord(_Record):
    """The supervisor's process and where it takes orders (loopback; the token is in this private file only)."""

    pid: int
    started: float
    port: int
    token: str = Field(repr=False)


class ServingState(_Record):
    """The state file."""

    version: Literal[1] = 1
    team: str = ""
    supervisor: SupervisorRecord | None = None
    instances: tuple[InstanceState, ...] = ()
    slot_cache_gib: SlotCacheGib | None = None
