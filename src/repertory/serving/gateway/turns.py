"""What the gateway asks of whoever carries out a team's turns; the runtime is above this layer, so it is handed in."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ("TurnDone", "TurnPart", "TurnRequest", "TurnTeams", "TurnText")


@dataclass(frozen=True)
class TurnRequest:
    """A conversation with a team, as a client sent it.

    Attributes:
        team: The team's name.
        messages: Role and text of every message, the person's newest one last.
        user: Whose blackboard.
        session: The session that the client named; None lets the handler find the conversation's own.
    """

    team: str
    messages: Sequence[tuple[str, str]]
    user: str
    session: str | None = None


@dataclass(frozen=True)
class TurnText:
    """Words for the person, as they come."""

    text: str


@dataclass(frozen=True)
class TurnDone:
    """The end of a turn.

    Attributes:
        turn: The turn's id.
        session: Its session.
        status: `complete`, `partial` or `failed`.
        reason: Why it is not complete.
        prompt_tokens: Tokens of all its agents' prompts.
        cached_tokens: How many of them were cached.
        output_tokens: Tokens generated.
    """

    turn: str
    session: str
    status: str
    reason: str | None
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int


TurnPart = TurnText | TurnDone


class TurnTeams(Protocol):
    """Carries out turns."""

    @property
    def names(self) -> Sequence[str]:
        """The teams there are."""
        ...

    def turn(self, request: TurnRequest) -> AsyncGenerator[TurnPart]:
        """Carry one message through a team; the last part is a `TurnDone`.

        Leaving early does not end the turn: what the agents write is still kept.

        Raises:
            RepertoryError: There is no turn to be had.
        """
        ...

    async def drain(self) -> None:
        """Wait until the turns under way have ended."""
        ...
