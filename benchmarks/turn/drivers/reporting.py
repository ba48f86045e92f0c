"""What every driver shares: reading its work and reporting its times. Standard library only."""

import json
import resource
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

__all__ = ("Turn", "Work", "finish", "read_work", "system_text")

Work = dict[str, Any]

_TIMES: list[dict[str, Any]] = []


def read_work() -> Work:
    """The work, from the file that the first argument names."""
    return json.loads(Path(sys.argv[1]).read_text("utf-8"))


def system_text(work: Work, agent: Work) -> str:
    """The usual system prompt of one agent: who it is, what it should know, and the fields of its answer.

    Repertory puts the fields into its prompts itself. Without them a model under a grammar is led to spell the names of
    fields in small pieces, and the same answer takes it a third more tokens.
    """
    text = f"{work['task']} {agent['instructions']}\n\nWhat is known of the person:\n{work['memory']}"
    if agent["schema"] is None:
        return text
    return f"{text}\n\nAnswer as one JSON object of this schema:\n{json.dumps(agent['schema'])}"


class Turn:
    """Times of one turn, in seconds from its beginning."""

    def __init__(self, work: Work, number: int) -> None:
        self._url = work["url"]
        self._number = number
        self._began = 0.0
        self._first_token_s: float | None = None
        self._coach_s: float | None = None
        self._reply_s: float | None = None

    def __enter__(self) -> "Turn":
        self._tell("begin")
        self._began = time.monotonic()
        return self

    def token(self) -> None:
        """The person sees a piece of the Coach's reply."""
        if self._first_token_s is None:
            self._first_token_s = time.monotonic() - self._began

    def coach(self) -> None:
        """The Coach's reply is whole."""
        self._coach_s = time.monotonic() - self._began

    def reply(self) -> None:
        """The full reply is there."""
        self._reply_s = time.monotonic() - self._began

    def __exit__(self, kind: object, *_: object) -> None:
        wall_s = time.monotonic() - self._began
        self._tell("end")
        if kind is None:
            _TIMES.append(
                {
                    "turn": self._number,
                    "first_token_s": self._first_token_s,
                    "coach_s": self._coach_s,
                    "reply_s": self._reply_s,
                    "wall_s": wall_s,
                }
            )

    def _tell(self, what: str) -> None:
        request = urllib.request.Request(f"{self._url}/recorded/{what}/{self._number}", method="POST")  # noqa: S310
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60).close()


def finish(**facts: Any) -> None:
    """Write what was measured to the file that the second argument names."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mib = peak / 1024 if sys.platform == "linux" else peak / 1024**2
    Path(sys.argv[2]).write_text(json.dumps({"turns": _TIMES, "peak_mib": round(mib, 1), **facts}), "utf-8")
