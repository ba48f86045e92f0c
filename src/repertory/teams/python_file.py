"""A team that its user wrote in a Python file."""

import importlib.util
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from repertory.errors import RepertoryError, TeamError
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Team
from repertory.spelling import printable

__all__ = ("open_python_team",)

_HINT = "define `def open_team():` that returns a Team, or a Team and its TeamRules"


def open_python_team(path: Path) -> tuple[Team, TeamRules]:
    """Run a Python file and return what its `open_team()` returns; a `Team` alone gets the plain rules.

    Raises:
        TeamError: There is no such file, it fails, or it has no `open_team` that returns a team.
    """
    file = printable(str(path))
    if not path.is_file():
        raise TeamError("there is no such file", where=file)
    try:
        spec = importlib.util.spec_from_file_location(f"repertory_user_team_{path.stem}", path)
        if spec is None or spec.loader is None:
            raise TeamError("this is not a Python file", where=file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        open_team = getattr(module, "open_team", None)
        if not callable(open_team):
            raise TeamError("the file has no function `open_team`", where=file, hint=_HINT)
        return _checked(cast("Callable[[], Any]", open_team)(), file)
    except RepertoryError:
        raise
    except Exception as error:
        # Whatever the user's code raises is told as a mistake in that file, not as one of ours.
        message = f"{type(error).__name__}: {printable(str(error).replace(chr(10), ' '))}"
        raise TeamError(message, where=_place(error, path, file)) from error


def _checked(returned: Any, file: str) -> tuple[Team, TeamRules]:
    team, rules = cast("tuple[Any, Any]", returned) if _is_pair(returned) else (returned, TeamRules())
    if not isinstance(team, Team) or not isinstance(rules, TeamRules):
        raise TeamError("`open_team` does not return a team", where=file, hint=_HINT)
    return team, rules


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(cast("tuple[Any, ...]", value)) == 2


def _place(error: Exception, path: Path, file: str) -> str:
    if isinstance(error, SyntaxError):
        return f"{file}:{error.lineno or 1}:{error.offset or 1}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    return f"{file}:{lines[-1]}" if lines and lines[-1] else file
