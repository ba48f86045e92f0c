"""`/api/blackboard/coaching/...`: what a person says about their own data: correct, settle, forget, answer."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends

from repertory.clock import system_clock
from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.routes.blackboards import check_readable, commitment_view, kept_board
from repertory.server.panel.schema.blackboards import (
    CommitmentOutcome,
    CommitmentView,
    Correction,
    CorrectionDone,
    Forget,
    Forgotten,
    Questionnaire,
    QuestionnaireAnswers,
    QuestionnaireItem,
    Trait,
    Traits,
)
from repertory.server.panel.visitor import Anyone, Visitor
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.storage.records import Commitment
from repertory.teams.coaching import person_acts
from repertory.teams.coaching.corrections import Corrections
from repertory.teams.coaching.ocean import DOMAINS
from repertory.teams.coaching.questionnaire import ANSWERS, ITEMS
from repertory.teams.coaching.sections import PersonaSection

__all__ = ("router",)

router = APIRouter(prefix="/api", tags=["blackboards"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]


@router.post("/blackboard/{team}/{user}/corrections", operation_id="correct")
async def correct(team: str, user: str, body: Correction, panel: _PanelOf, visitor: Anyone) -> CorrectionDone:
    """Correct a trait or a fact. What the person says stands above what models say."""
    _check_person(visitor, team, user)

    def act() -> Corrections:
        kept_board(panel.store, team, user)
        meant = person_acts.Correction(traits=body.traits, facts=body.facts)
        return person_acts.correct(panel.store, user, meant, system_clock())

    return CorrectionDone(corrections=(await asyncio.to_thread(act)).model_dump(mode="json"))


@router.post("/blackboard/{team}/{user}/commitments/{commitment}/outcome", operation_id="settle_commitment")
async def settle_commitment(
    team: str, user: str, commitment: str, body: CommitmentOutcome, panel: _PanelOf, visitor: Anyone
) -> CommitmentView:
    """Say what became of a commitment; it stands above what was read from messages."""
    _check_person(visitor, team, user)

    def act() -> Commitment:
        if all(item.id != commitment for item in panel.store.commitments.all(team, user)):
            raise not_found("commitment", commitment)
        outcome = person_acts.OUTCOMES[body.outcome]
        return person_acts.settle(panel.store, user, commitment, outcome, system_clock())

    return commitment_view(await asyncio.to_thread(act))


@router.post("/blackboard/{team}/{user}/forget", operation_id="forget")
async def forget(team: str, user: str, body: Forget, panel: _PanelOf, visitor: Anyone) -> Forgotten:
    """Forget messages and all that was derived from them, for good; without `confirm`, tell which are meant."""
    check_readable(visitor, team, user)
    visitor.acts_for(user)

    def act() -> Forgotten:
        kept_board(panel.store, team, user)
        found = dict(person_acts.messages_meant(panel.store, user, team, body.what))
        if not found:
            raise not_found("message with", body.what)
        changed: dict[str, int] = {}
        if body.confirm:
            changed = person_acts.forget(panel.store, user, team, list(found), system_clock())
        return Forgotten(messages=found, forgotten=body.confirm, changed=changed)

    done = await asyncio.to_thread(act)
    if done.forgotten:
        panel.hub.forget(team, user)
    return done


@router.get("/questionnaire", operation_id="get_questionnaire")
async def get_questionnaire(_: Anyone) -> Questionnaire:
    """The twenty statements, and what can be answered."""
    items = [QuestionnaireItem(number=number, text=f"I {item.text}") for number, item in enumerate(ITEMS, start=1)]
    return Questionnaire(items=items, answers=list(ANSWERS))


@router.post("/blackboard/{team}/{user}/questionnaire", operation_id="answer_questionnaire")
async def answer_questionnaire(
    team: str, user: str, body: QuestionnaireAnswers, panel: _PanelOf, visitor: Anyone
) -> Traits:
    """Answer the twenty statements: a better source for the traits than text. It needs no talk before."""
    _check_person(visitor, team, user)

    def act() -> PersonaSection:
        return person_acts.answer_questionnaire(panel.store, user, body.answers, system_clock())

    persona = await asyncio.to_thread(act)
    traits = {name: persona.ocean.trait(name) for name in DOMAINS}
    return Traits(
        ocean={
            name: Trait(score=trait.score, low=trait.low, high=trait.high, source=str(trait.source))
            for name, trait in traits.items()
        }
    )


def _check_person(visitor: Visitor, team: str, user: str) -> None:
    """See that somebody may act for a user on the coaching team's blackboard.

    Raises:
        GatewayError: They may not, or it is another team's.
    """
    check_readable(visitor, team, user)
    visitor.acts_for(user)
    if team != person_acts.TEAM:
        message = "only the coaching team's blackboard has these"
        raise GatewayError(message, status=404, code="not_found")
