"""How known programs that speak the Agent Client Protocol are started, so that they call our gateway alone."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repertory.runtime.harness.settings import HarnessSettings

__all__ = ("ACP_STARTS", "AcpStart", "acp_start")


@dataclass(frozen=True)
class AcpStart:
    """How a program is started.

    Attributes:
        name: Its name in team files.
        argv: The program and its arguments.
        package: Its package on npm.
    """

    name: str
    argv: Sequence[str]
    package: str

    def environment(self, address: str, token: str, model: str) -> dict[str, str]:
        """The variables that lead it to the gateway, without telemetry, updates or a title for the conversation."""
        plain = {
            "OPENAI_BASE_URL": f"{address}/v1",
            "OPENAI_API_KEY": token,
            "OPENAI_MODEL": model,
            "NO_BROWSER": "1",
        }
        return plain | dict(_OWN.get(self.name, _none)(address, token, model))


def _none(address: str, token: str, model: str) -> Mapping[str, str]:
    del address, token, model
    return {}


def _opencode(address: str, token: str, model: str) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{address}/v1", "apiKey": token},
        "models": {model: {"name": model}},
    }
    config = {
        "model": f"local/{model}",
        "small_model": f"local/{model}",
        "autoupdate": False,
        "share": "disabled",
        "enabled_providers": ["local"],
        "provider": {"local": provider},
        "agent": {"title": {"disable": True}},
    }
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }


def _qwen(address: str, token: str, model: str) -> Mapping[str, str]:
    del address, token, model
    return {"QWEN_TELEMETRY_ENABLED": "false", "GEMINI_TELEMETRY_ENABLED": "false"}


_OWN = {"opencode": _opencode, "qwen-code": _qwen}

ACP_STARTS = (
    AcpStart("opencode", ("opencode", "acp"), "opencode-ai"),
    AcpStart("qwen-code", ("qwen", "--acp", "--auth-type", "openai"), "@qwen-code/qwen-code"),
)
"""The first that is installed is taken where an agent names none."""


def acp_start(settings: HarnessSettings, installed: Sequence[str]) -> AcpStart:
    """The start that an agent's settings mean.

    Args:
        settings: They.
        installed: Names of the known programs that are installed.
    """
    if settings.command:
        return AcpStart("command", settings.command, "")
    for start in ACP_STARTS:
        if start.name == settings.program or (settings.program is None and start.name in installed):
            return start
    return ACP_STARTS[0]
