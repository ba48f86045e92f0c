"""The working folder of an agent that a program runs: what it may read lies in it, and its answer may.

The program owns the folder while it runs and may have left anything in it, a link to a file of ours too. So nothing is
ever written or read through a link, and what we lay out is new each time.
"""

import json
import os
import shutil
import stat
from pathlib import Path

from repertory.runtime.harness.interface import AgentRun
from repertory.storage.work_folders import folder_name, work_folder_of_user

__all__ = ("ANSWER_FILES", "fresh_folder", "lay_out_context", "read_answer", "session_folder")

ANSWER_FILES = ("answer.json", "answer.md")
"""Where a program may leave its answer; the first that is there counts."""

_CONTEXT = "context"
_MAX_ANSWER_BYTES = 4 * 1024 * 1024


def session_folder(root: Path, run: AgentRun) -> Path:
    """An agent's folder in a session. It stays from turn to turn."""
    return work_folder_of_user(root, run.user) / folder_name(run.team.name, run.session) / run.name


def fresh_folder(folder: Path) -> None:
    """Make a folder, or take out of it what an earlier call was given and left as its answer."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (_CONTEXT, *ANSWER_FILES):
        path = folder / name
        try:
            is_folder = stat.S_ISDIR(path.lstat().st_mode)
        except FileNotFoundError:
            continue
        if is_folder:
            shutil.rmtree(path)
        else:
            path.unlink()


def lay_out_context(folder: Path, run: AgentRun, words: str) -> None:
    """Write what the agent may read: its prompt, its schema, and the sections that it reads with their versions."""
    context = folder / _CONTEXT
    sections = context / "blackboard"
    context.mkdir(mode=0o700)  # it must be new: what stands there now was made by us
    sections.mkdir(mode=0o700)
    (context / "prompt.md").write_text(words, "utf-8", "replace")
    if run.schema is not None:
        _write_json(context / "schema.json", run.schema)
    for name, view in run.reads.items():
        document = {"section": name, "version": view.version, "age_turns": view.age_turns, "value": view.value}
        _write_json(sections / f"{name}.json", document)


def read_answer(folder: Path) -> str | None:
    """The answer that was left in the folder; None for none. A link, a device or too large a file is none."""
    for name in ANSWER_FILES:
        try:
            file = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        with os.fdopen(file, "rb") as opened:
            status = os.fstat(opened.fileno())
            if stat.S_ISREG(status.st_mode) and 0 < status.st_size <= _MAX_ANSWER_BYTES:
                return opened.read(_MAX_ANSWER_BYTES).decode("utf-8", "replace")
    return None


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), "utf-8", "replace")
