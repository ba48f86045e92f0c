"""What is kept of agents, as callers see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

__all__ = ("AgentEvent", "AgentState", "AgentVersion", "NewVersion")

AgentState = Literal["draft", "canary", "live", "retired"]


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
