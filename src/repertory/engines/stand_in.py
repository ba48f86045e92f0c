"""What stands before an engine and changes only how an answer comes about."""

from collections.abc import Sequence

from repertory.engines.profile import EngineProfile
from repertory.engines.protocol import ChatMessage, Engine

__all__ = ("EngineStandIn",)


class EngineStandIn:
    """Says of itself what the engine behind it says; with `generate` it is a `repertory.engines.protocol.Engine`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def profile(self) -> EngineProfile:
        """What the engine can do."""
        return self._engine.profile

    @property
    def model(self) -> str:
        """The engine's name for its checkpoint."""
        return self._engine.model

    @property
    def context_tokens(self) -> int:
        """The engine's context."""
        return self._engine.context_tokens

    async def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of a prompt, counted by the engine."""
        return await self._engine.count_tokens(messages)

    async def aclose(self) -> None:
        """The engine is shared, so nothing is closed here."""
