"""Calls of deployed agents from asynchronous code."""

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

from repertory.registry.http_routes import HttpReply, HttpRequest
from repertory.registry.registry import Loaded
from repertory.registry.result import CallResult
from repertory.registry.runtime import AgentRuntime

__all__ = ("AgentCalls",)

_Result = TypeVar("_Result")


class AgentCalls:
    """The same as `AgentRuntime`, on threads of its own: tools that take long keep nothing else from a thread.

    A caller that is cancelled does not wait; its tool ends by its own limits.

    Args:
        runtime: What is called.
        at_once: How many calls run at the same time; more wait.
    """

    def __init__(self, runtime: AgentRuntime, at_once: int = 8) -> None:
        self._runtime = runtime
        self._limiter = CapacityLimiter(at_once)

    async def answering(self, name: str, version: int | None = None) -> Loaded:
        """The version that answers for an agent; see `AgentRuntime.answering`."""
        return await to_thread.run_sync(self._runtime.answering, name, version, abandon_on_cancel=True)

    async def call(
        self,
        name: str,
        tool: str,
        arguments: Mapping[str, Any],
        version: int | None = None,
        *,
        watched: bool | None = None,
        user: str | None = None,
    ) -> CallResult:
        """Call a tool; see `AgentRuntime.call`."""
        return await self._run(partial(self._runtime.call, name, tool, arguments, version, watched=watched, user=user))

    async def http(
        self, name: str, request: HttpRequest, version: int | None = None, *, user: str | None = None
    ) -> HttpReply:
        """Answer an HTTP request; see `AgentRuntime.http`."""
        return await self._run(partial(self._runtime.http, name, request, version, user=user))

    async def flush(self) -> None:
        """Write what the watch has seen; see `AgentRuntime.flush`."""
        await to_thread.run_sync(self._runtime.flush)

    async def _run(self, call: "partial[_Result]") -> _Result:
        return await to_thread.run_sync(call, abandon_on_cancel=True, limiter=self._limiter)
