"""What an agent needs of a model, and how much work a turn gives it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from repertory.catalog.benchmarks import BENCHMARKS

__all__ = ("AgentNeeds", "AgentWork", "BenchmarkNeed")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BenchmarkNeed(_Frozen):
    """How much a benchmark counts for an agent, and the least score it accepts."""

    weight: float = Field(default=1.0, ge=0)
    minimum: float | None = Field(default=None, ge=0, le=100)


class AgentNeeds(_Frozen):
    """An agent's needs.

    Attributes:
        benchmarks: Benchmark series to weight and minimum. The score of a model is the weighted mean.
        importance: Weight of the agent in the sum that a plan maximises.
        thinking: Whether the agent lets the model think; None: it may, where that scores better.
    """

    benchmarks: dict[str, BenchmarkNeed] = Field(min_length=1)
    context_tokens: int = Field(default=8192, ge=256)
    concurrency: int = Field(default=1, ge=1, le=4096)
    tool_calling: bool = False
    thinking: bool | None = None
    max_first_token_s: Annotated[float, Field(gt=0)] | None = None
    min_decode_tok_s: Annotated[float, Field(gt=0)] | None = None
    importance: float = Field(default=1.0, gt=0)

    @field_validator("benchmarks")
    @classmethod
    def _known(cls, value: dict[str, BenchmarkNeed]) -> dict[str, BenchmarkNeed]:
        for name in value:
            if name not in BENCHMARKS:
                msg = f"{name!r} is not a benchmark series; known are {', '.join(BENCHMARKS)}"
                raise ValueError(msg)
        if not any(need.weight for need in value.values()):
            msg = "at least one benchmark needs a weight above 0"
            raise ValueError(msg)
        return value


class AgentWork(_Frozen):
    """What a turn gives an agent to do, for the prediction of the turn's time.

    Attributes:
        new_shared_tokens: Tokens of the shared context that are new in a turn (computed once per instance).
        own_tokens: Prompt tokens that only this agent reads.
        output_tokens: Tokens it writes, thinking left out.
        thinking_tokens: Tokens it thinks before, if the model does.
        after: Agents whose result it waits for.
        repeats: How often it runs in a turn.
    """

    new_shared_tokens: int = 600
    own_tokens: int = 700
    output_tokens: int = 300
    thinking_tokens: int = 0
    after: tuple[str, ...] = ()
    repeats: int = 1
