"""Finished scenarios on disk, so that an evaluation that was stopped goes on where it ended."""

import hashlib
import os
import tempfile
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from repertory.errors import StorageError
from repertory.teams.coaching.evaluation.report import ScenarioReport
from repertory.teams.coaching.evaluation.scenario import Scenario

__all__ = ("ProgressFile",)


class _Finished(BaseModel):
    model_config = ConfigDict(extra="forbid")

    key: str
    report: ScenarioReport


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: int = 1
    finished: list[_Finished] = []


class ProgressFile:
    """The finished scenarios of one file; a scenario counts as finished for one model and its own exact text.

    Args:
        path: The file; None keeps nothing.
        model: The model that plays.

    Raises:
        StorageError: The file is not one of ours.
    """

    def __init__(self, path: Path | None, model: str) -> None:
        self._path = path
        self._model = model
        self._content = _Content()
        if path is not None and path.exists():
            try:
                self._content = _Content.model_validate_json(path.read_bytes())
            except (OSError, ValidationError) as error:
                message = "this is not the progress of an evaluation"
                raise StorageError(message, where=str(path), hint="name another file in --resume") from error

    def _key(self, scenario: Scenario) -> str:
        text = f"{self._model}\n{scenario.model_dump_json()}"
        return hashlib.sha256(text.encode()).hexdigest()

    def finished(self, scenario: Scenario) -> ScenarioReport | None:
        """The report of a scenario that was played before, None when it was not."""
        key = self._key(scenario)
        return next((item.report for item in self._content.finished if item.key == key), None)

    def keep(self, scenario: Scenario, report: ScenarioReport) -> None:
        """Add a report; the file is replaced whole.

        Raises:
            StorageError: It can not be written.
        """
        self._content.finished.append(_Finished(key=self._key(scenario), report=report))
        if self._path is None:
            return
        data = self._content.model_dump_json(indent=1).encode()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".repertory-", dir=self._path.parent)
            draft = Path(name)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(self._path)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
        except OSError as error:
            message = f"the progress can not be written: {error.strerror or error}"
            raise StorageError(message, where=str(self._path)) from error
