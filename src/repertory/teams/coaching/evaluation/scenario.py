"""A scenario: a person's messages over several sessions, and what has to hold after which message."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

__all__ = (
    "AGENTS",
    "AgentName",
    "Check",
    "Operator",
    "Says",
    "Scenario",
    "ScenarioFile",
    "ScenarioSession",
    "StatedCommitment",
)

Operator = Literal[
    "eq", "ne", "in", "contains", "not_contains", "between", "ge", "le", "exists", "absent", "regex", "not_regex",
    "width_ge",
]  # fmt: skip
AgentName = Literal["shadow", "persona", "plasticity", "stability", "coach", "synth", "system"]
AGENTS: tuple[AgentName, ...] = ("shadow", "persona", "plasticity", "stability", "coach", "synth", "system")

_Id = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
_PAIR = 2


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Says(_Part):
    """One message of the person."""

    id: _Id
    user: str = Field(max_length=20_000, description="what they write")


class ScenarioSession(_Part):
    """One session, on a day counted from the scenario's first."""

    day: int = Field(ge=1, le=3650)
    messages: list[Says] = Field(min_length=1)


class StatedCommitment(_Part):
    """A commitment that the talk holds, with what became of it."""

    id: _Id
    made_in: str
    what: str = ""
    due: str | None = None
    outcome: Literal["kept", "missed", "open"]


class Check(_Part):
    """One thing that has to hold once a message was processed."""

    after: str = Field(description="the id of that message")
    agent: AgentName = Field(
        description="whose section; `synth` is what was shown and merged, `system` the safety route"
    )
    path: str = Field(min_length=1, max_length=200, description="dotted path into it")
    op: Operator
    value: Any = None
    must: bool = Field(default=False, description="the command fails when this check does")

    @model_validator(mode="after")
    def _value_fits(self) -> Self:
        if self.op in {"regex", "not_regex"}:
            _require(isinstance(self.value, str), "needs a pattern")
            try:
                re.compile(self.value)
            except re.error as error:
                message = f"{self.value!r} is no regular expression: {error}"
                raise ValueError(message) from None
        elif self.op == "between":
            bounds = cast("list[Any]", self.value) if isinstance(self.value, list) else []
            _require(len(bounds) == _PAIR and all(map(_is_number, bounds)), "needs a list of two numbers")
        elif self.op in {"ge", "le", "width_ge"}:
            _require(_is_number(self.value), "needs a number")
        elif self.op == "in":
            _require(isinstance(self.value, list), "needs a list")
        return self


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _require(fits: bool, words: str) -> None:
    if not fits:
        raise ValueError(words)


class Scenario(_Part):
    """One scenario.

    Attributes:
        id: Its name, unique in the file.
        title: In words.
        tags: What it is about.
        inject_faults: Agent -> what goes wrong with it in the last session: `timeout`, or a value it claims.
        sessions: What the person writes.
        commitments: Commitments with their true outcomes.
        expected: Facts that are true of the talk; known keys become checks, others are told as not scored.
        checks: The checks.
    """

    id: _Id
    title: str = ""
    tags: list[str] = []
    inject_faults: dict[AgentName, Literal["timeout"] | dict[str, Any]] = {}
    sessions: list[ScenarioSession] = Field(min_length=1)
    commitments: list[StatedCommitment] = []
    expected: dict[str, Any] = {}
    checks: list[Check] = []

    @property
    def messages(self) -> Iterator[Says]:
        """All messages, in order."""
        for session in self.sessions:
            yield from session.messages

    @model_validator(mode="after")
    def _ids_fit(self) -> Self:
        known = [message.id for message in self.messages]
        _require(len(known) == len(set(known)), "two messages have the same id")
        for check in self.checks:
            if check.after not in known:
                message = f"no message has the id {check.after!r} that a check names in `after`"
                raise ValueError(message)
        for item in self.commitments:
            if item.made_in not in known:
                message = f"no message has the id {item.made_in!r} in which {item.id} is said to be made"
                raise ValueError(message)
        days = [session.day for session in self.sessions]
        _require(days == sorted(days), "the sessions' days must not go backwards")
        return self


class ScenarioFile(_Part):
    """What a scenario file holds."""

    version: Literal[1]
    scenarios: list[Scenario] = Field(min_length=1)

    @field_validator("scenarios")
    @classmethod
    def _unique(cls, scenarios: list[Scenario]) -> list[Scenario]:
        names = [scenario.id for scenario in scenarios]
        _require(len(names) == len(set(names)), "two scenarios have the same id")
        return scenarios
