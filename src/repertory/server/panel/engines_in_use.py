"""What the panel asks of whoever knows the engines that this server plays on."""

from collections.abc import Sequence
from typing import Protocol

from repertory.runtime.cast import Cast
from repertory.runtime.team import Team
from repertory.server.casting import StandingEngine

__all__ = ("EnginesInUse",)


class EnginesInUse(Protocol):
    """The engines."""

    @property
    def supervised(self) -> bool:
        """Whether they are the instances of `repertory up`: those that are started later are used too."""
        ...

    def standing(self) -> Sequence[StandingEngine]:
        """The engines that answer now."""
        ...

    def cast_of(self, team: Team) -> Cast:
        """Which agent of a team plays where.

        Raises:
            EngineUnavailableError: None of the instances answers.
        """
        ...
