"""Shadow's section: what the person says they want against where their time goes, and the forecast."""

from dataclasses import replace
from datetime import datetime, timedelta

from pydantic import ValidationError

from repertory.runtime.rules import TurnView, Written
from repertory.storage.records import Commitment, CommitmentChange
from repertory.teams.coaching.corrections import Corrections, corrections_of
from repertory.teams.coaching.dates import due_after
from repertory.teams.coaching.drafts import Pattern, ShadowDraft
from repertory.teams.coaching.evidence import cited, clean, latest_value, open_commitments, person_messages, texts_of
from repertory.teams.coaching.forecast import SETTLED, Forecast, forecast
from repertory.teams.coaching.goals import goal_in
from repertory.teams.coaching.outcomes import Report, confirms, find_outcomes
from repertory.teams.coaching.promises import Promise, find_promises, grounded_promise, same_promise
from repertory.teams.coaching.sections import Prediction, ShadowSection
from repertory.teams.coaching.words import mentions, quote

__all__ = ("settled_view", "write_shadow")

_MAX_EVIDENCE = 8
_STEADY_FROM = 2
_GAP_PATTERNS = frozenset(Pattern) - {Pattern.STEADY_FOLLOW_THROUGH, Pattern.INSUFFICIENT_DATA}


def _plain_reports(view: TurnView) -> list[Report]:
    """Outcomes that code reads off the message. What was promised today can be kept today, but not yet be missed."""
    today = {item.id for item in view.commitments if item.made_at.date() == view.now.date()}
    found = find_outcomes(view.message.text, open_commitments(view))
    return [report for report in found if report.outcome == "kept" or report.commitment not in today]


def _reports(draft: ShadowDraft | None, view: TurnView) -> list[Report]:
    """Outcomes by code, and those a model claims that the message bears out."""
    waiting = [item for item in open_commitments(view) if item.made_at.date() != view.now.date()]
    found = _plain_reports(view)
    told = {report.commitment for report in found}
    by_id = {item.id: item for item in waiting}
    for claim in draft.outcomes if draft else []:
        item = by_id.get(claim.id)
        if item and claim.id not in told and confirms(view.message.text, claim.result, item):
            found.append(Report(claim.id, claim.result, view.message.text))
    return found


def _promises(draft: ShadowDraft | None, view: TurnView) -> list[Promise]:
    """Promises by code; a model's own only when code found none and the message says it."""
    found = find_promises(view.message.text, view.commitments)
    for claim in draft.promises if draft and not found else []:
        promise = grounded_promise(clean(claim.what), clean(claim.when), view.message.text)
        if promise and not any(same_promise(promise, other) for other in found):
            found.append(promise)
    return found


def _settled(view: TurnView, reports: list[Report]) -> list[Commitment]:
    outcome = {report.commitment: report.outcome for report in reports}
    return [
        replace(item, outcome=outcome[item.id], settled_in=view.message.id, settled_at=view.now)
        if item.id in outcome
        else item
        for item in view.commitments
    ]


def settled_view(view: TurnView) -> list[Commitment]:
    """The commitments with this message's plain outcomes applied, for agents that run beside Shadow."""
    return _settled(view, _plain_reports(view))


def _due(promise: Promise, view: TurnView) -> datetime | None:
    due = due_after(promise.when, view.now)
    if due is None and promise.repeats and view.commitments:
        last = view.commitments[-1]
        span = last.due - last.made_at if last.due else timedelta(days=7)
        due = view.now + max(span, timedelta(days=1))
    return due


def _pattern(
    claimed: Pattern | None, view: TurnView, commitments: list[Commitment], evidence: tuple[str, ...]
) -> Pattern:
    """A model's class, held against the record of outcomes; the record wins."""
    settled = [item for item in commitments if item.outcome in SETTLED]
    recent = ["kept" if item.outcome == "kept" else "missed" for item in settled[-_STEADY_FROM - 1 :]]
    if len(settled) > _STEADY_FROM and all(outcome == "kept" for outcome in recent):
        return Pattern.STEADY_FOLLOW_THROUGH
    if not settled and len(person_messages(view)) < _STEADY_FROM:
        return Pattern.INSUFFICIENT_DATA
    if claimed is None or (claimed in _GAP_PATTERNS and not evidence):
        return Pattern.INTENTION_ACTION_GAP if recent[-2:] == ["missed", "missed"] else Pattern.INSUFFICIENT_DATA
    if claimed is Pattern.STEADY_FOLLOW_THROUGH and "missed" in recent:
        return Pattern.INTENTION_ACTION_GAP
    if claimed is Pattern.INSUFFICIENT_DATA and recent[-2:] == ["missed", "missed"]:
        return Pattern.INTENTION_ACTION_GAP
    return claimed


def _evidence(ids: tuple[str, ...], view: TurnView, commitments: list[Commitment], before: list[str]) -> list[str]:
    """Cited messages, those that told an outcome, and what the last version rested on; newest last."""
    told = [item.settled_in for item in commitments if item.outcome in SETTLED and item.settled_in]
    order = {message.id: index for index, message in enumerate(person_messages(view))}
    every = [item for item in dict.fromkeys((*before, *ids, *told)) if item in order]
    return sorted(every, key=lambda item: order[item])[-_MAX_EVIDENCE:]


def _previous(view: TurnView) -> ShadowSection | None:
    value = latest_value(view, "shadow")
    try:
        return ShadowSection.model_validate(value) if value else None
    except ValidationError:
        return None


def _predicted(view: TurnView, commitments: list[Commitment], promises: list[Promise]) -> tuple[Forecast, str | None]:
    if promises:
        return forecast(commitments, promises[0].kind), promises[0].what
    waiting = [item for item in commitments if item.outcome == "open"]
    if waiting:
        return forecast(commitments, waiting[-1].kind), waiting[-1].what
    last_kind = view.commitments[-1].kind if view.commitments else None
    return forecast(commitments, last_kind), None


def _as_corrected(name: str, found: str, said: str | None, corrections: Corrections, dropped: list[str]) -> str:
    """What the person has set, else what was found unless they said that it is not so."""
    if said:
        return said
    if said is not None or corrections.rejects(found):
        if found:
            dropped.append(f"{name} that the person said is not so: {quote(found)}")
        return ""
    return found


def write_shadow(draft: ShadowDraft | None, view: TurnView) -> Written:
    """Make the section and the changes of commitments; without a draft from code alone."""
    reports, promises = _reports(draft, view), _promises(draft, view)
    commitments = _settled(view, reports)
    previous = _previous(view)
    said = [message.text for message in person_messages(view)]
    dropped: list[str] = []
    ids = cited(draft.evidence, view) if draft else ()
    goal = clean(draft.stated_goal) if draft else ""
    if goal and not mentions(goal, said):
        dropped.append(f"stated goal without evidence: {quote(goal)}")
        goal = ""
    priority = clean(draft.revealed_priority) if draft else ""
    if priority and not mentions(priority, texts_of(ids, view) or said):
        dropped.append(f"revealed priority without evidence: {quote(priority)}")
        priority = ""
    goal = goal or (previous.stated_goal if previous else "") or goal_in(said)
    priority = priority or (previous.revealed_priority if previous else "")
    corrections = corrections_of(view)
    goal = _as_corrected("stated goal", goal, corrections.fact("goal"), corrections, dropped)
    priority = _as_corrected("revealed priority", priority, corrections.fact("priority"), corrections, dropped)
    evidence = _evidence(ids, view, commitments, previous.evidence if previous else [])
    prediction, about = _predicted(view, commitments, promises)
    section = ShadowSection(
        stated_goal=quote(goal),
        revealed_priority=quote(priority),
        pattern=_pattern(draft.pattern if draft else None, view, commitments, tuple(evidence)),
        evidence=evidence or [view.message.id],
        prediction=Prediction(
            p=prediction.p, n=prediction.n, n_used=prediction.n_used, confidence=prediction.confidence,
            basis=prediction.basis, commitment=about,
        ),
        dropped=dropped,
    )  # fmt: skip
    changes = [
        CommitmentChange(id=report.commitment, outcome=report.outcome, evidence=view.message.id) for report in reports
    ]
    changes += [
        CommitmentChange(
            what=promise.what, when=quote(promise.when, 80), due=_due(promise, view), kind=promise.kind,
            p=forecast(commitments, promise.kind).p, evidence=view.message.id,
        )
        for promise in promises
    ]  # fmt: skip
    return Written(section.model_dump(mode="json"), tuple(section.evidence), tuple(changes))
