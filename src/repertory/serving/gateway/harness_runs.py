"""The runs of agents by other harnesses: each has a token, and the gateway knows what its requests are for.

A harness is a program that calls a model as it likes. It is given an address and one token, which ends with the call.
What the token stands for decides everything that counts: the instance, the person, the priority, the schema and the
reserve of tokens. What the program writes into its requests can not change them.
"""

import asyncio
import hashlib
import re
import secrets
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from repertory.serving.gateway.sse_relay import UsageCount
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("HarnessRun", "HarnessRuns", "RunTerms")

_END_S = 10.0
_MOST_AT_ONCE = 16
"""Requests of one run, also those whose body is still on its way: each may hold a body in memory."""
_FINISH = re.compile(rb'"finish_reason"\s*:\s*"([a-z_]{1,20})"')


@dataclass(frozen=True)
class RunTerms:
    """What one call of an agent by a harness may do.

    Attributes:
        team: The team.
        agent: The agent.
        turn: The turn.
        user: The person, for fair shares.
        instance: The instance that answers.
        priority: Lower goes first.
        messages: The prompt as our own harness would send it, role and text: the shared part first.
        asked: The words that the program was given as its task; they are looked for in what it sends.
        system: The words that it was given as its system prompt.
        members: Members that every request to the engine carries: reserve, temperature, schema, slot.
        tools: Whether the program may work with tools. Without, the engine gets the prompt above and nothing else.
        max_requests: Generations that may be asked for.
    """

    team: str
    agent: str
    turn: str
    user: str
    instance: str
    priority: int
    messages: Sequence[tuple[str, str]]
    asked: str
    system: str
    members: Mapping[str, object]
    tools: bool = False
    max_requests: int = 24


@dataclass
class HarnessRun:
    """One run, from the call's beginning to its end.

    Attributes:
        terms: What it may do.
        requests: Generations that were begun.
        prompt: Prompt tokens of all of them, as the engine counted.
        cached: How many of those the engine found in its cache.
        output: Tokens generated.
        finish: Why the latest generation ended, as the engine said it.
        added: What the program wrote into its latest request beside its task: dates, its own instructions, tools.
        shared: Whether the latest request began with the turn's shared part.
    """

    terms: RunTerms
    requests: int = 0
    prompt: int = 0
    cached: int = 0
    output: int = 0
    counted: bool = False
    finish: str | None = None
    added: str = ""
    shared: bool = True
    closed: bool = False
    _stops: list[Callable[[GatewayError], None]] = field(default_factory=list[Callable[[GatewayError], None]])
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self) -> None:
        """One more generation.

        Raises:
            GatewayError: The run is over, or has asked for all it may.
        """
        if self.closed:
            raise _over()
        if self.requests >= self.terms.max_requests:
            message = f"the agent's call may ask for {self.terms.max_requests} generations, and has"
            raise GatewayError(message, code="requests_used_up")
        self.requests += 1
        self.finish = None

    @contextmanager
    def serving(self, stop: Callable[[GatewayError], None]) -> Generator[None]:
        """While a request is answered; `stop` breaks it off.

        Raises:
            GatewayError: The run is over, or too many of its requests are being answered.
        """
        if self.closed:
            raise _over()
        if len(self._stops) >= _MOST_AT_ONCE:
            message = f"an agent's call may have {_MOST_AT_ONCE} requests at once"
            raise GatewayError(message, status=429, code="too_many_requests")
        self._stops.append(stop)
        try:
            yield
        finally:
            self._stops.remove(stop)
            if not self._stops:
                self._idle.set()

    def spend(self, usage: UsageCount) -> None:
        """Count what a generation took, also one that was broken off."""
        self.counted = self.counted or usage.prompt is not None
        self.prompt += usage.prompt or 0
        self.cached += usage.cached or 0
        self.output += usage.output or 0

    def see(self, data: bytes) -> None:
        """Take note of why a generation ended. A model can not forge it: inside its text the quotes are escaped."""
        if b'"finish_reason"' in data and (found := _FINISH.findall(data)):
            self.finish = found[-1].decode("ascii")

    async def end(self) -> None:
        """Nothing may be asked for any more; what the engine still computes is broken off, and its slot is free."""
        self.closed = True
        if not self._stops:
            return
        self._idle.clear()
        for stop in tuple(self._stops):
            stop(_over())
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await self._idle.wait()


class HarnessRuns:
    """All runs under way. A token is 256 random bits; only its digest is kept."""

    def __init__(self) -> None:
        self._runs: dict[str, HarnessRun] = {}

    def open(self, terms: RunTerms) -> tuple[str, HarnessRun]:
        """Begin a run; gives its token."""
        token = f"run_{secrets.token_urlsafe(32)}"
        run = HarnessRun(terms)
        self._runs[_digest(token)] = run
        return token, run

    async def close(self, token: str) -> None:
        """End a run."""
        run = self._runs.pop(_digest(token), None)
        if run is not None:
            await run.end()

    def of(self, headers: Iterable[tuple[bytes, bytes]]) -> HarnessRun:
        """The run whose token a request carries.

        Raises:
            GatewayError: It carries none, or one of a run that is over.
        """
        run = None
        for name, value in headers:
            if name == b"authorization" and value[:7].lower() == b"bearer ":
                run = self._runs.get(_digest(value[7:].strip().decode("latin-1")))
            elif name == b"x-api-key":
                run = self._runs.get(_digest(value.strip().decode("latin-1")))
            if run is not None:
                return run
        raise GatewayError("this address takes the token of an agent's call", status=401, code="invalid_api_key")


def _over() -> GatewayError:
    return GatewayError("the agent's call is over", status=401, code="invalid_api_key")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
