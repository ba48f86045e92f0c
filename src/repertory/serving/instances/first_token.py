"""The start of an engine up to its first generated token, or to the reason why it does not come to that."""

import time
from dataclasses import dataclass

import anyio
import anyio.to_thread

from repertory.serving.instances.engine_process import EngineProcess
from repertory.serving.instances.failure_reasons import FailureReason, find_reason
from repertory.serving.instances.readiness import try_generation
from repertory.serving.instances.records import InstanceSpec
from repertory.serving.instances.restart_policy import LoadWatch

__all__ = ("Started", "first_token", "why_ended")

_RECORD_S = 2.0


@dataclass(frozen=True)
class Started:
    """How a start went: the address and process of an engine that generates, or the reason of the failure."""

    url: str | None = None
    pid: int | None = None
    reason: FailureReason | None = None


async def first_token(
    spec: InstanceSpec,
    process: EngineProcess | None,
    api_key: str | None,
    watch: LoadWatch,
    poll_s: float,
    *,
    free_gib: float | None = None,
) -> Started:
    """Wait until an engine generates a token.

    Args:
        spec: The instance.
        process: Its launch; None for an engine that somebody else runs.
        api_key: The key that it wants.
        watch: Tells a slow load from one that hangs.
        poll_s: Pause between two tries.
        free_gib: Memory that was free before the start, for the reason of a failure.
    """
    while True:
        record = process.record if process is not None else None
        url = spec.url if process is None else record.url if record is not None else None
        if url is not None:
            found = await try_generation(url, api_key, spec.served_name)
            if found.ready:
                return Started(url, record.engine_pid if record is not None else None)
            if not found.loading:
                return Started(reason=FailureReason("first_answer", found.message, "its log has the details"))
        if process is None:
            reason = FailureReason("unreachable", f"nothing answers at {spec.url}", "start it, or correct the address")
            return Started(reason=reason)
        if not process.alive:
            return Started(reason=await why_ended(process, free_gib=free_gib))
        if why := watch.judge(time.monotonic(), await anyio.to_thread.run_sync(process.progress)):
            return Started(reason=FailureReason("stalled", why, "its log has the details"))
        await anyio.sleep(poll_s)


async def why_ended(process: EngineProcess, *, free_gib: float | None = None) -> FailureReason:
    """Why an engine ended: how, and what its log says."""
    record = process.record
    with anyio.move_on_after(_RECORD_S):  # the shim writes the end down a moment after the engine's
        while record is not None and not record.ended:
            await anyio.sleep(0.05)
            record = process.record
    if record is not None and record.error:
        return FailureReason("not_started", record.error, "check the engine's program", permanent=True)
    lines = await anyio.to_thread.run_sync(process.log_tail)
    code = record.exit_code if record is not None else None
    return find_reason(lines, process.spec.engine, code, free_gib=free_gib)
