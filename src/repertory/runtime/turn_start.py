"""The beginning of a turn: what is read from storage, the session, and the person's message as a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import ValidationError

from repertory.errors import UsageError
from repertory.runtime.context import clean_text
from repertory.runtime.durable.journal import TurnJournal, team_fingerprint
from repertory.runtime.events import TurnEvent, event_adapter
from repertory.runtime.rules import SectionView, TeamRules
from repertory.runtime.team import Team
from repertory.runtime.turn_state import TurnState
from repertory.storage.records import Commitment, Message, SectionVersion, Session, StoredEvent
from repertory.storage.store import Store

__all__ = ("StartedTurn", "begin_turn", "take_up_again")

_PAST_MESSAGES = 300


@dataclass(frozen=True)
class StartedTurn:
    """A turn that is ready to be carried.

    Attributes:
        state: What is known.
        journal: What its agents have done.
        earlier: Events of the time before it was taken up again.
        resumes: How often it was taken up again.
    """

    state: TurnState
    journal: TurnJournal
    earlier: Sequence[TurnEvent] = ()
    resumes: int = 0


def begin_turn(
    store: Store, team: Team, rules: TeamRules, text: str, *, user: str, session: str | None, now: datetime
) -> StartedTurn:
    """Take up a person's message: find or start the session, begin the turn, keep the message. Blocks.

    A new session gets its memory snapshot here, from what earlier sessions left on the blackboard; it is then frozen.
    All that is written is one transaction: the person waits for it.

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
    state = TurnState(
        team=team,
        turn="",
        session=here,
        now=now,
        message=Message(id="m0", role="person", text=clean_text(text), turn="", session=here.id, at=now),
        history=answered(store.messages.messages(here)) if found else (),
        past_messages=_with_words(store.messages.past_messages(team.name, user, here, limit=_PAST_MESSAGES)),
        commitments=list(store.commitments.all(team.name, user)),
        past_safety=store.turns.past_safety(team.name, user),
        sections=_as_latest(store.blackboard(team.name, user).all_latest(), (latest.number if latest else 0) + 1),
        remembered=tuple(store.summaries.all(team.name, user, before_session=here.number)),
    )
    if (asked := rules.forgets(state.view())) is not None:
        # Carried out first: nobody of this turn is to read it any more, and the request itself may name it.
        store.forget(team.name, user, asked.messages, asked.redaction, now, must_clean=False)
        return begin_turn(store, team, rules, asked.text, user=user, session=session, now=now)
    memory = here.memory if found else clean_text(rules.memory(state.view()))
    state.safety = rules.safety(state.view())
    state.session, turn, state.message = store.taking_up.begin(
        here, state.message.text, memory=memory, safety=state.safety.level, at=now
    )
    state.turn = turn.id
    return StartedTurn(state, TurnJournal(store, turn.id, team_fingerprint(team)))


def take_up_again(store: Store, team: Team, rules: TeamRules, turn: str) -> StartedTurn:
    """Take up a turn that was cut off, as it was when it began. Blocks.

    Its clock is the one it began with. What it has written since stays out of what its agents are shown as `latest`.

    Raises:
        UsageError: There is no such turn, it is of another team, or it is complete.
        StorageError: Another process carries it, or the database can not be read or written.
    """
    known = store.turns.find_turn(turn)
    if known is not None and known.team != team.name:
        message = f"turn {turn!r} is of team {known.team!r}, not of {team.name!r}"
        raise UsageError(message, hint="name its team")
    taken = store.taking_up.resume(known.id if known is not None else turn)
    here, user = taken.session, taken.session.user
    journal = TurnJournal(store, taken.turn.id, team_fingerprint(team), taken.steps, taken.written)
    board = store.blackboard(team.name, user)
    state = TurnState(
        team=team,
        turn=taken.turn.id,
        session=here,
        now=taken.turn.started_at,
        message=taken.message,
        history=answered(store.messages.messages(here, before=taken.message.id)),
        past_messages=_with_words(store.messages.past_messages(team.name, user, here, limit=_PAST_MESSAGES)),
        commitments=_as_before(store.commitments.all(team.name, user), *journal.commitments_changed()),
        past_safety=store.turns.past_safety(team.name, user, before_turn=taken.turn.id),
        sections=_as_latest(board.all_latest(before_turn=taken.turn.number), taken.turn.number),
        remembered=tuple(store.summaries.all(team.name, user, before_session=here.number)),
    )
    for version in taken.written:
        if version.agent == "code":
            state.wrote(version)
    state.safety = rules.safety(state.view())
    earlier = tuple(event for stored in store.turns.events(taken.turn.id) if (event := _read_event(stored)))
    return StartedTurn(state, journal, earlier, taken.turn.resumes)


def _with_words(messages: Sequence[Message]) -> list[Message]:
    """The messages that say something: an empty one is kept, and is no evidence of anything."""
    return [message for message in messages if message.text.strip()]


def answered(messages: Sequence[Message]) -> list[Message]:
    """The messages of turns in which the team replied; a turn that failed is not part of the conversation."""
    replied = {message.turn for message in messages if message.role == "team"}
    return [message for message in messages if message.turn in replied]


def _as_latest(versions: Mapping[str, SectionVersion], number: int) -> dict[str, SectionView]:
    """What earlier turns wrote, as the turn of this number sees it."""
    return {
        name: SectionView(
            value=version.value,
            version=version.version,
            turn=version.turn,
            status="latest",
            age_turns=max(number - version.turn_number, 1),
        )
        for name, version in versions.items()
    }


def _as_before(commitments: Sequence[Commitment], added: set[str], settled: set[str]) -> list[Commitment]:
    return [
        replace(item, outcome="open", settled_in=None, settled_at=None) if item.id in settled else item
        for item in commitments
        if item.id not in added
    ]


def _read_event(stored: StoredEvent) -> TurnEvent | None:
    try:
        return event_adapter.validate_json(stored.body)
    except ValidationError:
        return None  # of another version of Repertory
