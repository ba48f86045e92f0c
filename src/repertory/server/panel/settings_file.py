"""The settings of this installation, in a small file of the home folder."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from repertory.errors import StorageError
from repertory.home import Home, locate_home
from repertory.server.panel.schema.settings import Settings

__all__ = ("SettingsFile",)

_MAX_BYTES = 64 * 1024


class SettingsFile:
    """Reads and writes the settings. Methods block."""

    def __init__(self, home: Home | None = None) -> None:
        self._path = (home or locate_home()).root / "settings.json"

    def read(self) -> Settings:
        """The settings; the plain ones where there is no file, or it can not be read as one."""
        with suppress(OSError, ValidationError), self._path.open("rb") as file:
            return Settings.model_validate_json(file.read(_MAX_BYTES))
        return Settings(country=None, language=None, theme="system")

    def write(self, settings: Settings) -> None:
        """Keep the settings; the file is either as it was, or whole.

        Raises:
            StorageError: It can not be written.
        """
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".settings-", dir=self._path.parent)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(settings.model_dump_json(indent=2) + "\n")
                Path(name).replace(self._path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            message = f"the settings can not be written: {error.strerror or error}"
            raise StorageError(message, where=str(self._path)) from error
