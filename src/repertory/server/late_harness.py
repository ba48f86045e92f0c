"""A harness for runners that are made before the gateway is."""

from repertory.engines.protocol import Engine
from repertory.runtime.harness.interface import AgentRun, Harness
from repertory.runtime.harness.native import NativeHarness

__all__ = ("LateHarness",)


class LateHarness:
    """Runs agents as `inner` does; see `repertory.runtime.harness.interface.Harness`.

    Attributes:
        inner: Set once there is a place for programs; until then native agents alone are run.
    """

    def __init__(self) -> None:
        self.inner: Harness = NativeHarness()

    def attach(self, run: AgentRun, engine: Engine) -> Engine:
        """What carries out the agent's generations."""
        return self.inner.attach(run, engine)
