"""What the gateway asks of whoever carries out a team's turns; the runtime is above this layer, so it is handed in."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ("CarriesTurns", "DeployedAgents", "TurnDone", "TurnPart", "TurnRequest", "TurnTeams", "TurnText")


@dataclass(frozen=True)
class TurnRequest:
    """A conversation with a team or a deployed agent, as a client sent it.

    Attributes:
        team: The team's name; of a deployed agent, `agent:NAME`.
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


class CarriesTurns(Protocol):
    """Carries out turns."""

    def turn(self, request: TurnRequest) -> AsyncGenerator[TurnPart]:
        """Carry one message through a team or an agent; the last part is a `TurnDone`.

        Raises:
            RepertoryError: There is no turn to be had.
        """
        ...

    async def drain(self) -> None:
        """Wait until the turns under way have ended."""
        ...


class TurnTeams(CarriesTurns, Protocol):
    """Carries out the turns of teams. Leaving early does not end one: what the agents write is still kept."""

    @property
    def names(self) -> Sequence[str]:
        """The teams there are."""
        ...


class DeployedAgents(CarriesTurns, Protocol):
    """Lets deployed agents answer. They come and go while the server runs. Leaving early ends an answer."""

    async def names(self) -> Sequence[str]:
        """The names in requests, `agent:NAME`, of the agents that answer now."""
        ...
