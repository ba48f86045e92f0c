"""An engine as one agent of a durable turn sees it: finished calls are kept, and never made again."""

from collections.abc import AsyncGenerator

from repertory.engines.protocol import (
    Engine,
    GenerateRequest,
    Generation,
    ReasoningDelta,
    StreamPart,
    TextDelta,
)
from repertory.engines.stand_in import EngineStandIn
from repertory.runtime.durable.journal import TurnJournal
from repertory.runtime.durable.points import reached
from repertory.runtime.durable.records import CallRecord

__all__ = ("JournaledEngine",)


class JournaledEngine(EngineStandIn):
    """Stands before an engine for one agent of one turn.

    The agent's calls are counted. A call whose number has a kept answer is given that answer; any other goes to the
    engine, after the calls before it are kept.
    """

    def __init__(self, engine: Engine, journal: TurnJournal, agent: str) -> None:
        super().__init__(engine)
        self._journal = journal
        self._agent = agent
        self._number = 0

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        """Stream one generation, from its step when it has one."""
        self._number += 1
        number = self._number
        kept = self._journal.call(self._agent, number)
        if kept is not None:
            for part in _again(kept):
                yield part
            return
        await self._journal.keep(self._agent)
        reached(f"{self._agent}:call:{number}:begins")
        text: list[str] = []
        reasoning: list[str] = []
        stream = self._engine.generate(request)
        try:
            async for part in stream:
                if isinstance(part, TextDelta):
                    text.append(part.text)
                elif isinstance(part, ReasoningDelta):
                    reasoning.append(part.text)
                elif isinstance(part, Generation):
                    self._journal.finished(self._agent, number, CallRecord.of(self._journal.team, part))
                yield part
        except GeneratorExit:
            # The reader has seen enough: its answer is whole, or can not become one. Asking again would be the same.
            if self._journal.call(self._agent, number) is None:
                closed = CallRecord(
                    team=self._journal.team, finish_reason=None, text="".join(text), reasoning="".join(reasoning)
                )
                self._journal.finished(self._agent, number, closed)
            raise
        finally:
            await stream.aclose()


def _again(kept: CallRecord) -> list[StreamPart]:
    parts: list[StreamPart] = []
    if kept.reasoning:
        parts.append(ReasoningDelta(kept.reasoning))
    if kept.text:
        parts.append(TextDelta(kept.text))
    if (end := kept.generation()) is not None:
        parts.append(end)
    return parts
