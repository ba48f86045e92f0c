"""From the model name in a request to the instances that may serve it, the best first."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from repertory.serving.gateway.replica import Replica
from repertory.serving.gateway.upstream import Upstream
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.spelling import nearest

__all__ = ("Route", "RouteKind", "RouteTable")

RouteKind = Literal["team", "agent", "model", "deployed"]

_PREFIX_BYTES = 4096
"""The beginning of a prompt that decides which replica is asked: room for the preamble that a team's agents share."""
_SPREAD = 1.25
"""How far above the replicas' mean load the preferred one may be before the next is taken."""


@dataclass(frozen=True)
class Route:
    """Where requests for one name go.

    Attributes:
        name: The name in requests.
        kind: What it names. A team and a `deployed` agent have no replicas: the handler that the server gives answers.
        replicas: The instances that may serve it.
        priority: What is added to the request's own priority.
    """

    name: str
    kind: RouteKind
    replicas: tuple[Replica, ...] = ()
    priority: int = 0

    def ordered(self, prefix: bytes) -> Sequence[Replica]:
        """The replicas, in the order in which they should be asked.

        The same beginning of a prompt goes to the same replica, which has it in its cache (rendezvous hashing: when a
        replica comes or goes, only its own share moves). One that is much fuller than the others is passed over.
        """
        if len(self.replicas) == 1:
            return self.replicas
        mean = sum(replica.load for replica in self.replicas) / len(self.replicas)
        bound = _SPREAD * mean + 1 / self.replicas[0].queue.limit
        begin = prefix[:_PREFIX_BYTES]
        return sorted(
            self.replicas,
            key=lambda replica: (replica.failing, replica.load > bound, _weight(replica.upstream.id, begin)),
        )


def _weight(name: str, prefix: bytes) -> bytes:
    return hashlib.blake2b(prefix, digest_size=8, key=name.encode()[:64]).digest()


class RouteTable:
    """All names that the gateway serves.

    Args:
        upstreams: The instances. Those with one checkpoint, or one agent, are replicas of each other.
        teams: Names of teams that the server carries out.
        before: The table until now; what has not changed of it is taken over.
    """

    def __init__(
        self, upstreams: Sequence[Upstream], teams: Sequence[str] = (), *, before: "RouteTable | None" = None
    ) -> None:
        known = {replica.upstream: replica for replica in (before.replicas if before is not None else ())}
        self.replicas: tuple[Replica, ...] = tuple(known.get(upstream) or Replica(upstream) for upstream in upstreams)
        models: dict[str, list[Replica]] = {}
        agents: dict[str, list[Replica]] = {}
        priorities: dict[str, int] = {}
        for replica in self.replicas:
            for name in dict.fromkeys((*replica.upstream.names, replica.upstream.served_model)):
                models.setdefault(name, []).append(replica)
            for name, priority in replica.upstream.agents:
                agents.setdefault(name, []).append(replica)
                priorities[name] = priority
        routes: dict[str, Route] = {name: Route(name, "model", tuple(found)) for name, found in models.items()}
        routes |= {name: Route(name, "agent", tuple(found), priorities[name]) for name, found in agents.items()}
        routes |= {name: Route(name, "team") for name in teams}
        self.routes: Mapping[str, Route] = routes

    def find(self, name: str, visible: Iterable[str]) -> Route:
        """The route of a name. Only `visible` names are told when there is none.

        Raises:
            GatewayError: There is none.
        """
        route = self.routes.get(name)
        if route is None:
            close = nearest(name[:200], visible)
            message = f"there is no model {name[:200]!r}"
            hint = f"did you mean {close!r}?" if close else "GET /v1/models lists the names"
            raise GatewayError(message, status=404, code="model_not_found", param="model", hint=hint)
        return route

    def on_instance(self, instance: str, name: str) -> Route:
        """A route to one instance alone, for an agent that plays on it.

        Raises:
            GatewayError: The instance is not served any more.
        """
        for replica in self.replicas:
            if replica.upstream.id == instance:
                return Route(name, "agent", (replica,))
        message = f"the instance {instance!r} is not served any more"
        raise GatewayError(message, status=503, code="instance_gone", retry_after_s=5)

    async def aclose(self) -> None:
        """Close the connections to all instances."""
        for replica in self.replicas:
            await replica.pool.aclose()
