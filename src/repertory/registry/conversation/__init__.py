"""Conversations with deployed agents."""

from repertory.registry.conversation.conversation import Conversations, EngineSource
from repertory.registry.conversation.parts import Message, ReplyDone, ReplyPart, ReplyText, ToolUse
from repertory.registry.conversation.written_call import WrittenCall, read_written_call

__all__ = (
    "Conversations",
    "EngineSource",
    "Message",
    "ReplyDone",
    "ReplyPart",
    "ReplyText",
    "ToolUse",
    "WrittenCall",
    "read_written_call",
)
