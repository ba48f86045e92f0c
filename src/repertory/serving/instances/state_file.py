"""The files of the supervisor in the home folder, replaced atomically and readable by their owner alone."""

import contextlib
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from repertory.errors import RepertoryError
from repertory.home import Home, locate_home
from repertory.serving.instances.records import ServingState, WantedInstances

__all__ = ("ServingFolder", "read_json_object", "write_privately")

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class ServingFolder:
    """Where the supervisor keeps what it knows: `serving/` in the home folder."""

    root: Path

    @classmethod
    def of(cls, home: Home | None = None) -> "ServingFolder":
        """The folder of a home; nothing is created."""
        return cls((home or locate_home()).root / "serving")

    @property
    def supervisor_lock(self) -> Path:
        """Held by the supervisor as long as it lives."""
        return self.root / "supervisor.lock"

    @property
    def command_lock(self) -> Path:
        """Held by `up` and `down` while they decide and start or stop a supervisor."""
        return self.root / "command.lock"

    @property
    def supervisor_log(self) -> Path:
        """What the supervisor itself has to say."""
        return self.root / "supervisor.log"

    @property
    def measurements(self) -> Path:
        """Measured memory by checkpoint and settings, kept over restarts."""
        return self.root / "measurements.json"

    def instance(self, name: str) -> Path:
        """The folder of one instance: its log, its process record, its slot states."""
        return self.root / "instances" / name

    def create(self) -> None:
        """Make the folder, for its owner alone."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)

    def read_state(self) -> ServingState:
        """The last state written; an empty one when there is none."""
        return _read(self.root / "state.json", ServingState) or ServingState()

    def write_state(self, state: ServingState) -> None:
        """Replace the state."""
        write_privately(self.root / "state.json", state.model_dump_json(indent=1))

    def read_wanted(self) -> WantedInstances | None:
        """What was last asked for; None when nothing is."""
        return _read(self.root / "wanted.json", WantedInstances)

    def write_wanted(self, wanted: WantedInstances | None) -> None:
        """Replace what is asked for; None when nothing shall run any more."""
        path = self.root / "wanted.json"
        if wanted is None:
            path.unlink(missing_ok=True)
        else:
            write_privately(path, wanted.model_dump_json(indent=1))


def _read(path: Path, model: type[_Model]) -> _Model | None:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        message = f"the file can not be read: {error}"
        raise RepertoryError(message, where=str(path)) from error
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        message = f"the file was not written by this version of Repertory ({place}: {first['msg']})"
        raise RepertoryError(
            message, where=str(path), hint="`repertory down` stops what runs and starts afresh"
        ) from error


def write_privately(path: Path, text: str) -> None:
    """Replace a file so that a reader sees the old or the new one, whole, and nobody else reads it."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        message = f"the file can not be written: {error.strerror or error}"
        raise RepertoryError(message, where=str(path)) from error


def read_json_object(path: Path) -> dict[str, object]:
    """A small JSON file of ours; empty when it is missing or broken."""
    try:
        value: object = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON
