"""Where Repertory keeps its state on disk."""

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

__all__ = ("Home", "locate_home")


@dataclass(frozen=True)
class Home:
    """The folder that holds all state, and the places inside it. Nothing is created until something is written."""

    root: Path
    models: Path

    @property
    def database(self) -> Path:
        """The SQLite file with blackboards, sessions and turns."""
        return self.root / "repertory.sqlite"

    @property
    def agents(self) -> Path:
        """The folder of what deployed agents keep, one folder for each."""
        return self.root / "agents"

    @property
    def harness(self) -> Path:
        """The folder of the working folders of agents that other programs run, one folder for each person."""
        return self.root / "harness"

    @property
    def logs(self) -> Path:
        """The folder of engine logs."""
        return self.root / "logs"

    @property
    def probes(self) -> Path:
        """The folder of what probes have found out about engines."""
        return self.root / "probes"

    @property
    def slots(self) -> Path:
        """The folder in which running llama.cpp engines write slot states (their KV cache on disk)."""
        return self.root / "slots"

    @property
    def prefixes(self) -> Path:
        """The folder of computed prompt prefixes that outlive their engine, for sessions that come back."""
        return self.root / "prefixes"


def locate_home() -> Home:
    """Find the home folder: `REPERTORY_HOME`, else the user's data folder.

    `REPERTORY_MODELS` moves the model store alone, so that several homes can share one set of large files.
    """
    root = os.environ.get("REPERTORY_HOME")
    home = Path(root).expanduser().absolute() if root else platformdirs.user_data_path("repertory", appauthor=False)
    models = os.environ.get("REPERTORY_MODELS")
    return Home(root=home, models=Path(models).expanduser().absolute() if models else home / "models")
