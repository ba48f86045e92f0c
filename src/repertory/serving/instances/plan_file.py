"""Reads a plan (the document of `repertory plan --json`) as instances to run. It is checked, never trusted."""

import json
from pathlib import Path, PurePath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from repertory.errors import UsageError
from repertory.serving.instances.engine_flags import LLAMA_FLAGS, VLLM_FLAGS, check_environment, split_command
from repertory.serving.instances.records import DeviceName, InstanceId, InstanceSpec, SlotCacheGib, WantedInstances

__all__ = ("PlanDocument", "instances_of_plan", "read_plan_file")

_MAX_BYTES = 16 * 1024 * 1024
_OWN_LLAMA = {
    "-hf": 1, "--docker-repo": 1, "-m": 1, "--model": 1, "-c": 1, "--ctx-size": 1, "-np": 1, "--parallel": 1,
    "--kv-unified": 0, "-kvu": 0, "--slot-save-path": 1, "--slots": 0,
}  # fmt: skip


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Memory(_Part):
    total_gib: Annotated[float, Field(ge=0)]


class _Instance(_Part):
    id: InstanceId
    engine: Literal["llama.cpp", "vllm", "sglang", "url"]
    model: Annotated[str, Field(min_length=1, max_length=300)] = ""
    checkpoint: Annotated[str, Field(max_length=4096)] = ""
    served_name: Annotated[str, Field(pattern=r"^[\w./:@ -]{1,200}$")] | None = None
    file: str | None = None
    url: str | None = None
    devices: tuple[DeviceName, ...] = ()
    agents: tuple[str, ...] = ()
    memory: _Memory | None = None
    resident: bool = True
    command: tuple[str, ...] = ()


class PlanDocument(_Part):
    """The parts of a plan that `up` needs."""

    team: Annotated[str, Field(min_length=1, max_length=200)]
    status: str = "feasible"
    instances: Annotated[tuple[_Instance, ...], Field(max_length=256)] = ()
    slot_cache_gib: SlotCacheGib | None = None
    notes: tuple[str, ...] = ()


def read_plan_file(path: Path) -> PlanDocument:
    """Read a plan file.

    Raises:
        UsageError: It is missing, no plan, or a plan that says there is none.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        message = f"the plan file can not be read: {error.strerror or error}"
        raise UsageError(message, where=str(path)) from error
    if len(data) > _MAX_BYTES:
        raise UsageError("this is far too large for a plan file", where=str(path))
    try:
        return check_plan(PlanDocument.model_validate(json.loads(data)), str(path))
    except (ValueError, RecursionError) as error:
        what = _first_problem(error) if isinstance(error, ValidationError) else f"it is no JSON: {error}"
        message = f"this is no plan: {what}"
        raise UsageError(
            message, where=str(path), hint="`repertory plan TEAM --devices auto --output FILE` writes one"
        ) from error


def check_plan(plan: PlanDocument, where: str) -> PlanDocument:
    """The plan, if it is one that can be started.

    Raises:
        UsageError: It says itself that it is infeasible, names an instance twice, or lists an agent twice.
    """
    if plan.status not in ("optimal", "feasible") or not plan.instances:
        raise UsageError("; ".join(("there is no plan to start", *plan.notes)), where=where)
    for what, names in (
        ("instance", [item.id for item in plan.instances]),
        ("agent", [agent for item in plan.instances for agent in item.agents]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            message = f"the {what} {', '.join(twice)} is named twice"
            raise UsageError(message, where=where)
    return plan


def instances_of_plan(plan: PlanDocument, where: str) -> WantedInstances:
    """The instances of a plan. Files and programs are not looked for yet.

    Raises:
        UsageError: A command holds what a plan may not say, or an engine can not be started.
    """
    specs = tuple(_spec(item, f"{where}: instance {item.id}") for item in plan.instances)
    return WantedInstances(team=plan.team, instances=specs, slot_cache_gib=plan.slot_cache_gib)


def _spec(item: _Instance, where: str) -> InstanceSpec:
    facts: dict[str, object] = {
        "id": item.id,
        "model": item.model or item.checkpoint or item.url or "",
        "checkpoint": item.checkpoint,
        "agents": item.agents,
        "devices": item.devices,
        "resident": item.resident,
        "predicted_gib": item.memory.total_gib if item.memory else None,
        "served_name": item.served_name or PurePath(item.checkpoint or item.model).name or item.id,
        "engine": item.engine,
    }
    if item.engine == "url":
        if not item.url:
            raise UsageError("an attached instance needs its `url`", where=where)
        return InstanceSpec.model_validate(facts | {"url": item.url, "resident": True, "served_name": item.model})
    if item.engine == "sglang":
        raise UsageError(
            "SGLang is not started by `up`", where=where, hint="start it by hand and give its address: engine `url`"
        )
    environment, program = _environment(item.command, where)
    facts["environment"] = environment
    return _vllm(facts, program, where) if item.engine == "vllm" else _llamacpp(facts, program, item.file, where)


def _environment(command: tuple[str, ...], where: str) -> tuple[dict[str, str], list[str]]:
    """The leading `env NAME=VALUE ...` of a command, and the rest."""
    rest = list(command)
    found: dict[str, str] = {}
    if rest[:1] == ["env"]:
        rest.pop(0)
        while rest and "=" in rest[0] and not rest[0].startswith("-"):
            name, _, value = rest.pop(0).partition("=")
            found[name] = value
    return check_environment(found, where), rest


def _vllm(facts: dict[str, object], command: list[str], where: str) -> InstanceSpec:
    checkpoint = str(facts["checkpoint"])
    if command:
        if [PurePath(command[0]).name, *command[1:2]] != ["vllm", "serve"] or len(command) < 3:
            raise UsageError("the command of a vLLM instance must be `vllm serve MODEL ...`", where=where)
        checkpoint = command[2]
    if not checkpoint or checkpoint.startswith("-"):
        raise UsageError("the instance names no checkpoint", where=where)
    passed, _ = split_command(command[3:], VLLM_FLAGS, own={}, where=where)
    return InstanceSpec.model_validate(facts | {"checkpoint": checkpoint, "arguments": passed})


def _llamacpp(facts: dict[str, object], command: list[str], file: str | None, where: str) -> InstanceSpec:
    if command and PurePath(command[0]).name != "llama-server":
        raise UsageError("the command of a llama.cpp instance must be `llama-server ...`", where=where)
    passed, read = split_command(command[1:], LLAMA_FLAGS, own=_OWN_LLAMA, where=where)
    source = file or read.get("-m") or read.get("--model")
    if source is None and "--docker-repo" in read:
        source = f"docker:{read['--docker-repo']}"
    if source is None and "-hf" in read:
        source = f"hf:{read['-hf']}"
    slots = _number(read.get("-np") or read.get("--parallel"), 1, "-np", where)
    total = _number(read.get("-c") or read.get("--ctx-size"), slots * 8192, "-c", where)
    unified = "--kv-unified" in read or "-kvu" in read
    return InstanceSpec.model_validate(
        facts
        | {
            "checkpoint": source or str(facts["checkpoint"]),
            "arguments": passed,
            "slots": slots,
            "context_tokens": max(256, total if unified else total // slots),
            "kv_unified": unified,
        }
    )


def _number(text: str | None, default: int, flag: str, where: str) -> int:
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= 100_000_000:
        message = f"{flag} must be a positive number, not {text!r}"
        raise UsageError(message, where=where)
    return int(text)


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
