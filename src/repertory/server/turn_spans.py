"""OpenTelemetry spans of a turn and its agents, made from the turn's events."""

from opentelemetry import trace

from repertory.runtime.events import (
    AgentFinished,
    AgentFirstToken,
    AgentStarted,
    TurnEvent,
    TurnFinished,
    TurnStarted,
)
from repertory.serving import telemetry

__all__ = ("TurnSpans",)


class TurnSpans:
    """The spans of one turn; give `see` to the runner as a sink."""

    def __init__(self) -> None:
        self._tracer = telemetry.tracer()
        self._turn: trace.Span = trace.INVALID_SPAN
        self._agents: dict[str, trace.Span] = {}

    def see(self, event: TurnEvent) -> None:
        """Take the next event of the turn."""
        if isinstance(event, TurnStarted):
            self._turn = self._tracer.start_span(telemetry.SPAN_TURN)
            self._turn.set_attributes({telemetry.TURN: event.turn, telemetry.TEAM: event.team})
        elif isinstance(event, AgentStarted):
            self._start(event)
        elif isinstance(event, AgentFirstToken):
            span = self._agents.get(event.agent)
            if span is not None:
                span.set_attribute(telemetry.TTFT_S, event.elapsed_s)
        elif isinstance(event, AgentFinished):
            self._finish(event)
        elif isinstance(event, TurnFinished):
            self._turn.set_attribute(telemetry.STATUS, event.status)
            for span in self._agents.values():
                span.end()
            self._turn.end()

    def _start(self, event: AgentStarted) -> None:
        if event.agent in self._agents:
            self._agents[event.agent].set_attribute(telemetry.ATTEMPTS, event.attempt)
            return
        parent = trace.set_span_in_context(self._turn)
        span = self._tracer.start_span(f"{telemetry.SPAN_AGENT} {event.agent}", context=parent)
        span.set_attributes({telemetry.AGENT_NAME: event.agent, telemetry.INSTANCE: event.instance})
        self._agents[event.agent] = span

    def _finish(self, event: AgentFinished) -> None:
        span = self._agents.pop(event.agent, None)
        if span is None:
            return
        span.set_attributes(
            {
                telemetry.STATUS: event.status,
                telemetry.ATTEMPTS: event.attempts,
                telemetry.INPUT_TOKENS: event.prompt_tokens,
                telemetry.CACHED_TOKENS: event.cached_tokens,
                telemetry.OUTPUT_TOKENS: event.output_tokens,
            }
        )
        if event.status in {"failed", "late"}:
            span.set_status(trace.StatusCode.ERROR)
        span.end()
