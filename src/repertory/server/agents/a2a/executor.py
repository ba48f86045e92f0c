"""Carries out A2A tasks: a message goes to the agent, its words come back as an artifact that grows."""

import json
from collections.abc import Callable
from contextlib import aclosing

from a2a.helpers.proto_helpers import (
    get_data_parts,
    get_text_parts,
    new_data_part,
    new_task_from_user_message,
    new_text_part,
)
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import ListTasksRequest, Message, Part, Role, Task

from repertory.errors import RepertoryError
from repertory.registry.conversation import Message as Said
from repertory.registry.conversation import ReplyDone, ReplyText, ToolUse
from repertory.server.agents.a2a.tasks import RecentTasks
from repertory.server.agents.served_agents import ServedAgents
from repertory.serving.gateway.wire_errors import as_gateway_error

__all__ = ("REPLY", "AgentOf", "Executor", "SpendTokens", "UserOf")

REPLY = "reply"
"""The artifact with the agent's words."""
_PIECE_CHARS = 60
"""Words are sent on when so many have come: every event is kept, and a token at a time would be many."""
_HISTORY_TASKS = 20

AgentOf = Callable[[RequestContext], str]
"""Says which agent a message is for; raises a `RepertoryError` when it can not."""
UserOf = Callable[[ServerCallContext], str]
"""Says who a message comes from."""
SpendTokens = Callable[[ServerCallContext, int], None]
"""Takes tokens off the limit of whoever sent the message."""


class Executor(AgentExecutor):
    """Hands messages to deployed agents.

    Args:
        agents: The agents.
        tasks: The tasks so far; those of the same context are the conversation.
        agent_of: Which agent a message is for.
        user_of: Who a message comes from.
        spend: Hears how many tokens a reply took.
    """

    def __init__(
        self, agents: ServedAgents, tasks: RecentTasks, agent_of: AgentOf, user_of: UserOf, spend: SpendTokens
    ) -> None:
        self._agents = agents
        self._tasks = tasks
        self._agent_of = agent_of
        self._user_of = user_of
        self._spend = spend

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Carry out one message. What goes wrong is the task's end, in words."""
        message = context.message
        if message is None:
            return
        task = context.current_task or new_task_from_user_message(message)
        if context.current_task is None:
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        try:
            await self._reply(context, message, updater)
        except RepertoryError as error:
            told = as_gateway_error(error)
            text = f"{told.message}; {told.hint}" if told.hint else told.message
            await updater.failed(updater.new_agent_message([new_text_part(text)]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Mark a task as cancelled; the framework has ended `execute`, which ends the generation."""
        if context.task_id and context.context_id:
            await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()

    async def _reply(self, context: RequestContext, message: Message, updater: TaskUpdater) -> None:
        name = self._agent_of(context)
        said = [*await self._earlier(context, updater.task_id), Said("user", _text_of(message))]
        words = _Words(updater)
        done: ReplyDone | None = None
        async with aclosing(self._agents.reply(name, said, self._user_of(context.call_context))) as parts:
            async for part in parts:
                if isinstance(part, ReplyText):
                    await words.add(part.text)
                elif isinstance(part, ToolUse):
                    await updater.add_artifact([new_data_part(part.document(), "application/json")], name=part.tool)
                else:
                    done = part
        await words.end()
        if done is None:
            return
        self._spend(context.call_context, done.prompt_tokens - done.cached_tokens + done.output_tokens)
        reason = updater.new_agent_message([new_text_part(done.reason)]) if done.reason else None
        if done.status == "failed":
            await updater.failed(reason)
        else:
            await updater.complete(reason)

    async def _earlier(self, context: RequestContext, task_id: str) -> list[Said]:
        """What was said in the same context before, from the tasks that are still known."""
        asked = ListTasksRequest(context_id=context.context_id or "", page_size=_HISTORY_TASKS)
        found = await self._tasks.list(asked, context.call_context)
        return [said for task in reversed(found.tasks) if task.id != task_id for said in _said_in(task)]


class _Words:
    """Words of a reply on their way into its artifact."""

    def __init__(self, updater: TaskUpdater) -> None:
        self._updater = updater
        self._waiting = ""
        self._sent = False

    async def add(self, text: str) -> None:
        self._waiting += text
        if len(self._waiting) >= _PIECE_CHARS:
            await self._send(last=False)

    async def end(self) -> None:
        if self._waiting or self._sent:
            await self._send(last=True)

    async def _send(self, *, last: bool) -> None:
        await self._updater.add_artifact(
            [new_text_part(self._waiting)], artifact_id=REPLY, name=REPLY, append=self._sent, last_chunk=last
        )
        self._waiting, self._sent = "", True


def _said_in(task: Task) -> list[Said]:
    """The person's messages and the agent's words of one task."""
    said = [Said("user", _text_of(message)) for message in task.history if message.role == Role.ROLE_USER]
    replies = [artifact for artifact in task.artifacts if artifact.artifact_id == REPLY]
    text = "".join("".join(get_text_parts(artifact.parts)) for artifact in replies)
    return [*said, Said("assistant", text)] if text else said


def _text_of(message: Message) -> str:
    """What a message says; data is a tool call as JSON, or what the agent is to read."""
    parts: list[Part] = list(message.parts)
    data = [json.dumps(value, ensure_ascii=False) for value in get_data_parts(parts)]
    return "\n\n".join([*get_text_parts(parts), *data])
