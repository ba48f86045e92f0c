"""What Prometheus reads of the gateway: tokens, queue, time to first token, between tokens, cache hits.

Labels are the names that the operator gave (instances, agents, models): never a user, a key or anything a client
invents, so that the number of series is bounded.
"""

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

__all__ = ("CallMeters", "GatewayMetrics")

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320)
_BETWEEN_TOKENS = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5, 5)


@dataclass(frozen=True)
class CallMeters:
    """The meters of one name on one instance, looked up once."""

    prompt_tokens: Counter
    cached_tokens: Counter
    output_tokens: Counter
    queued: Histogram
    first_token: Histogram
    between_tokens: Histogram
    duration: Histogram


class GatewayMetrics:
    """All meters of one gateway, in a registry of their own."""

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("instance", "name")

        def counter(name: str, about: str, labelnames: tuple[str, ...] = labels) -> Counter:
            return Counter(f"repertory_{name}", about, labelnames, registry=self.registry)

        def histogram(name: str, about: str, buckets: tuple[float, ...] = _SECONDS) -> Histogram:
            return Histogram(f"repertory_{name}", about, labels, buckets=buckets, registry=self.registry)

        self.requests = counter("requests", "Requests by their end.", ("name", "endpoint", "status"))
        self.retries = counter("retries", "Requests sent again, before anything had reached the client.", ("instance",))
        self.disconnects = counter("client_disconnects", "Clients that left before the end.", ("name",))
        self._prompt = counter("prompt_tokens", "Tokens of prompts, as the engine counted them.")
        self._cached = counter("cached_prompt_tokens", "Prompt tokens that the engine found in its cache.")
        self._output = counter("output_tokens", "Tokens generated, thinking included.")
        self._queued = histogram("queue_seconds", "Waiting for a place at the instance.")
        self._first = histogram("time_to_first_token_seconds", "From the request to the first event for the client.")
        self._between = histogram("inter_token_seconds", "Between two events of a stream.", _BETWEEN_TOKENS)
        self._duration = histogram("request_seconds", "From the request to its end.")
        self._running = Gauge(
            "repertory_requests_running", "Requests at the instance now.", ("instance",), registry=self.registry
        )
        self._waiting = Gauge(
            "repertory_requests_waiting", "Requests waiting for the instance.", ("instance",), registry=self.registry
        )
        self._up = Gauge(
            "repertory_instance_up", "0 when the instance did not answer lately.", ("instance",), registry=self.registry
        )
        self._calls: dict[tuple[str, str], CallMeters] = {}

    def call(self, instance: str, name: str) -> CallMeters:
        """The meters of requests for a name that an instance serves."""
        meters = self._calls.get((instance, name))
        if meters is None:
            meters = self._calls[(instance, name)] = CallMeters(
                prompt_tokens=self._prompt.labels(instance, name),
                cached_tokens=self._cached.labels(instance, name),
                output_tokens=self._output.labels(instance, name),
                queued=self._queued.labels(instance, name),
                first_token=self._first.labels(instance, name),
                between_tokens=self._between.labels(instance, name),
                duration=self._duration.labels(instance, name),
            )
        return meters

    def watch(
        self, instance: str, running: Callable[[], float], waiting: Callable[[], float], up: Callable[[], float]
    ) -> None:
        """Read these whenever the metrics are read."""
        self._running.labels(instance).set_function(running)
        self._waiting.labels(instance).set_function(waiting)
        self._up.labels(instance).set_function(up)

    def forget(self, instance: str) -> None:
        """Stop reading an instance that is gone; what was counted for it stays."""
        for gauge in (self._running, self._waiting, self._up):
            gauge.remove(instance)

    def render(self) -> bytes:
        """The page that Prometheus reads."""
        return generate_latest(self.registry)
