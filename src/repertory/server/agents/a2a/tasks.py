"""The tasks of A2A: in memory, seen by the caller that began them alone, the oldest forgotten first."""

from collections import OrderedDict

from a2a.server.context import ServerCallContext
from a2a.server.tasks.inmemory_task_store import InMemoryTaskStore
from a2a.server.tasks.task_store import TaskStore
from a2a.types.a2a_pb2 import ListTasksRequest, ListTasksResponse, Task

__all__ = ("RecentTasks",)


class RecentTasks(TaskStore):
    """Keeps the tasks that were touched last.

    Args:
        most: How many, of all callers together.
        most_bytes: How large all of them together.
    """

    def __init__(self, most: int = 500, most_bytes: int = 16 * 1024 * 1024) -> None:
        self._tasks = InMemoryTaskStore()
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._order: OrderedDict[tuple[str, str], tuple[ServerCallContext, int]] = OrderedDict()

    async def save(self, task: Task, context: ServerCallContext) -> None:
        """Keep a task, and forget the oldest where there are too many."""
        await self._tasks.save(task, context)
        key = (context.user.user_name, task.id)
        self._forget(key)
        size = task.ByteSize()
        self._order[key] = (context, size)
        self._bytes += size
        while len(self._order) > self._most or (self._bytes > self._most_bytes and len(self._order) > 1):
            oldest = next(iter(self._order))
            owner, _ = self._order[oldest]
            self._forget(oldest)
            await self._tasks.delete(oldest[1], owner)

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        """A task of this caller."""
        return await self._tasks.get(task_id, context)

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """The tasks of this caller."""
        return await self._tasks.list(params, context)

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        """Forget a task of this caller."""
        self._forget((context.user.user_name, task_id))
        await self._tasks.delete(task_id, context)

    def _forget(self, key: tuple[str, str]) -> None:
        _, size = self._order.pop(key, (None, 0))
        self._bytes -= size
