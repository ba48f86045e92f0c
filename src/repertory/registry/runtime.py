"""Deployed agents at work: their tools run in warm workers of the sandbox, arguments and results are checked."""

import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

from repertory.engines.schema import Problem, validate
from repertory.errors import PackageError, RegistryError
from repertory.registry.http_routes import HttpReply, HttpRequest, find_route, read_reply, request_document
from repertory.registry.manifest import AgentLimits, AgentManifest
from repertory.registry.records import RecordsSlot
from repertory.registry.registry import Loaded, Registry
from repertory.registry.result import CallError, CallResult, result_of
from repertory.registry.shadow import ShadowCalls
from repertory.registry.watch import AgentWatch
from repertory.registry.workers import WorkerPool
from repertory.sandbox import FunctionCall, Limits, Sandbox, Worker
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
        watch: Sees how calls end; None when nobody watches.
        chance: Gives numbers from 0 to 1, by which calls go to a canary.
    """

    def __init__(
        self,
        registry: Registry,
        sandbox: Sandbox | None = None,
        *,
        max_idle: int = 8,
        watch: AgentWatch | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._registry = registry
        self._watch = watch
        self._chance = chance
        self._shadows = ShadowCalls()
        self._slots: WeakKeyDictionary[Worker, RecordsSlot] = WeakKeyDictionary()
        self._sandbox = sandbox or Sandbox()
        self._pool = WorkerPool(max_idle)
        self._loaded: dict[tuple[str, str], Loaded] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers, and write what the watch has seen."""
        self._shadows.close()
        self._pool.close()
        self.flush()

    def flush(self) -> None:
        """Write what the watch has seen."""
        if self._watch is not None:
            self._watch.flush()

    def manifest(self, name: str, version: int | None = None) -> AgentManifest:
        """What an agent says of itself: its live version, unless a number is given.

        Raises:
            UsageError: There is no such agent or version.
            RegistryError: None is live.
            PackageError: Its package is not what was signed.
        """
        return self.answering(name, version).package.manifest

    def answering(self, name: str, version: int | None = None) -> Loaded:
        """The version that answers for an agent, with its package.

        Without a number it is the live one or, by its share, the canary.

        Raises:
            UsageError: There is no such agent or version.
            RegistryError: None is live.
            PackageError: Its package is not what was signed.
        """
        return self._choose(name)[0] if version is None else self._load(self._registry.resolve(name, version))

    def call(
        self,
        name: str,
        tool: str,
        arguments: Mapping[str, Any],
        version: int | None = None,
        *,
        watched: bool | None = None,
        user: str | None = None,
    ) -> CallResult:
        """Call a tool.

        Args:
            name: The agent.
            tool: The tool.
            arguments: Its arguments by name.
            version: A version; None takes the one that answers.
            watched: Whether its end counts for or against the version; None counts the calls that name no version.
            user: Who it is for; an agent that keeps records per user sees theirs.

        Raises:
            UsageError: There is no such agent, version or tool.
            RegistryError: None is live.
            PackageError: Its package is not what was signed.
            SandboxError: This host can not isolate. What goes wrong in the tool is in the result.
        """
        loaded, shadow = self._choose(name) if version is None else (self.answering(name, version), None)
        began = time.monotonic()
        result = self._call(loaded, tool, arguments, user)
        if version is None if watched is None else watched:
            self._saw(loaded, f"tool {tool}", result, began)
        if shadow is not None and shadow.package.manifest.tool(tool) is not None:
            self._shadows.run(lambda: self._compare(shadow, tool, dict(arguments), result))
        return result

    def _call(self, loaded: Loaded, tool: str, arguments: Mapping[str, Any], user: str | None = None) -> CallResult:
        declared = loaded.package.manifest.require_tool(tool)
        label = loaded.version.label
        wrong = validate(dict(arguments), declared.input_schema, at_most=4)
        if wrong:
            return CallResult(None, CallError("InvalidArguments", _words(wrong, "the arguments")), label)

        def judge(result: CallResult) -> CallResult:
            wrong = validate(result.result, declared.output_schema, at_most=4) if result.error is None else []
            if not wrong:
                return result
            return CallResult(None, CallError("InvalidResult", _words(wrong, "the result")), label, result.outcome)

        return self._run(loaded, tool, dict(arguments), user, judge)

    def http(
        self, name: str, request: HttpRequest, version: int | None = None, *, user: str | None = None
    ) -> HttpReply:
        """Let an agent answer an HTTP request on one of its routes. What goes wrong is an HTTP status.

        Raises:
            UsageError: There is no such agent or version.
            RegistryError: None is live.
            PackageError: Its package is not what was signed.
            SandboxError: This host can not isolate.
        """
        loaded = self.answering(name, version)
        route = find_route(loaded.package.manifest.permissions.http, request)
        if isinstance(route, HttpReply):
            return route
        document = request_document(request, route.parameters)
        began = time.monotonic()
        result = self._run(loaded, route.function, {"request": document}, user)
        if version is None:
            self._saw(loaded, f"{request.method.upper()} by {route.function}", result, began)
        return read_reply(result)

    def _choose(self, name: str) -> tuple[Loaded, Loaded | None]:
        """The version that answers, and the canary that answers beside it, unheard."""
        live, canary = self._registry.answering(name)
        if canary is None or canary.share is None:
            return self._load(live), None
        try:
            tried = self._load(canary)
        except PackageError:
            return self._load(live), None  # a canary that was changed is not tried on anybody
        if canary.share > 0:
            return (tried, None) if self._chance() * 100 < canary.share else (self._load(live), None)
        loaded = self._load(live)
        keeps = (one.package.manifest.permissions for one in (loaded, tried))
        # What is kept would be kept twice.
        return loaded, None if any(one.state or one.records is not None for one in keeps) else tried

    def _saw(self, loaded: Loaded, what: str, result: CallResult, began: float, *, agrees: bool | None = None) -> None:
        if self._watch is not None:
            self._watch.saw(loaded.version, what, result, time.monotonic() - began, agrees=agrees)

    def _compare(self, shadow: Loaded, tool: str, arguments: dict[str, Any], result: CallResult) -> None:
        began = time.monotonic()
        found = self._call(shadow, tool, arguments)
        same = found.document() == result.document()
        self._saw(shadow, f"tool {tool}", found, began, agrees=same)

    def _run(
        self,
        loaded: Loaded,
        function: str,
        arguments: dict[str, Any],
        user: str | None,
        judge: Callable[[CallResult], CallResult] = lambda result: result,
    ) -> CallResult:
        """Call a function; what it kept stays when the judged result has no error."""
        label, grant = loaded.version.label, loaded.package.manifest.permissions.records
        if grant is not None and grant.per_user and not user:
            return CallResult(None, CallError("UserMissing", "the agent keeps records per user; name one"), label)
        with self._pool.lease(f"{label} {loaded.version.digest}", lambda: self._worker(loaded)) as worker:
            call = FunctionCall(_MODULE, function, arguments)
            if grant is None:
                return judge(result_of(worker.call(call), label))
            records = self._registry.records(loaded).begin(user if grant.per_user else None)
            slot, kept, keep = self._slots[worker], True, False
            slot.call = records
            try:
                result = judge(result_of(worker.call(call), label))
                keep = result.error is None
            finally:
                slot.call = None
                kept = records.end(keep=keep)
        if kept:
            return result
        return CallResult(
            None, CallError("RecordsLost", "what the agent wrote could not be kept"), label, result.outcome
        )

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
        slot = RecordsSlot()
        host = slot.functions() if manifest.permissions.records is not None else None
        worker = self._sandbox.worker(loaded.package.code, limits=_limits(manifest.limits), state=state, host=host)
        self._slots[worker] = slot
        return worker

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


def _words(problems: list[Problem], what: str) -> str:
    # The rules speak of answers, which is what they judge elsewhere.
    told = (problem.message.replace("the answer", what, 1) for problem in problems)
    return "; ".join(told)[:2_000]
