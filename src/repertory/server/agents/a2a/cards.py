"""A2A agent cards, made from what an agent's manifest says and what this server does."""

from collections.abc import Sequence

from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from a2a.utils.constants import PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0, TransportProtocol

from repertory.registry.manifest import AgentManifest
from repertory.registry.registry import Loaded

__all__ = ("agent_card", "server_card")

_TEXT, _JSON = "text/plain", "application/json"
_BEARER = "bearer"
_EXAMPLES = 1


def agent_card(loaded: Loaded, url: str, *, needs_keys: bool) -> AgentCard:
    """The card of a deployed agent.

    Args:
        loaded: The version that answers.
        url: Where its endpoint is.
        needs_keys: Whether requests must carry a key.
    """
    manifest = loaded.package.manifest
    return _card(
        name=manifest.name,
        description=manifest.purpose,
        version=str(loaded.version.version),
        url=url,
        skills=_skills(manifest),
        needs_keys=needs_keys,
    )


def server_card(agents: Sequence[Loaded], url: str, version: str, *, needs_keys: bool) -> AgentCard:
    """The card of the server: its skills are the agents that the caller may use."""
    described = [
        AgentSkill(
            id=loaded.version.agent,
            name=loaded.version.agent,
            description=loaded.package.manifest.purpose,
            tags=["agent"],
            input_modes=[_TEXT, _JSON],
            output_modes=[_TEXT, _JSON],
        )
        for loaded in agents
    ]
    general = AgentSkill(
        id="agents",
        name="agents",
        description="Hands a message to one of the agents that are deployed here.",
        tags=["agent"],
    )
    return _card(
        name="Repertory",
        description=(
            "A server of deployed agents; each is a skill. Name the agent in the message's metadata, as "
            '`{"agent": NAME}`, or use its own endpoint, `a2a/NAME`, whose card is at `.well-known/agent-card.json` '
            "below it."
        ),
        version=version,
        url=url,
        skills=described or [general],
        needs_keys=needs_keys,
    )


def _card(
    *, name: str, description: str, version: str, url: str, skills: Sequence[AgentSkill], needs_keys: bool
) -> AgentCard:
    card = AgentCard(
        name=name,
        description=description,
        version=version,
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding=TransportProtocol.JSONRPC.value, protocol_version=protocol)
            for protocol in (PROTOCOL_VERSION_1_0, PROTOCOL_VERSION_0_3)
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=False),
        default_input_modes=[_TEXT, _JSON],
        default_output_modes=[_TEXT, _JSON],
        skills=skills,
    )
    if needs_keys:
        scheme = HTTPAuthSecurityScheme(scheme="Bearer", description="A key of `repertory keys create`.")
        card.security_schemes[_BEARER].CopyFrom(SecurityScheme(http_auth_security_scheme=scheme))
        card.security_requirements.append(SecurityRequirement(schemes={_BEARER: StringList()}))
    return card


def _skills(manifest: AgentManifest) -> list[AgentSkill]:
    skills = [
        AgentSkill(id=tool.name, name=tool.name, description=tool.description, tags=["tool"], output_modes=[_JSON])
        for tool in manifest.tools
    ]
    if manifest.conversation or not skills:
        talk = AgentSkill(id="chat", name="chat", description=manifest.purpose, tags=["chat"], output_modes=[_TEXT])
        skills.insert(0, talk)
    return skills
