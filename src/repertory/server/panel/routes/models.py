"""`/api/models`: model files on this machine, and what the catalog knows."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends

from repertory.catalog.checkpoint_files import find_checkpoint_file
from repertory.catalog.formats import FORMATS, weight_bytes
from repertory.catalog.own_catalog import own_catalog
from repertory.catalog.records import Checkpoint, Model
from repertory.engines.model_store import ModelEntry
from repertory.errors import UsageError
from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.models import (
    CatalogCheckpoint,
    CatalogModel,
    ModelFile,
    ModelList,
    ModelRemoved,
    Pull,
    PullStarted,
)
from repertory.server.panel.visitor import Admin, Anyone
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("router",)

router = APIRouter(prefix="/api/models", tags=["models on disk"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]
_GIB = 2**30


@router.get("", operation_id="list_models_on_disk")
async def list_models(panel: _PanelOf, _: Anyone) -> ModelList:
    """The model files that are here or can be pulled by name, and the models that plans are made of."""
    pulling = panel.pulls.running

    def read() -> ModelList:
        catalog = own_catalog()
        return ModelList(
            files=[_file(entry, pulling) for entry in panel.models.entries()],
            catalog=[
                *(_model(model, planned=True) for model in catalog.models),
                *(_model(model, planned=False) for model in catalog.extra),
            ],
        )

    return await asyncio.to_thread(read)


@router.post("/pull", operation_id="pull_model", status_code=202)
async def pull_model(body: Pull, panel: _PanelOf, _: Admin) -> PullStarted:
    """Fetch a model file; it goes on where it stopped. Its progress comes as `pull_progress` events."""
    model = body.model
    if not model.startswith("hf:") and find_checkpoint_file(model) is None:
        # Everything else that `repertory models pull` takes is a place on this machine.
        raise not_found("model", model)
    panel.pulls.start(model)
    return PullStarted(model=model)


@router.delete("/{model}", operation_id="remove_model")
async def remove_model(model: str, panel: _PanelOf, _: Admin) -> ModelRemoved:
    """Remove a model file from this machine, or what is here of an unfinished one."""
    if model in panel.pulls.running:
        message = f"{model} is being pulled"
        raise GatewayError(message, status=409, code="pulls_run", hint="wait until it has ended")
    if model not in {entry.name for entry in await asyncio.to_thread(panel.models.entries)}:
        raise not_found("model", model)
    try:
        freed = await asyncio.to_thread(panel.models.remove, model)
    except UsageError:
        raise not_found("model", model) from None
    return ModelRemoved(removed=model, freed_bytes=freed)


def _file(entry: ModelEntry, pulling: frozenset[str]) -> ModelFile:
    return ModelFile(
        name=entry.name,
        file=entry.file,
        bytes=entry.bytes,
        sha256=entry.sha256,
        licence=entry.licence,
        state="pulling" if entry.name in pulling else entry.state.value,
        source=entry.source,
        context_tokens=entry.context_tokens,
        memory_bytes=entry.memory_bytes,
    )


def _model(model: Model, *, planned: bool) -> CatalogModel:
    return CatalogModel(
        id=model.id,
        name=model.name,
        family=model.family,
        licence=model.license,
        total_b=model.total_b,
        active_b=model.active_b,
        max_context=model.max_context,
        planned=planned,
        checkpoints=[_checkpoint(model, row) for row in model.checkpoints],
    )


def _checkpoint(model: Model, row: Checkpoint) -> CatalogCheckpoint:
    size = row.bytes or weight_bytes(model.arch, FORMATS[row.format]).total
    return CatalogCheckpoint(
        repository=row.repo,
        format=row.format,
        gib=round(size / _GIB, 2),
        size_from="source" if row.bytes else "computed",
    )
