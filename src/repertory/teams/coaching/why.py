"""Why something was said: from a sentence or a claim back to the agent, the messages and the numbers it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from repertory.errors import UsageError
from repertory.storage.records import Turn
from repertory.storage.store import Store
from repertory.teams.coaching.ocean import DOMAINS
from repertory.teams.coaching.words import overlap

__all__ = ("Reason", "reasons_for", "turn_reasons")

_SIMILAR = 0.5


@dataclass(frozen=True)
class Reason:
    """One link of the chain.

    Attributes:
        what: The claim or value.
        by: The agent, `code` or `person`.
        where: The turn, or the section and version.
        evidence: Message id -> what the person wrote there; empty text when it is gone.
        note: What else matters, such as what was left out of a reply and why.
    """

    what: str
    by: str
    where: str
    evidence: Mapping[str, str]
    note: str = ""


def _texts(store: Store, team: str, user: str) -> dict[str, str]:
    return {
        message.id: message.text
        for session in store.sessions.all(team, user)
        for message in store.messages.messages(session)
        if message.role == "person"
    }


def reasons_for(store: Store, team: str, user: str, question: str) -> list[Reason]:
    """The chains behind a sentence of a reply, a claim id (`c1`, of the last turn) or a trait, the newest first.

    Raises:
        UsageError: The question is empty.
    """
    wanted = question.strip()
    if not wanted:
        raise UsageError("why what?", hint="quote a sentence of a reply, or name a claim (c1) or a trait")
    texts = _texts(store, team, user)
    if wanted.casefold() in DOMAINS:
        return _trait_reasons(store, team, user, wanted.casefold(), texts)
    for turn in store.turns.turns(team, user, limit=20):
        merge = _part(store.turns.result(turn.id), "merge")
        claims = [cast("dict[str, Any]", claim) for claim in merge.get("claims", []) if isinstance(claim, dict)]
        named = _claims_of_sentence(merge, wanted)
        alike = {str(claim.get("id")): overlap(str(claim.get("text", "")), wanted) for claim in claims}
        meant = [
            claim
            for claim in claims
            if claim.get("id") == wanted or claim.get("id") in named or alike[str(claim.get("id"))] >= _SIMILAR
        ]
        if meant:
            # Those that the turn's record names first, then those that say nearly the same.
            meant.sort(key=lambda claim: (claim.get("id") not in named, -alike[str(claim.get("id"))]))
            return [_claim_reason(claim, turn.id, texts) for claim in meant]
    return []


def turn_reasons(store: Store, turn: Turn) -> list[Reason]:
    """What each claim of a turn rests on, in the order of the claims."""
    claims = _part(store.turns.result(turn.id), "merge").get("claims", [])
    rows = [cast("dict[str, Any]", claim) for claim in claims if isinstance(claim, dict)]
    texts = _texts(store, turn.team, turn.user) if rows else {}
    return [_claim_reason(claim, turn.id, texts) for claim in rows]


def _part(document: Any, name: str) -> dict[str, Any]:
    if not isinstance(document, dict):
        return {}
    part = cast("dict[str, Any]", document).get(name)
    return cast("dict[str, Any]", part) if isinstance(part, dict) else {}


def _claims_of_sentence(merge: dict[str, Any], wanted: str) -> set[str]:
    """The claims that the turn's record names for the sentence."""
    named: set[str] = set()
    for item in merge.get("reply", []):
        if isinstance(item, dict):
            sentence = cast("dict[str, Any]", item)
            if overlap(str(sentence.get("text", "")), wanted) >= _SIMILAR:
                named |= {str(claim) for claim in sentence.get("claims", [])}
    return named


def _claim_reason(claim: dict[str, Any], turn: str, texts: Mapping[str, str]) -> Reason:
    ids = [str(item) for item in claim.get("evidence", [])]
    confidence = claim.get("confidence")
    note = f"topic {claim.get('topic')}" + (f", p = {confidence:.2f}" if isinstance(confidence, float) else "")
    return Reason(
        what=f"{claim.get('id')}: {claim.get('text')}",
        by=str(claim.get("agent")),
        where=f"turn {turn}",
        evidence={item: texts.get(item, "") for item in ids},
        note=note,
    )


def _trait_reasons(store: Store, team: str, user: str, trait: str, texts: Mapping[str, str]) -> list[Reason]:
    version = store.blackboard(team, user).latest("persona")
    ocean = _part(version.value if version else None, "ocean")
    value = cast("dict[str, Any]", ocean.get(trait) or {})
    if version is None or not value:
        return []
    ids = [str(item) for item in value.get("evidence", [])]
    note = f"source: {value.get('source', 'text')}, confidence {value.get('confidence')}"
    what = f"{trait} {value.get('score'):g}, between {value.get('low'):g} and {value.get('high'):g} of 100"
    where = f"persona, version {version.version}"
    return [Reason(what, version.agent, where, {item: texts.get(item, "") for item in ids}, note)]
