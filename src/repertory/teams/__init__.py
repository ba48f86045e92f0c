"""The built-in teams, and how a team is found by its name or its file."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import cast

from repertory.errors import UsageError
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Team
from repertory.runtime.team_file import load_team
from repertory.spelling import nearest, quoted
from repertory.teams.python_file import open_python_team

__all__ = ("built_in_teams", "find_team")

_BUILT_IN = {
    "coaching": "repertory.teams.coaching.team:open_team",
    "engineering": "repertory.teams.engineering.team:open_team",
}
"""Name -> `module:function`; the function returns `(Team, TeamRules)`. Loaded only when asked for."""

_FILE_ENDINGS = (".yaml", ".yml")


def built_in_teams() -> tuple[str, ...]:
    """The names of the built-in teams."""
    return tuple(_BUILT_IN)


def find_team(name_or_path: str | Path) -> tuple[Team, TeamRules]:
    """Find a team by the name of a built-in one, or by the path of its YAML or Python file.

    A Python file is run, so this is for what the user of this machine typed, never for a name from the network.

    Raises:
        TeamError: The file is not a valid team.
        UsageError: There is no such team.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, str) and text in _BUILT_IN:
        module, function = _BUILT_IN[text].split(":")
        open_team = cast("Callable[[], tuple[Team, TeamRules]]", getattr(importlib.import_module(module), function))
        return open_team()
    if text.endswith(".py"):
        return open_python_team(Path(text))
    if isinstance(name_or_path, Path) or _looks_like_path(text):
        return load_team(Path(text)), TeamRules()
    close = nearest(text, _BUILT_IN)
    teams = f"built-in teams: {', '.join(_BUILT_IN)}; or give the path of a team file, such as my_team.yaml"
    message = f"no team is called {quoted(text)}"
    raise UsageError(message, hint=f"did you mean `{close}`? {teams}" if close else teams)


def _looks_like_path(text: str) -> bool:
    if text.endswith(_FILE_ENDINGS) or "/" in text or "\\" in text:
        return True
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False
