"""`repertory models show`: what the catalog knows of a model, with the source of each fact."""

from typing import Annotated, Any

import typer

from repertory.cli.output import JsonOption, emit_json, screen

__all__ = ("show_model",)

_GIB = 2**30


def show_model(
    model: Annotated[
        str | None, typer.Argument(metavar="[MODEL]", help="A model of the catalog; without, all of them.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Dimensions, checkpoints with their sizes, and benchmark scores of a model, each with its source."""
    from repertory.catalog.own_catalog import own_catalog

    catalog = own_catalog()
    if model is None:
        _list_all(catalog.models, catalog.extra, as_json=as_json)
        return
    found = catalog.find_model(model)
    keys = {found.params_source, *found.arch_sources, found.serving.source}
    keys |= {row.source for row in (*found.checkpoints, *found.scores)}
    if as_json:
        document = found.model_dump(exclude_none=True)
        document["sizes"] = [_size(found, row) for row in found.checkpoints]
        document["sources"] = {key: catalog.sources[key] for key in sorted(keys) if key in catalog.sources}
        emit_json(document)
        return
    _show(found)


def _size(model: Any, row: Any) -> dict[str, Any]:
    from repertory.catalog.formats import FORMATS, weight_bytes

    size = row.bytes or weight_bytes(model.arch, FORMATS[row.format]).total
    known = "source" if row.bytes else "computed"
    return {"repo": row.repo, "format": row.format, "gib": round(size / _GIB, 2), "size_from": known}


def _list_all(models: list[Any], extra: list[Any], *, as_json: bool) -> None:
    from rich.table import Table

    if as_json:
        rows = [(m, True) for m in models] + [(m, False) for m in extra]
        emit_json({"models": [{"id": m.id, "total_b": m.total_b, "active_b": m.active_b, "plans": p} for m, p in rows]})
        return
    table = Table("model", "billion parameters", "active", "context", "scores", box=None, pad_edge=False)
    for row in (*models, *extra):
        scores = str(len(row.scores)) if row.scores else "none: can be estimated, not cast"
        table.add_row(row.id, f"{row.total_b:g}", f"{row.active_b:g}", f"{row.max_context:,}", scores)
    screen().print(table)


def _show(model: Any) -> None:
    from rich.table import Table

    from repertory.planning.kv_cache import marginal_bytes_per_token

    out = screen()
    out.print(f"{model.id} ({model.family}, {model.license})", style="bold", markup=False)
    kinds = ", ".join(f"{group.layers} {group.kind}" for group in model.arch.attention)
    out.print(
        f"{model.total_b:g} billion parameters, {model.active_b:g} active ({model.params_source}); layers: {kinds}; "
        f"context {model.max_context:,}; KV cache {marginal_bytes_per_token(model.arch, 'auto'):,.0f} bytes per token "
        f"at 16 bits; dimensions from {', '.join(model.arch_sources)}; thinking: {model.serving.thinking}",
        markup=False,
    )
    if model.note:
        out.print(model.note, markup=False)
    files = Table("checkpoint", "format", "GiB", "size from", "source", box=None, pad_edge=False)
    for row in model.checkpoints:
        size = _size(model, row)
        files.add_row(row.repo, row.format, f"{size['gib']:.1f}", size["size_from"], row.source)
    out.print(files)
    scores = Table("benchmark", "mode", "score", "source", box=None, pad_edge=False)
    for row in model.scores:
        scores.add_row(row.label, row.mode or "", f"{row.score:g}", row.source)
    out.print(scores)
