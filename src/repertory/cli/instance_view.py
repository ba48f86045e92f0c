"""Running instances on the screen and as JSON. Keys are never shown."""

from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Console

from repertory.cli.safe_text import printable
from repertory.clock import system_clock

if TYPE_CHECKING:
    from repertory.serving.instances.records import InstanceState, ServingState

__all__ = ("StartView", "show_status", "status_document")

_COLOURS = {"ready": "green", "asleep": "cyan", "failed": "red", "backing_off": "yellow", "starting": "yellow"}


class StartView:
    """Tells, line by line, what happens to each instance. Call it with each state."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._told: dict[str, tuple[str, str]] = {}

    def __call__(self, state: "ServingState") -> None:
        """Tell what changed."""
        for item in state.instances:
            now = (item.status.value, item.message)
            if self._told.get(item.spec.id) == now or not item.message:
                continue
            self._told[item.spec.id] = now
            took = f" after {item.start_s:.1f} s" if item.status.value == "ready" and item.start_s else ""
            memory = f", {item.memory.measured_gib:.2f} GiB" if took and item.memory.measured_gib else ""
            what = f"{item.spec.id} {item.status.value.replace('_', ' ')}"
            words = item.message if item.message != item.status.value else ""
            line = printable(f"{what}{took}{memory}{f': {words}' if words else ''}", one_line=True)
            self._console.print(line, style=_COLOURS.get(item.status.value, "dim"), markup=False, soft_wrap=True)
            if item.status.value == "failed" and item.advice:
                self._console.print(printable(f"  {item.advice}", one_line=True), markup=False, soft_wrap=True)


def show_status(out: Console, state: "ServingState") -> None:
    """Print the instances, each with what plays on it and, where something is wrong, the reason and what to do."""
    if not state.instances:
        out.print("nothing is up; `repertory up TEAM` starts a team's instances")
        return
    supervisor = state.supervisor
    keeper = f"supervisor {supervisor.pid}" if supervisor else "no supervisor: `repertory up` takes over what runs"
    _line(out, f"{state.team}, {keeper}")
    for item in state.instances:
        spec, status = item.spec, item.status.value
        since = f" for {_ago(item.since)}" if item.since else ""
        restarts = f", {item.restarts} restarts" if item.restarts else ""
        head = f"{spec.id} {status.replace('_', ' ')}{since}: {spec.model or spec.served_name} on {spec.engine}"
        _line(out, f"{head}{_memory(item)}{restarts}", style=_COLOURS.get(status, "dim"))
        if item.url:
            _line(out, f"   {item.url}")
        if spec.agents:
            _line(out, f"   plays {', '.join(spec.agents)}")
        if item.sleep_s is not None:
            woken = f", to wake {item.wake_s:.1f} s" if item.wake_s is not None else ""
            _line(out, f"   takes turns; it took {item.sleep_s:.1f} s to fall asleep{woken}")
        if item.message and item.message != status:
            _line(out, f"   {item.message}")
        if item.advice and status in ("failed", "backing_off"):
            _line(out, f"   {item.advice}")


def _line(out: Console, text: str, *, style: str | None = None) -> None:
    body = text.lstrip(" ")
    indent = text[: len(text) - len(body)]
    out.print(f"{indent}{printable(body, one_line=True)}", style=style, markup=False, soft_wrap=True)


def _memory(item: "InstanceState") -> str:
    measured, planned = item.memory.measured_gib, item.spec.predicted_gib
    if measured is None:
        return f", planned {planned:.2f} GiB" if planned is not None else ""
    if planned is None:
        return f", {measured:.2f} GiB"
    share = f", {measured / planned - 1:+.0%}" if planned else ""
    return f", {measured:.2f} GiB (planned {planned:.2f}{share})"


def _ago(since: str) -> str:
    seconds = max(0, int((system_clock() - datetime.fromisoformat(since)).total_seconds()))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def status_document(state: "ServingState") -> dict[str, object]:
    """The state as the command line's JSON document."""
    supervisor = state.supervisor
    return {
        "team": state.team,
        "supervisor": None if supervisor is None else {"pid": supervisor.pid},
        "instances": [_instance_document(item) for item in state.instances],
    }


def _instance_document(item: "InstanceState") -> dict[str, object]:
    spec = item.spec
    return {
        "id": spec.id,
        "status": item.status.value,
        "message": item.message,
        "failure": item.failure,
        "advice": item.advice,
        "url": item.url,
        "engine": spec.engine,
        "model": spec.model,
        "served_name": spec.served_name,
        "checkpoint": spec.checkpoint,
        "agents": list(spec.agents),
        "devices": list(spec.devices),
        "resident": spec.resident,
        "pid": item.pid,
        "restarts": item.restarts,
        "since": item.since or None,
        "start_s": item.start_s,
        "sleep_s": item.sleep_s,
        "wake_s": item.wake_s,
        "memory": item.memory.model_dump() | {"predicted_gib": spec.predicted_gib},
    }
