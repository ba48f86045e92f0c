"""The rows of the catalog. Every row names its source; a row without one is refused."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from repertory.catalog.architecture import Architecture

__all__ = ("Checkpoint", "Device", "Fact", "Model", "Price", "Score", "Serving")

Source = str
"""A key of the catalog's sources, or an address."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Checkpoint(_Row):
    """One published file set of a model.

    Attributes:
        bytes: Its size where a source gives one.
        bytes_exact: Whether that is exact, or rounded by the source.
        recipe_minimum_gb: What a vLLM recipe asks for as a minimum (about 1.2 times the weights; not a size).
    """

    repo: str = Field(min_length=1)
    format: str = Field(min_length=1)
    source: Source = Field(min_length=1)
    bytes: int | None = Field(default=None, gt=0)
    bytes_exact: bool = False
    recipe_minimum_gb: float | None = None
    printed_format: str | None = None
    confidence: Literal["seen", "recalled"] = "seen"
    note: str | None = None


class Score(_Row):
    """One published benchmark score, in percent, with the label that its source prints."""

    benchmark: str
    label: str
    score: float = Field(ge=0, le=100)
    source: Source = Field(min_length=1)
    mode: str | None = None
    confidence: Literal["seen", "recalled"] = "seen"
    note: str | None = None


class Serving(_Row):
    """How engines must be told to serve the model."""

    source: Source = Field(min_length=1)
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    thinking: str = "no"

    @property
    def can_think(self) -> bool:
        """Whether the model has a thinking mode."""
        return not self.thinking.startswith("no")

    @property
    def always_thinks(self) -> bool:
        """Whether thinking can not be switched off."""
        return self.thinking.startswith(("always", "only", "yes"))


class Model(_Row):
    """One open model."""

    id: str = Field(min_length=1)
    family: str
    license: str
    release: str | None = None
    total_b: float = Field(gt=0)
    active_b: float = Field(gt=0)
    params_source: Source = Field(min_length=1)
    max_context: int = Field(gt=0)
    native_format: str
    arch: Architecture
    arch_sources: list[Source] = Field(min_length=1)
    confidence: Literal["seen", "recalled"] = "seen"
    serving: Serving
    checkpoints: list[Checkpoint] = []
    scores: list[Score] = []
    note: str | None = None

    @property
    def name(self) -> str:
        """The id without its organisation."""
        return self.id.rsplit("/", 1)[-1]


class Fact(_Row):
    """One number about a device, with its source; `sourced` is False where it is general knowledge, not read."""

    value: float
    source: Source = Field(min_length=1)
    sourced: bool = True


class Price(_Row):
    """Dollars per device and hour."""

    low: float = Field(gt=0)
    high: float = Field(gt=0)
    source: Source = Field(min_length=1)


class Device(_Row):
    """One kind of accelerator (or a computer's main memory).

    Attributes:
        memory_gib: What engines see as total memory.
        usable_share: Share of it that may be allocated (unified memory keeps some for the system).
        tflops: Dense 16-bit matrix speed; None where it was not found.
        quant_tops: Dense 8-bit integer speed, which GGUF kernels use.
        link_gb_s: Speed between two devices of a machine, one way.
    """

    id: str = Field(min_length=1)
    name: str
    aliases: list[str] = []
    vendor: Literal["nvidia", "amd", "apple", "cpu"]
    memory_gib: Fact
    usable_share: float = Field(default=1.0, gt=0, le=1)
    bandwidth_gb_s: Fact | None = None
    tflops: Fact | None = None
    quant_tops: Fact | None = None
    fp8: bool = False
    fp4: bool = False
    bf16: bool = True
    capability: str | None = None
    link_gb_s: float = 0.0
    host_gb_s: float = 25.0
    tdp_w: float | None = None
    price_usd_h: Price | None = None
    note: str | None = None
