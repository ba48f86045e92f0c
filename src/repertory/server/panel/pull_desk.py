"""Pulls of model files, asked for by an administrator: each on a thread, its progress as events."""

import asyncio
import time

from repertory.engines.model_store import ModelStore, PullProgress
from repertory.errors import RepertoryError
from repertory.server.panel.event_hub import EventHub
from repertory.server.panel.schema.events import PullProgressed
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("PullDesk",)

_EVERY_S = 0.5
_AT_ONCE = 4


class _GivenUpError(RepertoryError):
    """Ends a pull at its next report."""


class PullDesk:
    """Pulls model files.

    Args:
        models: The model store.
        hub: Is told how far they are.
    """

    def __init__(self, models: ModelStore, hub: EventHub) -> None:
        self.models = models
        self._hub = hub
        self._running: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    @property
    def running(self) -> frozenset[str]:
        """The models that are being pulled."""
        return frozenset(self._running)

    def start(self, model: str) -> None:
        """Start a pull; one of the same model that runs goes on.

        Raises:
            GatewayError: Too many run.
        """
        if model in self._running:
            return
        if len(self._running) >= _AT_ONCE:
            message = f"{_AT_ONCE} pulls run already"
            raise GatewayError(message, status=409, code="pulls_run", hint="wait until one has ended")
        task = asyncio.create_task(self._pull(model))
        self._running[model] = task
        task.add_done_callback(lambda _: self._running.pop(model, None))

    async def close(self) -> None:
        """End all pulls at their next report; what is here of a file stays, and the next pull goes on from there."""
        self._closed = True
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _pull(self, model: str) -> None:
        loop = asyncio.get_running_loop()
        told = [0.0]

        def report(progress: PullProgress) -> None:
            if self._closed:
                raise _GivenUpError("the server stops")
            now = time.monotonic()
            if progress.message is None and now - told[0] < _EVERY_S:
                return
            told[0] = now
            event = PullProgressed(
                model=model,
                state="pulling",
                done_bytes=progress.done_bytes,
                total_bytes=progress.total_bytes,
                message=progress.message or progress.source or None,
            )
            loop.call_soon_threadsafe(self._hub.tell, event)

        try:
            stored = await asyncio.to_thread(self.models.pull, model, progress=report)
        except (RepertoryError, OSError) as error:
            message = error.message if isinstance(error, RepertoryError) else "the file can not be written"
            self._tell(model, "failed", 0, 0, message)
        else:
            self._tell(model, "present", stored.bytes, stored.bytes, None)

    def _tell(self, model: str, state: str, done: int, total: int, message: str | None) -> None:
        self._hub.tell(
            PullProgressed.model_validate(
                {"model": model, "state": state, "done_bytes": done, "total_bytes": total, "message": message}
            )
        )
