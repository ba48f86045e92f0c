"""Which session a conversation belongs to. Clients of OpenAI's and Anthropic's APIs name none: they send all of it."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from itertools import pairwise

__all__ = ("Conversations",)

_KEPT = 10_000


class Conversations:
    """Finds the session of a conversation by how it began: the first message and the first answer.

    What was found is kept in memory. After a restart a conversation goes on in one more session of its own, the same
    one each time; what the team knows of the person is on the blackboard and is not touched by that.
    """

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, str] = OrderedDict()

    def session_of(self, team: str, user: str, messages: Sequence[tuple[str, str]]) -> str | None:
        """The session to continue; None for a conversation that has no answer yet."""
        opening = _opening(messages)
        if opening is None:
            return None
        key = _key(team, user, *opening)
        return self._sessions.get(key) or f"c-{key[:16]}"

    def began(self, team: str, user: str, message: str, answer: str, session: str) -> None:
        """Keep the session of a conversation whose first answer was just given."""
        self._sessions[_key(team, user, message, answer)] = session
        while len(self._sessions) > _KEPT:
            self._sessions.popitem(last=False)


def _opening(messages: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    talk = [(role, text) for role, text in messages if role in {"user", "assistant"}]
    for (role, text), (next_role, answer) in pairwise(talk):
        if role == "user" and next_role == "assistant":
            return text, answer
    return None


def _key(*parts: str) -> str:
    # White space at the ends is what clients change when they keep a message.
    joined = b"".join(hashlib.sha256(part.strip().encode("utf-8", "replace")).digest() for part in parts)
    return hashlib.sha256(joined).hexdigest()
