"""`repertory up`, `down`, `status` and `logs`: the instances of a plan, kept running in the background."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.engine_choice import ApiKeyOption, SlotCacheOption
from repertory.cli.instance_view import StartView, show_status, status_document
from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.safe_text import printable
from repertory.errors import UsageError

if TYPE_CHECKING:
    from repertory.serving.instances.records import ServingState

__all__ = ("register",)

_FOLLOW_EVERY_S = 0.3


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("up")(_up)
    app.command("down")(_down)
    app.command("status")(_status)
    app.command("logs")(_logs)


def _up(
    plan: Annotated[
        str | None,
        typer.Argument(
            metavar="PLAN",
            help="A plan file (.json, from `repertory plan TEAM --devices auto --output FILE`), or a team, which is "
            "planned for this machine. Without it: what was up last.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="No planning: all agents of the team on one llama.cpp with this model of `repertory models list` or "
            "GGUF file.",
        ),
    ] = None,
    engine_url: Annotated[
        str | None,
        typer.Option("--engine-url", metavar="URL", help="No start: all agents on an engine that already runs there."),
    ] = None,
    engine_key: ApiKeyOption = None,
    swap: Annotated[
        bool, typer.Option("--swap", help="Plan so that instances may sleep while others use their devices.")
    ] = False,
    only: Annotated[str | None, typer.Option("--only", metavar="MODEL", help="Plan with this model alone.")] = None,
    context: Annotated[
        int, typer.Option("--context", min=1024, metavar="TOKENS", help="With --model: context of each agent.")
    ] = 8192,
    llama_server: Annotated[
        str | None,
        typer.Option(
            "--llama-server",
            metavar="PATH",
            help="A llama-server to use in place of the embedded one (needed on GPUs).",
        ),
    ] = None,
    vllm: Annotated[
        str | None,
        typer.Option("--vllm", metavar="PATH", help="A vllm program, or the virtual environment that it is in."),
    ] = None,
    slot_cache_gib: SlotCacheOption = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Stay until every instance is ready or given up.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Start the instances of a plan and keep them running in the background.

    One starts after the other on each device, each proven by a token that it generates. They are restarted when they
    end, and stay up when this command or its terminal ends. `repertory status` shows them, `run` and `chat` use them,
    `repertory down` ends them. Called again, it takes over what runs, starts what does not, and retries what failed.

    \b
      repertory up coaching --model qwen2.5-coder-1.5b
      repertory plan engineering --devices auto --output plan.json && repertory up plan.json

    Exit code 0 when all are ready, 1 when one was given up (its reason stands in `status`).
    """  # noqa: D301 - the escape tells the help not to fill the lines
    import anyio

    from repertory.cli.wanted_instances import UpRequest, wanted_instances
    from repertory.serving.instances.commands import bring_up, watch_until_settled
    from repertory.serving.instances.state_file import ServingFolder

    def say(words: str) -> None:
        side().print(printable(words), style="dim", markup=False)

    wanted = None
    if plan is not None:
        request = UpRequest(
            plan, model, engine_url, engine_key, swap, only, context, llama_server, vllm, slot_cache_gib
        )
        wanted = wanted_instances(request, say)
    elif model or engine_url or only or swap:
        raise UsageError("name the team that these options are for", hint="repertory up TEAM --model NAME")
    elif slot_cache_gib is not None and (last := ServingFolder.of().read_wanted()) is not None:
        wanted = last.model_copy(update={"slot_cache_gib": slot_cache_gib})

    async def up() -> "ServingState":
        state = await bring_up(wanted)
        return await watch_until_settled(None, StartView(side())) if wait else state

    state = anyio.run(up)
    if as_json:
        emit_json(status_document(state))
    if any(item.status.value == "failed" for item in state.instances):
        raise typer.Exit(1)


def _down(as_json: JsonOption = False) -> None:
    """End all instances and their supervisor; nothing is left, also after a crash."""
    import anyio

    from repertory.serving.instances.commands import bring_down

    ended = anyio.run(bring_down)
    if as_json:
        emit_json({"ended": ended})
        return
    screen().print(f"ended {', '.join(ended)}" if ended else "nothing was up", markup=False)


def _status(as_json: JsonOption = False) -> None:
    """Show the instances: state, address, agents, memory measured against planned, restarts and reasons.

    Exit code 0 when all that is wanted serves (or sleeps), 1 when an instance does not.
    """
    from repertory.serving.instances.commands import current_state

    state = current_state()
    if as_json:
        emit_json(status_document(state))
    else:
        show_status(screen(), state)
    if any(item.status.value in ("failed", "backing_off") for item in state.instances):
        raise typer.Exit(1)


def _logs(
    instance: Annotated[
        str | None, typer.Argument(metavar="INSTANCE", help="An instance of `status`; without it the supervisor.")
    ] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=100_000, help="So many of the last lines.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is written next.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show an instance's log. Logs are kept over restarts, in four parts of 8 MiB; lines are never cut off a part."""
    from repertory.serving.instances.rotating_log import log_parts, read_tail
    from repertory.serving.instances.shim import ENGINE_LOG
    from repertory.serving.instances.state_file import ServingFolder

    if follow and as_json:
        raise UsageError("--follow never ends, and --json is one document")
    files = ServingFolder.of()
    path = files.supervisor_log if instance is None else _log_of(files.root / "instances", instance) / ENGINE_LOG
    found = read_tail(path, lines)
    if as_json:
        emit_json({"instance": instance, "files": [str(part) for part in log_parts(path)], "lines": found})
        return
    out = screen()
    for line in found:
        out.print(printable(line, one_line=True), markup=False, soft_wrap=True)
    if follow:
        for line in _new_lines(path):
            out.print(printable(line, one_line=True), markup=False, soft_wrap=True)


def _log_of(folder: Path, instance: str) -> Path:
    known = sorted(entry.name for entry in folder.iterdir() if entry.is_dir()) if folder.is_dir() else []
    if instance not in known:
        message = f"there is no log of an instance {instance!r}"
        raise UsageError(message, hint=f"there are logs of {', '.join(known)}" if known else "nothing was up yet")
    return folder / instance


def _new_lines(path: Path) -> Iterator[str]:
    """Lines as they are written; goes on with the new part when the log is rotated."""
    while not path.exists():
        time.sleep(_FOLLOW_EVERY_S)
    file = path.open("rb")
    file.seek(0, 2)
    pending = b""
    try:
        while True:
            chunk = file.read(65536)
            if chunk:
                *whole, pending = (pending + chunk).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in whole)
                continue
            if path.exists() and path.stat().st_ino != _inode(file.fileno()):
                rest = file.read()  # written between the last read and the rotation
                if rest:
                    pending += rest
                    continue
                file.close()
                file = path.open("rb")
                continue
            time.sleep(_FOLLOW_EVERY_S)
    except KeyboardInterrupt:
        return
    finally:
        file.close()


def _inode(descriptor: int) -> int:
    import os

    return os.fstat(descriptor).st_ino
