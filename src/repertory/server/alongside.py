"""What the server does beside answering: it runs on its event loop for as long as it serves."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager

__all__ = ("alongside",)


@asynccontextmanager
async def alongside(
    instances: AbstractAsyncContextManager[None], *work: Callable[[], Coroutine[None, None, None]]
) -> AsyncGenerator[None]:
    """Run `work` inside the block, while the engines of `instances` are there."""
    async with instances:
        running = [asyncio.create_task(one()) for one in work]
        try:
            yield
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
