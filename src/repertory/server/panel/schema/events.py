"""What comes over `GET /v1/events`: each message's `data` is one of these, its `event` is the `type`."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, RootModel

from repertory.runtime.events import TurnEvent
from repertory.server.panel.schema.base import Answer
from repertory.server.panel.schema.overview import Overview

__all__ = ("BuildEnded", "OverviewTick", "PlanStartEnded", "PullProgressed", "StreamEvent", "StreamReset", "TurnEnded")


class StreamReset(Answer):
    """Something was missed: fetch again what the page shows, and go on with what comes."""

    type: Literal["reset"] = "reset"
    reason: Literal["slow_reader", "gap", "server_restarted"]


class TurnEnded(Answer):
    """A turn is over and what it came to is kept; also one that was cancelled, which has no `turn_finished`."""

    type: Literal["turn_ended"] = "turn_ended"
    turn: str
    status: Literal["running", "complete", "partial", "failed", "interrupted"]


class OverviewTick(Answer):
    """The load, every other second, for administrators on streams that name no turn or build."""

    type: Literal["overview"] = "overview"
    overview: Overview


class PullProgressed(Answer):
    """How far the pull of a model file is; for administrators."""

    type: Literal["pull_progress"] = "pull_progress"
    model: str
    state: Literal["pulling", "present", "failed"]
    done_bytes: int
    total_bytes: int
    """0 while it is not known."""
    message: str | None
    """What is being done, or why it failed."""


class BuildEnded(Answer):
    """A build is over; `GET /api/builds/{id}` has all of it. Its steps come as turn events before."""

    type: Literal["build_ended"] = "build_ended"
    build: str
    status: Literal["built", "not_built", "refused", "failed", "interrupted"]
    agent: str | None
    at: datetime


class PlanStartEnded(Answer):
    """The instances of a plan are up, or could not be started; for administrators."""

    type: Literal["plan_start_ended"] = "plan_start_ended"
    plan: str
    started: bool
    message: str | None


StreamEventUnion = Annotated[
    TurnEvent | TurnEnded | StreamReset | OverviewTick | PullProgressed | BuildEnded | PlanStartEnded,
    Field(discriminator="type"),
]


class StreamEvent(RootModel[StreamEventUnion]):
    """One message of the stream. Turn events keep their order by `seq`; one that came before may come again."""
