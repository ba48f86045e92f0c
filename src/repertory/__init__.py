"""Repertory runs teams of specialised agents on open models that you host yourself.

The public names load on first use, so that ``import repertory`` stays cheap: no engine, web, database or solver
module is imported by it.
"""

import importlib
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repertory.errors import RepertoryError
    from repertory.runtime.events import TurnEvent
    from repertory.runtime.rules import TeamRules
    from repertory.runtime.team import Agent, Read, Section, Team
    from repertory.runtime.team_file import load_team

__all__ = ("Agent", "Read", "RepertoryError", "Section", "Team", "TeamRules", "TurnEvent", "load_team")

# Whoever uses the package decides where its log goes; without a handler Python would print to stderr.
logging.getLogger(__name__).addHandler(logging.NullHandler())

_HOMES = {
    "Agent": "repertory.runtime.team",
    "Read": "repertory.runtime.team",
    "RepertoryError": "repertory.errors",
    "Section": "repertory.runtime.team",
    "Team": "repertory.runtime.team",
    "TeamRules": "repertory.runtime.rules",
    "TurnEvent": "repertory.runtime.events",
    "load_team": "repertory.runtime.team_file",
}


def __getattr__(name: str) -> object:
    """Load a public name from its module on first use."""
    if name not in _HOMES:
        message = f"module 'repertory' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
