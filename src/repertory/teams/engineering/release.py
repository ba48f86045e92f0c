"""Release is code: gate, canary on replayed calls, live. Nothing here asks a model."""

import asyncio

from repertory.errors import RegistryError
from repertory.registry.package import TOOLS, AgentPackage
from repertory.registry.registry import Registry
from repertory.registry.result import CallResult
from repertory.registry.runtime import AgentRuntime
from repertory.sandbox import Sandbox
from repertory.storage.agents import AgentVersion
from repertory.teams.engineering.build import Built
from repertory.teams.engineering.calls import Call, Outcome, canonical
from repertory.teams.engineering.execution import Examiner
from repertory.teams.engineering.selection import Candidate

__all__ = ("Releaser",)

_REPLAYED = 12
"""Calls that a canary must answer as the candidate did."""


class Releaser:
    """Takes a package from the build to the live version of an agent.

    Args:
        registry: Where agents are deployed.
        sandbox: Where their code runs.
    """

    def __init__(self, registry: Registry, sandbox: Sandbox) -> None:
        self._registry = registry
        self._sandbox = sandbox

    async def release(self, package: AgentPackage, built: Built) -> str:
        """Put a package through gate and canary and make it live; returns `name@version`.

        Raises:
            RegistryError: A test that held fails now, or the canary answers differently; the version is retired.
            PackageError: The package is not valid.
            SandboxError: Code can not be isolated on this machine.
        """
        deployed = await asyncio.to_thread(self._registry.deploy, package.files, dict(package.evidence["built_by"]))
        version = deployed.version
        try:
            await self._gate(version, package, built)
            await asyncio.to_thread(self._registry.promote, version.agent, version.version, "canary")
            replayed = await asyncio.to_thread(self._replay, version, built)
        except RegistryError as error:
            await asyncio.to_thread(
                self._registry.retire, version.agent, version.version, {"because": error.message[:500]}
            )
            raise
        detail = {"replayed_calls": replayed, "tests": len(built.selection.kept)}
        await asyncio.to_thread(self._registry.promote, version.agent, version.version, "live", detail)
        return version.label

    async def _gate(self, version: AgentVersion, package: AgentPackage, built: Built) -> None:
        """Run every test that the candidate passed once more, against the file that is in the package."""
        passed = built.best.passed if built.best else ()
        candidate = Candidate(0, package.files[TOOLS].decode())
        names = built.contract.tool_names
        [found] = await Examiner(self._sandbox).examine([candidate], [], passed, names)
        if found.load_error is not None:
            message = f"the packed code does not load: {found.load_error}"
            raise RegistryError(message, where=version.label)
        failed = [case for case in passed if not found.results[case].passed]
        if failed:
            message = f"`{failed[0].text}` held before and fails now: {found.results[failed[0]].found}"
            raise RegistryError(message, where=version.label)

    def _replay(self, version: AgentVersion, built: Built) -> int:
        """Make calls through the runtime for deployed agents and compare; blocks. Returns how many were made."""
        outcomes = built.best.candidate.outcomes if built.best else {}
        calls = [call for call, outcome in outcomes.items() if outcome.kind in ("value", "value_error")][:_REPLAYED]
        with AgentRuntime(self._registry, self._sandbox) as runtime:
            for call in calls:
                result = runtime.call(version.agent, call.tool, call.values, version.version)
                if not _agrees(result, outcomes[call]):
                    raise RegistryError(_difference(call, outcomes[call], result), where=version.label)
        return len(calls)


def _agrees(result: CallResult, outcome: Outcome) -> bool:
    if result.error is not None:
        return outcome.kind == "value_error" or result.error.type == "InvalidArguments"
    return outcome.kind == "value" and canonical(result.result) == canonical(outcome.value)


def _difference(call: Call, outcome: Outcome, result: CallResult) -> str:
    shown = f"{result.error.type}: {result.error.message}" if result.error else repr(result.result)
    return f"the canary answers {call} with {shown[:200]}, the tested code with {str(outcome)[:200]}"
