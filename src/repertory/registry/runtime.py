"""Deployed agents at work: their tools run in warm workers of the sandbox, arguments and results are checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from repertory.engines.schema import Problem, validate
from repertory.errors import RegistryError, UsageError
from repertory.registry.http_routes import HttpReply, HttpRequest, find_route, read_reply, request_document
from repertory.registry.manifest import AgentLimits, AgentManifest
from repertory.registry.registry import Loaded, Registry
from repertory.registry.result import CallError, CallResult, result_of
from repertory.registry.workers import WorkerPool
from repertory.sandbox import FunctionCall, Limits, Sandbox, Worker
from repertory.spelling import nearest
from repertory.storage.agent_records import AgentVersion

__all__ = ("AgentRuntime",)

_MODULE = "tools"
_MIB = 1024 * 1024
_KEPT = 64


class AgentRuntime:
    """Calls tools and routes of deployed agents. Methods block; any number of threads may use them at once.

    Args:
        registry: Where the agents are.
        sandbox: Where their code runs.
        max_idle: How many idle workers are kept warm.
    """

    def __init__(self, registry: Registry, sandbox: Sandbox | None = None, *, max_idle: int = 8) -> None:
        self._registry = registry
        self._sandbox = sandbox or Sandbox()
        self._pool = WorkerPool(max_idle)
        self._loaded: dict[tuple[str, str], Loaded] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers."""
        self._pool.close()

    def manifest(self, name: str, version: int | None = None) -> AgentManifest:
        """What an agent says of itself: its live version, unless a number is given.

        Raises:
            UsageError: There is no such agent or version.
            RegistryError: None is live.
            PackageError: Its package is not what was signed.
        """
        return self._load(self._registry.resolve(name, version)).package.manifest

    def call(self, name: str, tool: str, arguments: Mapping[str, Any], version: int | None = None) -> CallResult:
        """Call a tool.

        Args:
            name: The agent.
            tool: The tool.
            arguments: Its arguments by name.
            version: A version; None takes the live one.

        Raises:
            UsageError: There is no such agent, version or tool.
            RegistryError: None is live.
            PackageError: Its package is not what was signed.
            SandboxError: This host can not isolate. What goes wrong in the tool is in the result.
        """
        loaded = self._load(self._registry.resolve(name, version))
        declared = loaded.package.manifest.tool(tool)
        if declared is None:
            raise _no_tool(loaded.package.manifest, tool)
        label = loaded.version.label
        wrong = validate(dict(arguments), declared.input_schema, at_most=4)
        if wrong:
            return CallResult(None, CallError("InvalidArguments", _words(wrong, "the arguments")), label)
        result = self._run(loaded, tool, dict(arguments))
        if result.error is None:
            wrong = validate(result.result, declared.output_schema, at_most=4)
            if wrong:
                return CallResult(None, CallError("InvalidResult", _words(wrong, "the result")), label, result.outcome)
        return result

    def http(self, name: str, request: HttpRequest, version: int | None = None) -> HttpReply:
        """Let an agent answer an HTTP request on one of its routes. What goes wrong is an HTTP status.

        Raises:
            UsageError: There is no such agent or version.
            RegistryError: None is live.
            PackageError: Its package is not what was signed.
            SandboxError: This host can not isolate.
        """
        loaded = self._load(self._registry.resolve(name, version))
        route = find_route(loaded.package.manifest.permissions.http, request)
        if isinstance(route, HttpReply):
            return route
        document = request_document(request, route.parameters)
        return read_reply(self._run(loaded, route.function, {"request": document}))

    def _run(self, loaded: Loaded, function: str, arguments: dict[str, Any]) -> CallResult:
        label = loaded.version.label
        with self._pool.lease(f"{label} {loaded.version.digest}", lambda: self._worker(loaded)) as worker:
            outcome = worker.call(FunctionCall(_MODULE, function, arguments))
        return result_of(outcome, label)

    def _load(self, version: AgentVersion) -> Loaded:
        """The checked package; checked once per process and content."""
        key = (version.label, version.digest)
        loaded = self._loaded.get(key)
        if loaded is None:
            loaded = self._registry.load(version)
            while len(self._loaded) >= _KEPT:
                self._loaded.pop(next(iter(self._loaded)), None)
            self._loaded[key] = loaded
        return Loaded(version, loaded.package)

    def _worker(self, loaded: Loaded) -> Worker:
        manifest = loaded.package.manifest
        state = self._state(manifest.name) if manifest.permissions.state else None
        return self._sandbox.worker(loaded.package.code, limits=_limits(manifest.limits), state=state)

    def _state(self, name: str) -> Path:
        folder = self._registry.state_folder(name)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            message = f"the agent's state has no place: {error.strerror or error}"
            raise RegistryError(message, where=str(folder)) from None
        return folder


def _limits(limits: AgentLimits) -> Limits:
    return Limits(
        wall_s=limits.wall_s,
        cpu_s=limits.cpu_s,
        memory_bytes=limits.memory_mib * _MIB,
        result_bytes=limits.result_bytes,
        state_bytes=limits.state_mib * _MIB,
        file_bytes=max(16, limits.state_mib) * _MIB,
    )


def _no_tool(manifest: AgentManifest, tool: str) -> UsageError:
    names = [one.name for one in manifest.tools]
    near = nearest(tool, names)
    message = f"{manifest.name} has no tool {tool[:80]!r}"
    return UsageError(message, hint=f"did you mean {near}?" if near else f"its tools are {', '.join(names) or 'none'}")


def _words(problems: list[Problem], what: str) -> str:
    # The rules speak of answers, which is what they judge elsewhere.
    told = (problem.message.replace("the answer", what, 1) for problem in problems)
    return "; ".join(told)[:2_000]
