"""`/api/blackboard`: a person's own data, to see, to trace, to take away, to erase."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.base import JsonObject
from repertory.server.panel.schema.blackboards import (
    BlackboardDetail,
    BlackboardHistory,
    BlackboardList,
    BlackboardRef,
    BlackboardSession,
    CalibrationView,
    CommitmentView,
    Erase,
    Erased,
    SectionVersionView,
    SessionSummaryView,
    WhyAnswer,
)
from repertory.server.panel.schema.turns import WhyRecord
from repertory.server.panel.visitor import Anyone, Visitor
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.storage.ids import check_id
from repertory.storage.records import Commitment, SectionVersion
from repertory.storage.store import Store
from repertory.teams.coaching.calibration import calibration_of
from repertory.teams.coaching.why import reasons_for

__all__ = ("commitment_view", "kept_board", "router")

router = APIRouter(prefix="/api/blackboard", tags=["blackboards"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]


@router.get("", operation_id="list_blackboards")
async def list_blackboards(
    panel: _PanelOf, visitor: Anyone, limit: Annotated[int, Query(ge=1, le=1000)] = 200
) -> BlackboardList:
    """The blackboards that the caller may read, the newest first."""
    found = await asyncio.to_thread(_boards, panel.store, visitor, limit)
    return BlackboardList(blackboards=[BlackboardRef(team=team, user=user) for team, user in found])


def _boards(store: Store, visitor: Visitor, limit: int) -> list[tuple[str, str]]:
    if "*" in visitor.caller.reads_users:
        found = store.boards(limit)
    else:
        users = dict.fromkeys((visitor.user, *visitor.caller.reads_users))
        found = [(team, user) for user in users for team in store.teams_of_user(user)]
    return [(team, user) for team, user in found if visitor.may_use_team(team)][:limit]


@router.get("/{team}/{user}", operation_id="get_blackboard")
async def get_blackboard(team: str, user: str, panel: _PanelOf, visitor: Anyone) -> BlackboardDetail:
    """The latest sections, what is remembered, the commitments with how good their predictions were, the sessions."""
    check_readable(visitor, team, user)
    return await asyncio.to_thread(_detail, panel.store, team, user)


@router.get("/{team}/{user}/history", operation_id="get_blackboard_history")
async def get_blackboard_history(
    team: str,
    user: str,
    panel: _PanelOf,
    visitor: Anyone,
    section: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> BlackboardHistory:
    """The newest versions of all sections or of one, oldest first: who wrote them, in which turn, from what."""
    check_readable(visitor, team, user)

    def read() -> list[SectionVersion]:
        kept_board(panel.store, team, user)
        return panel.store.blackboard(team, user).history(section)

    versions = await asyncio.to_thread(read)
    return BlackboardHistory(team=team, user=user, versions=[_version(version) for version in versions[-limit:]])


@router.get("/{team}/{user}/export", operation_id="export_blackboard")
async def export_blackboard(team: str, user: str, panel: _PanelOf, visitor: Anyone) -> JsonObject:
    """Everything that is kept about the user with this team, as one document to take away."""
    check_readable(visitor, team, user)

    def read() -> JsonObject:
        kept_board(panel.store, team, user)
        return panel.store.export(user, team)

    return await asyncio.to_thread(read)


@router.get("/{team}/{user}/why", operation_id="get_why")
async def get_why(
    team: str,
    user: str,
    panel: _PanelOf,
    visitor: Anyone,
    what: Annotated[str, Query(min_length=1, max_length=2000)],
) -> WhyAnswer:
    """What a sentence of a reply, a claim (`c1`, of the last turn that has it) or a trait rests on."""
    check_readable(visitor, team, user)

    def read() -> list[WhyRecord]:
        kept_board(panel.store, team, user)
        return [
            WhyRecord(
                what=reason.what, by=reason.by, where=reason.where, note=reason.note, evidence=dict(reason.evidence)
            )
            for reason in reasons_for(panel.store, team, user, what)
        ]

    return WhyAnswer(what=what, reasons=await asyncio.to_thread(read))


@router.delete("/{team}/{user}", operation_id="erase_blackboard")
async def erase_blackboard(team: str, user: str, body: Erase, panel: _PanelOf, visitor: Anyone) -> Erased:
    """Erase everything that is kept about the user with this team, for good."""
    check_readable(visitor, team, user)
    visitor.acts_for(user)
    if body.confirm != user:
        message = "erasing is for good and is confirmed by naming the user once more"
        raise GatewayError(message, status=409, code="not_confirmed", hint='send {"confirm": USER}')
    busy = [turn for turn in panel.talk.running if (turn.team, turn.user) == (team, user)]
    for turn in busy:
        turn.task.cancel()
    if busy:
        await asyncio.wait({turn.task for turn in busy}, timeout=10.0)
    # Also when nothing is kept: an erase that could not clean the file is made good by the next one.
    erased = await asyncio.to_thread(panel.store.erase, user, team)
    panel.hub.forget(team, user)
    return Erased(team=team, user=user, erased=erased)


def check_readable(visitor: Visitor, team: str, user: str) -> None:
    """See that somebody may read a blackboard, whether it is there or not.

    Raises:
        GatewayError: They may not.
        UsageError: The team or user can not be one.
    """
    check_id("team", team)
    check_id("user", user)
    visitor.check_reads(user)
    visitor.check_team(team)


def kept_board(store: Store, team: str, user: str) -> None:
    """See that something is kept. Blocks.

    Raises:
        GatewayError: There is nothing.
    """
    if team not in store.teams_of_user(user):
        raise not_found("blackboard", f"{team}/{user}")


def _detail(store: Store, team: str, user: str) -> BlackboardDetail:
    kept_board(store, team, user)
    sections = store.blackboard(team, user).all_latest()
    commitments = store.commitments.all(team, user)
    sessions = store.sessions.all(team, user)
    return BlackboardDetail(
        team=team,
        user=user,
        sections={name: _version(version) for name, version in sections.items()},
        memory=sessions[-1].memory if sessions else "",
        summaries=[
            SessionSummaryView(session=one.session, number=one.number, text=one.text, at=one.at)
            for one in store.summaries.all(team, user)
        ],
        commitments=[commitment_view(item) for item in commitments],
        calibration=CalibrationView.model_validate(calibration_of(commitments).model_dump()),
        sessions=[BlackboardSession(id=one.id, number=one.number, started_at=one.started_at) for one in sessions],
    )


def _version(version: SectionVersion) -> SectionVersionView:
    return SectionVersionView(
        section=version.section, version=version.version, turn=version.turn, agent=version.agent,
        evidence=list(version.evidence), at=version.at, value=version.value,
    )  # fmt: skip


def commitment_view(item: Commitment) -> CommitmentView:
    """A commitment as it is shown."""
    return CommitmentView(
        id=item.id, what=item.what, when=item.when, due=item.due, p=item.p, outcome=item.outcome, kind=item.kind,
        made_in=item.made_in, settled_in=item.settled_in, made_at=item.made_at, settled_at=item.settled_at,
    )  # fmt: skip
