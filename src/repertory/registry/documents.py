"""Deployed agents as JSON documents: what the command line and the HTTP interface tell of them."""

from collections.abc import Sequence
from typing import Any

from repertory.errors import RepertoryError
from repertory.registry.registry import Loaded, Registry
from repertory.registry.signing import fingerprint
from repertory.storage.agent_records import AgentEvent, AgentVersion

__all__ = ("agent_document", "agent_row", "event_document")


def agent_row(registry: Registry, name: str) -> dict[str, Any]:
    """One agent in a list. A package that is not what was signed is told, not shown."""
    versions = registry.versions(name)
    states = {one.state: one.label for one in reversed(versions) if one.state in ("live", "canary")}
    shown = next((one for one in versions if one.state == "live"), versions[0])
    row: dict[str, Any] = {
        "name": name,
        "live": states.get("live"),
        "canary": states.get("canary"),
        "versions": len(versions),
        "purpose": None,
        "tools": [],
        "problem": None,
    }
    try:
        manifest = registry.load(shown).package.manifest
    except RepertoryError as error:
        return {**row, "problem": f"{error.where}: {error.message}" if error.where else error.message}
    return {**row, "purpose": manifest.purpose, "tools": [tool.name for tool in manifest.tools]}


def agent_document(loaded: Loaded, versions: Sequence[AgentVersion]) -> dict[str, Any]:
    """All about one version of an agent."""
    version, package = loaded
    manifest = package.manifest
    return {
        "name": manifest.name,
        "version": version.version,
        "agent": version.label,
        "state": version.state,
        "digest": version.digest,
        "signed_by": fingerprint(version.public_key),
        "created_at": version.created_at.isoformat(),
        **manifest.model_dump(mode="json", exclude={"name", "manifest"}),
        "files": {path: len(content) for path, content in package.files.items()},
        "evidence": dict(package.evidence),
        "versions": [
            {"agent": one.label, "version": one.version, "state": one.state, "created_at": one.created_at.isoformat()}
            for one in versions
        ],
    }


def event_document(agent: str, event: AgentEvent) -> dict[str, Any]:
    """One entry of a history."""
    return {
        "agent": f"{agent}@{event.version}" if event.version is not None else agent,
        "what": event.what,
        "detail": dict(event.detail),
        "at": event.at.isoformat(),
    }
