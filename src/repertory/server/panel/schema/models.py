"""Model files on this machine, and the models that the catalog knows."""

from typing import Annotated, Literal

from pydantic import Field

from repertory.server.panel.schema.base import Answer, Request

__all__ = ("CatalogCheckpoint", "CatalogModel", "ModelFile", "ModelList", "ModelRemoved", "Pull", "PullStarted")


class ModelFile(Answer):
    """A model file that is here or can be pulled by name."""

    name: str
    file: str
    bytes: int
    sha256: str
    licence: str | None
    state: Literal["present", "partial", "available", "pulling"]
    source: str | None
    """Where it came from; null when it is not here."""
    context_tokens: int | None
    memory_bytes: int | None
    """What it takes in memory when it is served."""


class CatalogCheckpoint(Answer):
    """One published file set of a model."""

    repository: str
    format: str
    gib: float
    size_from: Literal["source", "computed"]


class CatalogModel(Answer):
    """A model that the planner knows."""

    id: str
    name: str
    family: str
    licence: str
    total_b: float
    """Parameters, in billions."""
    active_b: float
    """Parameters that each token uses, in billions."""
    max_context: int
    """Tokens."""
    planned: bool
    """Whether the planner casts it: it has scores."""
    checkpoints: list[CatalogCheckpoint]


class ModelList(Answer):
    """Files and models."""

    files: list[ModelFile]
    catalog: list[CatalogModel]


class Pull(Request):
    """A model file to fetch."""

    model: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,299}$")]
    """A name of the list, or `hf:ORGANISATION/REPOSITORY/FILE.gguf`; never a path."""


class PullStarted(Answer):
    """A pull that runs; its progress comes as `pull_progress` events."""

    model: str


class ModelRemoved(Answer):
    """A model file that was removed."""

    removed: str
    freed_bytes: int
