"""What a team is: agents, the sections of their blackboard, and who reads and writes what.

A team is the same object whether it comes from a YAML file or is built in Python. The rules that hold between its
parts (every read has a writer, one writer per section, no cycle of fresh reads) are checked in
`repertory.runtime.team_checks`, so that a file can be told where each of its mistakes stands.
"""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from repertory.planning.needs import AgentNeeds
from repertory.runtime.harness.settings import HarnessSettings

__all__ = ("Agent", "OnMissing", "Read", "ReadMode", "Replies", "Section", "Team")

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
"""A name of a team, agent or section: lower-case letters, digits and underscores, at most 40."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class ReadMode(StrEnum):
    """How an agent reads a section.

    `FRESH`: what the writer writes in this turn; the agent waits for it.
    `LATEST`: the last committed version; the agent never waits.
    """

    FRESH = "fresh"
    LATEST = "latest"


class OnMissing(StrEnum):
    """What happens to an agent when a fresh section does not come in time.

    `LATEST`: it takes the last committed version and is told how old that is.
    `SKIP`: it is skipped, and the turn goes on without its section.
    `FAIL`: it counts as failed.
    """

    LATEST = "latest"
    SKIP = "skip"
    FAIL = "fail"


class Read(_Part):
    """One declared read of a section."""

    mode: ReadMode = ReadMode.LATEST
    within_s: float | None = Field(default=None, gt=0)
    """For a fresh read: seconds from the start of the turn after which `on_missing` applies; None waits until the
    writer has committed, failed or been dropped by the turn's own deadline."""
    on_missing: OnMissing = OnMissing.LATEST


class Section(_Part):
    """One part of the blackboard: text, or an object with a JSON Schema."""

    description: str = ""
    text: bool = False
    """True for a section that holds words for the person; it then has no schema."""
    json_schema: dict[str, Any] | None = Field(
        default=None, validation_alias=AliasChoices("schema", "json_schema"), serialization_alias="schema"
    )
    """What is kept on the blackboard. None for a text section."""


def _spelled_out(value: object) -> object:
    """A harness that is named alone has the settings of its kind."""
    return {"kind": value} if isinstance(value, str) else value


class Agent(_Part):
    """One role of a team."""

    instructions: str = Field(min_length=1)
    writes: Name
    """The one section this agent writes."""
    reads: dict[Name, Read] = {}
    draft_schema: dict[str, Any] | None = None
    """What the model writes, where the team's code turns a draft into the section; None: the section's own schema."""
    max_output_tokens: int = Field(default=400, ge=1)
    max_input_tokens: int | None = Field(default=None, ge=1)
    """Budget for the whole prompt; None: what the instance's context leaves."""
    temperature: float = Field(default=0.2, ge=0, le=2)
    thinking: bool = False
    max_thinking_tokens: int = Field(default=1024, ge=1)
    """Kept for thinking, where the agent may think, beside `max_output_tokens` for the answer."""
    harness: Annotated[HarnessSettings, BeforeValidator(_spelled_out)] = HarnessSettings()
    """What runs the agent: a name, or a mapping with `kind` and settings."""
    agent: str | None = Field(default=None, min_length=1, max_length=80)
    """A deployed agent, by name or `name@version`, that plays this role; its reply is the role's text."""
    needs: AgentNeeds | None = None
    """What the agent needs of a model; `repertory plan` casts it by that."""

    @property
    def thinking_reserve(self) -> int:
        """Tokens kept for thinking."""
        return self.max_thinking_tokens if self.thinking else 0

    @property
    def output_reserve(self) -> int:
        """Tokens of the context that are kept for thinking and answer."""
        return self.max_output_tokens + self.thinking_reserve


class Replies(_Part):
    """Which text sections the person sees."""

    first: Name | None = None
    """Streamed at once."""
    full: Name | None = None
    """Appended when all is merged; streamed where there is no first reply."""

    @property
    def streamed(self) -> str | None:
        """The section whose words are shown while they are written."""
        return self.first or self.full


class Team(_Part):
    """Agents that work on one thing together, with the sections of their blackboard."""

    name: Name
    description: str = ""
    preamble: str = Field(min_length=1)
    """The constant first part of every agent's prompt."""
    sections: dict[Name, Section]
    agents: dict[Name, Agent] = Field(min_length=1)
    replies: Replies
    deadline_s: float = Field(default=600.0, gt=0)
    """Seconds after which a turn ends with what it has."""
