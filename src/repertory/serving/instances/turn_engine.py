"""An engine whose instance takes turns with others: each generation first waits until its instance is awake."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from repertory.engines.estimate import estimate_prompt_tokens
from repertory.engines.profile import EngineProfile, FanOut
from repertory.engines.protocol import ChatMessage, Engine, GenerateRequest, StreamPart
from repertory.errors import EngineUnavailableError
from repertory.serving.gateway.upstream import Address, Upstream
from repertory.serving.instances.awake_engine import connect_awake
from repertory.serving.instances.directory import InstanceDirectory, RunningInstance

__all__ = ("TurnTakingEngine", "connect_instance")


class TurnTakingEngine:
    """A `repertory.engines.protocol.Engine` over an instance that may sleep.

    It counts tokens by our upper bound: waking an engine to count would evict another for nothing.
    """

    def __init__(self, directory: InstanceDirectory, instance: str, known: Engine) -> None:
        self._directory = directory
        self._instance = instance
        self._model = known.model
        self._context_tokens = known.context_tokens
        # What one generation leaves in the cache may be gone at the next, so nothing is copied ahead.
        changes: dict[str, object] = {"fan_out": FanOut.PRIME, "slots": False, "counts_tokens": False}
        self._profile = known.profile.model_copy(update=changes)

    @property
    def profile(self) -> EngineProfile:
        """What this engine and version can do."""
        return self._profile

    @property
    def model(self) -> str:
        """The name under which the engine serves its checkpoint."""
        return self._model

    @property
    def context_tokens(self) -> int:
        """The longest prompt plus answer that one request may have."""
        return self._context_tokens

    def upstream(self) -> Upstream:
        """The instance as a gateway sees it, which wakes it for a request as this engine does for a generation."""
        return Upstream(
            id=self._instance,
            address=Address("http://127.0.0.1:1"),
            kind=self._profile.kind,
            served_model=self._model,
            concurrency=1,
            context_tokens=self._context_tokens,
            hold=self._hold,
        )

    @asynccontextmanager
    async def _hold(self) -> AsyncGenerator[Address]:
        async with self._directory.use(self._instance) as held:
            if held.url is None:
                message = f"the instance {self._instance} has no address"
                raise EngineUnavailableError(message)
            yield Address(held.url, held.api_key)

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        """Stream one generation, when it is the instance's turn."""
        async with self._directory.use(self._instance) as held:
            engine = await connect_awake(held)
            try:
                async for part in engine.generate(request):
                    yield part
            finally:
                await engine.aclose()

    async def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """An upper bound of the rendered prompt's tokens."""
        return estimate_prompt_tokens(messages)

    async def aclose(self) -> None:
        """Nothing is open between generations."""


async def connect_instance(
    directory: InstanceDirectory, instance: RunningInstance, slot_cache_gib: float | None = None
) -> Engine:
    """The adapter for a running instance, whether or not it takes turns.

    Args:
        directory: Wakes those that take turns.
        instance: The instance.
        slot_cache_gib: Disk space for kept prefixes; 0 keeps none, None takes what the instances were started with.

    Raises:
        EngineUnavailableError: It does not serve.
    """
    if not instance.takes_turns:
        return await connect_awake(instance, slot_cache_gib)
    async with directory.use(instance.id) as held:
        known = await connect_awake(held)
        await known.aclose()
    return TurnTakingEngine(directory, instance.id, known)
