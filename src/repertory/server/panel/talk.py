"""Whom one can write to through the panel: the served teams, and whoever else is added to them."""

from collections.abc import Sequence
from typing import Protocol

from repertory.server.running_turns import RunningTurn

__all__ = ("TalkPartners",)


class TalkPartners(Protocol):
    """Some that answer messages by turns. The served teams are such; deployed agents can be others."""

    @property
    def names(self) -> Sequence[str]:
        """Their names in `POST /api/chat/{name}`."""
        ...

    async def begin(self, team: str, message: str, *, user: str, session: str | None = None) -> RunningTurn:
        """Start a turn; its words come as events.

        Raises:
            RepertoryError: There is no turn to be had.
        """
        ...
