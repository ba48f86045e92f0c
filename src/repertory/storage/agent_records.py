"""What is kept of agents, as callers see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

__all__ = (
    "AgentCall",
    "AgentEvent",
    "AgentRepair",
    "AgentState",
    "AgentVersion",
    "CallOutcome",
    "NewVersion",
    "RepairState",
)

AgentState = Literal["draft", "canary", "live", "retired"]
CallOutcome = Literal["ok", "error", "refused", "invalid"]
RepairState = Literal["open", "taken", "built", "not_built"]


@dataclass(frozen=True)
class AgentVersion:
    """One version of an agent.

    Attributes:
        agent: The agent's name.
        version: Its number; rises, and never comes twice.
        digest: The digest of the package's content.
        state: `draft` was never let near users, `canary` is being tried, `live` answers, `retired` did.
        public_key: Whose signature it carries.
        signature: The signature over the digest.
        source: How it came about.
        created_at: When it was deployed.
        was_live: Whether it ever was live, so that it can be rolled back to.
        share: Of a canary: percent of the calls that it answers, 0 to only answer beside the live one (shadow); None
            when it answers those alone that name it.
    """

    agent: str
    version: int
    digest: str
    state: AgentState
    public_key: str
    signature: str
    source: Mapping[str, Any]
    created_at: datetime
    was_live: bool
    share: int | None = None

    @property
    def label(self) -> str:
        """The name that people use: `agent@version`."""
        return f"{self.agent}@{self.version}"


@dataclass(frozen=True)
class NewVersion:
    """What is to become a version."""

    agent: str
    digest: str
    files: Mapping[str, bytes]
    public_key: str
    signature: str
    source: Mapping[str, Any]


@dataclass(frozen=True)
class AgentEvent:
    """One entry of an agent's history."""

    number: int
    version: int | None
    what: str
    detail: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True)
class AgentCall:
    """How one call of a version ended.

    Attributes:
        agent: The agent.
        version: The version that answered.
        what: The tool or route.
        outcome: `ok`; `error` when the agent failed; `refused` when it refused the input as its contract allows;
            `invalid` when the arguments were not those of the tool.
        kind: The type of the error.
        seconds: How long it took.
        agrees: Of a call beside the live version: whether both gave the same result.
        at: When.
    """

    agent: str
    version: int
    what: str
    outcome: CallOutcome
    kind: str | None
    seconds: float
    agrees: bool | None
    at: datetime


@dataclass(frozen=True)
class AgentRepair:
    """A request to mend an agent.

    Attributes:
        id: Its number.
        agent: The agent.
        version: The version that failed.
        state: `open`, `taken` while the team works on it, `built` or `not_built` in the end.
        reason: What happened, in words.
        detail: Numbers and kinds of errors; at the end, what the team made of it.
        created_at: When it was filed.
        ended_at: When the team was done.
    """

    id: int
    agent: str
    version: int
    state: RepairState
    reason: str
    detail: Mapping[str, Any]
    created_at: datetime
    ended_at: datetime | None
