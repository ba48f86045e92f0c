"""`repertory agents`: the deployed agents, their versions, and calls of their tools."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.agents_chat import agents_chat
from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.safe_text import printable

if TYPE_CHECKING:
    from repertory.registry.registry import Registry

__all__ = ("register",)

AgentArgument = Annotated[str, typer.Argument(metavar="AGENT", help="Its name.")]
LabelArgument = Annotated[
    str, typer.Argument(metavar="AGENT[@VERSION]", help="Its name; without a version, the live one.")
]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        help="The deployed agents: see, call, talk to, promote, roll back, export and import.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    for name, command in (
        ("list", _list),
        ("show", _show),
        ("call", _call),
        ("chat", agents_chat),
        ("records", _records),
        ("promote", _promote),
        ("rollback", _rollback),
        ("retire", _retire),
        ("history", _history),
        ("export", _export),
        ("import", _import),
        ("remove", _remove),
    ):
        group.command(name)(command)
    app.add_typer(group, name="agents")


@contextmanager
def _registry() -> Generator["Registry"]:
    from repertory.registry.registry import Registry
    from repertory.storage.store import Store

    with Store.open() as store:
        yield Registry(store)


def _list(as_json: JsonOption = False) -> None:
    """List the agents and which of their versions answer."""
    from repertory.cli.agents_view import agents_table
    from repertory.registry.documents import agent_row

    with _registry() as registry:
        rows = [agent_row(registry, name) for name in registry.names()]
    if as_json:
        emit_json({"agents": rows})
    elif rows:
        screen().print(agents_table(rows))
    else:
        screen().print("no agents are deployed; `repertory agents import PLACE` deploys a package")


def _show(label: LabelArgument, as_json: JsonOption = False) -> None:
    """Show what an agent is: its tools with their schemas, permissions, limits, versions and how it was built."""
    from repertory.cli.agents_view import print_agent
    from repertory.registry.documents import agent_document
    from repertory.registry.registry import parse_label
    from repertory.registry.watch import watch_document

    name, version = parse_label(label)
    with _registry() as registry:
        versions = registry.versions(name)
        live = next((one for one in versions if one.state == "live"), versions[0])
        chosen = registry.resolve(name, version) if version is not None else live
        document = agent_document(registry.load(chosen), versions)
        document["watch"] = watch_document(registry.watch_log, name)
    if as_json:
        emit_json(document)
    else:
        print_agent(document)


def _call(
    label: LabelArgument,
    tool: Annotated[str, typer.Argument(metavar="TOOL")],
    args: Annotated[
        str, typer.Option("--args", metavar="JSON", help="The arguments by name, a JSON object; `-` reads them.")
    ] = "{}",
    user: Annotated[str, typer.Option("--user", metavar="U", help="Who it is for, for what is kept per user.")] = "me",
    as_json: JsonOption = False,
) -> None:
    """Call a tool in the sandbox. Prints its result as JSON; the exit code is 1 when there is an error instead."""
    from repertory.cli.agents_view import read_arguments
    from repertory.registry.registry import Registry, parse_label
    from repertory.registry.runtime import AgentRuntime
    from repertory.registry.watch import AgentWatch
    from repertory.storage.store import Store

    name, version = parse_label(label)
    arguments = read_arguments(args)
    with Store.open() as store, AgentRuntime(Registry(store), watch=AgentWatch(store)) as runtime:
        result = runtime.call(name, tool, arguments, version, user=user)
    if result.outcome is not None and result.outcome.output:
        side().print(printable(result.outcome.output.rstrip("\n")), markup=False)
    if as_json:
        emit_json(result.document())
    elif result.error is None:
        emit_json(result.result)
    else:
        side().print(printable(f"error: {result.error.type}: {result.error.message}"), style="red", markup=False)
    if result.error is not None:
        raise typer.Exit(1)


def _records(
    agent: AgentArgument,
    user: Annotated[str | None, typer.Option("--user", metavar="U", help="Only what is kept about this user.")] = None,
    erase: Annotated[bool, typer.Option("--erase", help="Delete it, for good; with --user.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what an agent has kept, as JSON, or erase what it has kept about a user."""
    from repertory.errors import UsageError

    with _registry() as registry:
        versions = registry.versions(agent)
        records = registry.records(registry.load(next((one for one in versions if one.state == "live"), versions[0])))
        if erase and user is None:
            raise UsageError("--erase takes --user", hint=f"`repertory agents remove {agent}` erases everything")
        if erase and user is not None:
            gone = records.erase(user)
            if as_json:
                emit_json({"erased": user, "agent": agent, "rows": gone})
            else:
                screen().print(printable(f"erased {gone} rows about {user}"), markup=False)
            return
        emit_json({"agent": agent, **records.export(user)})


def _promote(
    label: Annotated[str, typer.Argument(metavar="AGENT@VERSION")],
    canary: Annotated[bool, typer.Option("--canary", help="Only try it, beside the live one.")] = False,
    share: Annotated[
        int | None,
        typer.Option(
            "--share",
            min=0,
            max=99,
            metavar="PERCENT",
            help="Of a canary: how many calls it answers; 0 lets it answer beside the live version, unheard. "
            "Default: those that name its version.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a version live; the one that was, is retired. Its package is checked first.

    A canary that fails too often is retired, and a live version that does is rolled back, by itself.
    """
    from repertory.errors import UsageError
    from repertory.registry.registry import parse_label

    name, version = parse_label(label)
    if version is None:
        raise UsageError("promote takes a version", hint=f"`repertory agents show {name}` lists them: {name}@VERSION")
    with _registry() as registry:
        promoted = registry.promote(name, version, "canary" if canary else "live", share=share)
    _tell(promoted.label, promoted.state, as_json=as_json)


def _rollback(agent: AgentArgument, as_json: JsonOption = False) -> None:
    """Make the version live again that was live before the present one."""
    with _registry() as registry:
        back = registry.roll_back(agent)
    _tell(back.label, back.state, as_json=as_json)


def _retire(label: Annotated[str, typer.Argument(metavar="AGENT@VERSION")], as_json: JsonOption = False) -> None:
    """Take a version out of use. With none live, the agent answers nobody."""
    from repertory.registry.registry import parse_label

    name, version = parse_label(label)
    with _registry() as registry:
        retired = registry.retire(name, version if version is not None else registry.resolve(name).version)
    _tell(retired.label, retired.state, as_json=as_json)


def _tell(label: str, state: str, *, as_json: bool) -> None:
    if as_json:
        emit_json({"agent": label, "state": state})
    else:
        screen().print(f"{label} is {state}", markup=False)


def _history(agent: AgentArgument, as_json: JsonOption = False) -> None:
    """Show what happened to an agent, oldest first; also to one that was removed."""
    from repertory.cli.agents_view import history_table
    from repertory.registry.documents import event_document

    with _registry() as registry:
        events = [event_document(agent, event) for event in registry.history(agent)]
    if as_json:
        emit_json({"agent": agent, "events": events})
    else:
        screen().print(history_table(events))


def _export(
    label: LabelArgument,
    to: Annotated[Path | None, typer.Option("--to", metavar="PLACE", help="Default: AGENT-VERSION.zip here.")] = None,
    folder: Annotated[bool, typer.Option("--folder", help="Write a folder, which is an Agent Skill as it is.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write an agent's package, with its signature, to one file or folder."""
    from repertory.registry.registry import parse_label

    name, number = parse_label(label)
    with _registry() as registry:
        version = registry.resolve(name, number)
        default = Path(name) if folder else Path(f"{name}-{version.version}.zip")
        target = registry.export(version, to or default, as_folder=folder)
    if as_json:
        emit_json({"agent": version.label, "digest": version.digest, "path": str(target.absolute())})
    else:
        screen().print(f"{version.label} is in {target}", markup=False)


def _import(
    place: Annotated[Path, typer.Argument(metavar="PLACE", help="An archive of `agents export`, or a folder.")],
    trust: Annotated[
        str | None, typer.Option("--trust", metavar="KEY", help="Believe this key, or `unsigned`, this once.")
    ] = None,
    promote: Annotated[bool, typer.Option("--promote", help="Make it live at once.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Deploy a package as a draft. Nothing of it is run; what is not a valid package is refused whole."""
    with _registry() as registry:
        version, new = registry.import_from(place, trust=trust)
        if promote:
            version = registry.promote(version.agent, version.version)
    if as_json:
        emit_json({"agent": version.label, "state": version.state, "digest": version.digest, "new": new})
    else:
        words = "deployed" if new else "here already"
        screen().print(f"{version.label} is {words}, {version.state}", markup=False)


def _remove(
    agent: AgentArgument,
    keep_state: Annotated[bool, typer.Option("--keep-state", help="Keep what the agent has kept.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove an agent with all its versions and its state, for good. Its history stays."""
    with _registry() as registry:
        versions = registry.remove(agent, keep_state=keep_state)
    if as_json:
        emit_json({"removed": agent, "versions": versions})
    else:
        screen().print(f"{agent} is removed ({len(versions)} versions)", markup=False)
