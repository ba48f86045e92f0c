"""Builds of the engineering team."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from repertory.server.panel.schema.base import Answer, JsonObject, Request

__all__ = ("BuildDetail", "BuildList", "BuildRequest", "BuildStarted", "BuildStep", "BuildSummary", "BuildTests")

BuildStatus = Literal["running", "built", "not_built", "refused", "failed", "interrupted"]


class BuildRequest(Request):
    """What an agent is to be built for."""

    request: Annotated[str, Field(min_length=1, max_length=8000)]
    """What the agent is for, in the person's words."""
    contract: Annotated[str, Field(min_length=1, max_length=8000)] | None = None
    """What others may rely on; null lets the team write it."""
    budget_minutes: Annotated[float, Field(ge=0.1, le=600)] = 20.0
    """When it must be over."""
    user: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Who asks; null takes the caller's own user."""


class BuildStarted(Answer):
    """A build that runs; its progress comes as events (`GET /v1/events?build=`)."""

    build: str
    user: str


class BuildStep(Answer):
    """One call of an agent."""

    agent: str
    status: str
    seconds: float


class BuildTests(Answer):
    """Tests that were written without seeing the code."""

    written: int
    passed: int


class BuildSummary(Answer):
    """One build in a list."""

    build: str
    user: str
    status: BuildStatus
    """`failed`: it ended with an error; `interrupted`: its process is gone, it can be resumed."""
    agent: str | None
    """`name@version`, when there is one."""
    why: str | None
    """How it ended, in words; null while it runs or where it is withheld."""
    started_at: datetime
    finished_at: datetime | None


class BuildList(Answer):
    """Builds, the newest first."""

    builds: list[BuildSummary]
    running: str | None
    """The build that runs in this server; it takes one at a time."""
    available: bool
    """Whether this server can build: the engineering team plays on its instances, and code can be isolated here."""
    reason: str | None
    """Why it can not."""


class BuildDetail(Answer):
    """A build, with what `repertory build --json` tells."""

    build: str
    user: str
    status: BuildStatus
    agent: str | None
    why: str | None
    started_at: datetime
    finished_at: datetime | None
    cancellable: bool
    request: str | None
    """What was asked for, with its contract; null where it is withheld."""
    tools: list[JsonObject]
    """The agent's tools, each with its `name`, `description`, `input_schema` and `output_schema`."""
    tests: BuildTests | None
    candidates: int | None
    """Drafts of the code that were run."""
    tokens: int | None
    """Tokens that the engines computed and wrote."""
    seconds: float | None
    steps: list[BuildStep]
    """The agents' calls until now."""
    sections: dict[str, JsonObject]
    """What the agents wrote: `specification`, `architecture`, `code`, `tests`, `review` ..., each under `value`."""
