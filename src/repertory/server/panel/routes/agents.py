"""`/api/agents`: deployed agents, their versions, and calls of their tools."""

import asyncio
import time
from typing import Annotated, NoReturn, cast

from fastapi import APIRouter, Depends, Query

from repertory.errors import UsageError
from repertory.registry.documents import agent_document, agent_row, event_document
from repertory.registry.package import EVIDENCE
from repertory.registry.registry import Loaded, Registry
from repertory.server.panel.build_desk import BUILDERS
from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.agents import (
    AgentCall,
    AgentCallAnswer,
    AgentCallError,
    AgentDetail,
    AgentFile,
    AgentHistory,
    AgentHistoryEntry,
    AgentList,
    AgentRemoved,
    AgentRow,
    AgentState,
    Promote,
)
from repertory.server.panel.visitor import Admin, Anyone, Visitor
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.storage.agent_records import AgentVersion

__all__ = ("router",)

router = APIRouter(prefix="/api/agents", tags=["agents"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]
_Version = Annotated[int | None, Query(ge=1, le=999_999_999)]


@router.get("", operation_id="list_agents")
async def list_agents(panel: _PanelOf, visitor: Anyone) -> AgentList:
    """The deployed agents that the caller may use, and which of their versions answer."""

    def read() -> list[AgentRow]:
        names = [name for name in panel.registry.names() if visitor.may_use_agent(name)]
        return [AgentRow.model_validate(agent_row(panel.registry, name)) for name in names]

    return AgentList(agents=await asyncio.to_thread(read))


@router.get("/{name}", operation_id="get_agent")
async def get_agent(name: str, panel: _PanelOf, visitor: Anyone, version: _Version = None) -> AgentDetail:
    """What an agent is: tools, permissions, limits, files, evidence and versions."""

    def read() -> AgentDetail:
        chosen, versions = _chosen(panel.registry, visitor, name, version)
        loaded = panel.registry.load(chosen)
        document = agent_document(loaded, versions)
        if not _sees_evidence(panel, visitor, loaded):
            files = {path: size for path, size in document["files"].items() if path != EVIDENCE}
            document |= {"evidence": None, "files": files}
        return AgentDetail.model_validate(document)

    return await asyncio.to_thread(read)


@router.get("/{name}/file", operation_id="get_agent_file")
async def get_agent_file(
    name: str,
    panel: _PanelOf,
    visitor: Anyone,
    path: Annotated[str, Query(min_length=1, max_length=200)],
    version: _Version = None,
) -> AgentFile:
    """The text of one file of an agent's package."""

    def read() -> AgentFile:
        chosen, _ = _chosen(panel.registry, visitor, name, version)
        loaded = panel.registry.load(chosen)
        content = loaded.package.files.get(path)
        if content is None or (path == EVIDENCE and not _sees_evidence(panel, visitor, loaded)):
            raise not_found("file", path)
        return AgentFile(agent=chosen.label, path=path, text=content.decode("utf-8", "replace"))

    return await asyncio.to_thread(read)


@router.get("/{name}/history", operation_id="get_agent_history")
async def get_agent_history(name: str, panel: _PanelOf, visitor: Anyone) -> AgentHistory:
    """What happened to an agent, oldest first; also to one that was removed."""
    if not visitor.may_use_agent(name):
        raise not_found("agent", name)

    def read() -> AgentHistory:
        try:
            events = panel.registry.history(name)
        except UsageError as error:
            _refuse(name, error)
        entries = [AgentHistoryEntry.model_validate(event_document(name, event)) for event in events]
        if not visitor.is_admin:  # why a version was taken back may quote what its builder was asked for
            entries = [entry.model_copy(update={"detail": {}}) for entry in entries]
        return AgentHistory(events=entries)

    return await asyncio.to_thread(read)


@router.post("/{name}/call", operation_id="call_agent")
async def call_agent(name: str, body: AgentCall, panel: _PanelOf, visitor: Anyone) -> AgentCallAnswer:
    """Call a tool in the sandbox. What goes wrong in the tool is an answer; what goes wrong before is not."""
    chosen, _ = await asyncio.to_thread(_chosen, panel.registry, visitor, name, body.version)
    if body.version is None and chosen.state != "live":
        message = f"no version of {name} is live"
        raise GatewayError(message, status=409, code="not_live", hint="promote one, or name its version")
    panel.gateway.admit(visitor.caller)
    began = time.perf_counter()
    done = await panel.agents.calls.call(name, body.tool, body.args, chosen.version, user=visitor.user)
    error = None if done.error is None else AgentCallError(type=done.error.type, message=done.error.message)
    seconds = round(time.perf_counter() - began, 4)
    return AgentCallAnswer(agent=done.version, result=done.result, error=error, seconds=seconds)


@router.post("/{name}/promote", operation_id="promote_agent")
async def promote_agent(name: str, body: Promote, panel: _PanelOf, visitor: Admin) -> AgentState:
    """Make a version live (or the canary); the one that was, is retired. Its package is checked first."""

    def act() -> AgentVersion:
        _chosen(panel.registry, visitor, name, body.version)
        return panel.registry.promote(name, body.version, "canary" if body.canary else "live")

    return _state(await asyncio.to_thread(act))


@router.post("/{name}/rollback", operation_id="roll_back_agent")
async def roll_back_agent(name: str, panel: _PanelOf, visitor: Admin) -> AgentState:
    """Make the version live again that was live before the present one."""

    def act() -> AgentVersion:
        _chosen(panel.registry, visitor, name, None)
        try:
            return panel.registry.roll_back(name)
        except UsageError as error:
            raise GatewayError(error.message, status=409, code="nothing_to_roll_back", hint=error.hint) from None

    return _state(await asyncio.to_thread(act))


@router.delete("/{name}", operation_id="remove_agent")
async def remove_agent(name: str, panel: _PanelOf, visitor: Admin, keep_state: bool = False) -> AgentRemoved:
    """Delete an agent's versions and, unless it is to be kept, what the agent has kept. Its history stays."""

    def act() -> list[int]:
        _chosen(panel.registry, visitor, name, None)
        return panel.registry.remove(name, keep_state=keep_state)

    return AgentRemoved(removed=name, versions=await asyncio.to_thread(act))


def _chosen(
    registry: Registry, visitor: Visitor, name: str, number: int | None
) -> tuple[AgentVersion, list[AgentVersion]]:
    """The version that is meant (the live one, else the newest), and all of them.

    Raises:
        GatewayError: There is none that the caller may use.
    """
    if not visitor.may_use_agent(name):
        raise not_found("agent", name)
    try:
        versions = registry.versions(name)
    except UsageError as error:
        _refuse(name, error)
    if number is None:
        return next((one for one in versions if one.state == "live"), versions[0]), versions
    for one in versions:
        if one.version == number:
            return one, versions
    raise not_found("version", f"{name}@{number}")


def _sees_evidence(panel: Panel, visitor: Visitor, loaded: Loaded) -> bool:
    """Whether somebody may read what an agent was asked for with, and all that came of it.

    Who asked is known by the build, as long as that is kept; of agents that came another way it is not known.
    """
    if visitor.is_admin:
        return True
    built_by = loaded.package.evidence.get("built_by")
    build = cast("dict[str, object]", built_by).get("build") if isinstance(built_by, dict) else None
    turn = panel.store.turns.get(build) if isinstance(build, str) else None
    return turn is not None and turn.team == BUILDERS and turn.user == visitor.user


def _refuse(name: str, error: UsageError) -> NoReturn:
    raise not_found("agent", name) from error


def _state(version: AgentVersion) -> AgentState:
    return AgentState(agent=version.label, state=version.state)
