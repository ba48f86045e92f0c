"""Make the environment for tests with a chat front end: Gradio's ready-made chat page, in a venv of its own.

Run as `python -m tests.front_end_environment FOLDER` (or `make front-end`): 80 MB to download, 400 MB on disk. What is
there already is used again. It stands for the chat pages that people point at an OpenAI-compatible address; Open WebUI,
which more people use, brings torch with CUDA: 3.5 GB to download.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

__all__ = ("front_end_python",)

PINNED = ("gradio==6.31.0", "openai==3.57.0")


def front_end_python(folder: Path) -> Path | None:
    """The python of the venv; None where the pinned versions are not installed."""
    return folder / "venv" / "bin" / "python" if _done(folder).exists() else None


def install(folder: Path) -> None:
    """Make the venv, unless it is there."""
    if front_end_python(folder) is not None:
        return
    shutil.rmtree(folder / "venv", ignore_errors=True)
    venv.create(folder / "venv", with_pip=True)
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *PINNED], check=True)
    _done(folder).touch()


def _done(folder: Path) -> Path:
    return folder / "venv" / f"installed-{'-'.join(PINNED)}"


if __name__ == "__main__":
    install(Path(sys.argv[1]).absolute())
