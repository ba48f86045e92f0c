"""The beginning of a turn: what is read from storage, the session, and the person's message as a row."""

from collections.abc import Sequence
from datetime import datetime

from repertory.runtime.context import clean_text
from repertory.runtime.rules import SectionView, TeamRules
from repertory.runtime.team import Team
from repertory.runtime.turn_state import TurnState
from repertory.storage.records import Message, Session
from repertory.storage.store import Store

__all__ = ("begin_turn",)

_PAST_MESSAGES = 300


def begin_turn(
    store: Store, team: Team, rules: TeamRules, text: str, *, user: str, session: str | None, now: datetime
) -> TurnState:
    """Take up a person's message: find or start the session, begin the turn, keep the message. Blocks.

    A new session gets its memory snapshot here, from what earlier sessions left on the blackboard; it is then frozen.

    Raises:
        UsageError: The user or session id can not be one.
        StorageError: The database can not be read or written.
    """
    found = store.sessions.find(team.name, user, session) if session is not None else None
    here = found or Session(
        id=session or "",
        team=team.name,
        user=user,
        number=store.sessions.count(team.name, user) + 1,
        started_at=now,
        memory="",
    )
    latest = store.turns.latest_turn(team.name, user)
    number = (latest.number if latest else 0) + 1
    state = TurnState(
        team=team,
        turn="",
        session=here,
        now=now,
        message=Message(id="m0", role="person", text=clean_text(text), turn="", session=here.id, at=now),
        history=_answered(store.messages.messages(here)) if found else (),
        past_messages=store.messages.past_messages(team.name, user, here, limit=_PAST_MESSAGES),
        commitments=list(store.commitments.all(team.name, user)),
        past_safety=store.turns.past_safety(team.name, user),
        sections={
            name: SectionView(
                value=version.value,
                version=version.version,
                turn=version.turn,
                status="latest",
                age_turns=max(number - version.turn_number, 1),
            )
            for name, version in store.blackboard(team.name, user).all_latest().items()
        },
    )
    if found is None:
        memory = clean_text(rules.memory(state.view()))
        state.session = store.sessions.start(team.name, user, session, at=now, memory=memory)
    state.turn = store.turns.begin_turn(state.session, at=now).id
    state.message = store.messages.append_message(state.session, "person", state.message.text, state.turn, now)
    return state


def _answered(messages: Sequence[Message]) -> list[Message]:
    """The messages of turns in which the team replied; a turn that failed is not part of the conversation."""
    replied = {message.turn for message in messages if message.role == "team"}
    return [message for message in messages if message.turn in replied]
