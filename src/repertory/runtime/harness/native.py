"""Our own harness: an agent's generations are requests to its engine."""

from repertory.engines.protocol import Engine
from repertory.errors import UsageError
from repertory.runtime.harness.interface import AgentRun
from repertory.runtime.harness.kinds import HarnessKind

__all__ = ("NativeHarness",)


class NativeHarness:
    """Nothing stands between the agent and the engine."""

    def attach(self, run: AgentRun, engine: Engine) -> Engine:
        """The engine itself.

        Raises:
            UsageError: The agent asks for another harness, and none was opened.
        """
        if run.agent.agent is not None:
            message = f"the role is played by the deployed agent {run.agent.agent}, and no registry was opened"
            raise UsageError(message, where=f"agent {run.name}", hint="give the runner `harness=MemberHarness(...)`")
        if run.agent.harness.kind is not HarnessKind.NATIVE:
            message = f"the agent is run by `{run.agent.harness.kind}`, and no place for programs was opened"
            raise UsageError(message, where=f"agent {run.name}", hint="give the runner `harness=`, or run it natively")
        return engine
