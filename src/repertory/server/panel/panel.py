"""Everything that the panel's routes work with, in one place that each request can reach."""

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import Request

from repertory.engines.model_store import ModelStore
from repertory.errors import RepertoryError
from repertory.registry.registry import Registry
from repertory.server.agents.served_agents import ServedAgents
from repertory.server.casting import ServedTeam
from repertory.server.panel.build_desk import BuildDesk
from repertory.server.panel.engines_in_use import EnginesInUse
from repertory.server.panel.event_hub import EventHub
from repertory.server.panel.load_meter import LoadMeter
from repertory.server.panel.once import Once
from repertory.server.panel.plan_desk import PlanDesk
from repertory.server.panel.pull_desk import PullDesk
from repertory.server.panel.schema.events import OverviewTick
from repertory.server.panel.schema.turns import ChatStarted
from repertory.server.panel.settings_file import SettingsFile
from repertory.server.panel.sign_in_limits import SignInLimits
from repertory.server.panel.signings import Signings
from repertory.server.turn_teams import RunnerTeams
from repertory.serving.access import Access
from repertory.serving.gateway.gateway import Gateway
from repertory.storage.store import Store

__all__ = ("Panel", "panel_of")

_log = logging.getLogger(__name__)
_TICK_S = 2.0


@dataclass
class Panel:
    """The panel of one server.

    Args:
        gateway: The gateway of the same server.
        store: Where everything is kept.
        teams: The served teams.
        talk: Carries out their turns.
        engines: Where they play.
        registry: The deployed agents with all their versions.
        agents: Those that answer.
    """

    gateway: Gateway
    store: Store
    teams: Mapping[str, ServedTeam]
    talk: RunnerTeams
    engines: EnginesInUse
    registry: Registry
    agents: ServedAgents
    hub: EventHub = field(default_factory=EventHub)
    meter: LoadMeter = field(default_factory=LoadMeter)
    settings: SettingsFile = field(default_factory=SettingsFile)
    models: ModelStore = field(default_factory=ModelStore)

    def __post_init__(self) -> None:
        self.local_secret = secrets.token_bytes(32)
        self.once: Once[ChatStarted] = Once()
        self.signings = Signings(self.store.logins, self.access.keys)
        self.sign_in_limits = SignInLimits()
        self.builds = BuildDesk(self.engines, self.store, self.registry, self.talk.running, self.hub)
        self.pulls = PullDesk(self.models, self.hub)
        self.plans = PlanDesk(self.teams, self.hub)
        self.talk.running.watch(self.hub)
        self.talk.running.watch(self.meter)

    @property
    def access(self) -> Access:
        """Who may come in."""
        return self.gateway.access

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Tell the load inside the block, and end at its end what only the panel has started."""
        ticking = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            self.stop()
            ticking.cancel()
            await asyncio.gather(ticking, self.pulls.close(), return_exceptions=True)

    def stop(self) -> None:
        """The server stops: end what would keep it from that. Turns under way are waited for by the gateway."""
        self.hub.close()
        self.builds.cut_off()

    async def _tick(self) -> None:
        from repertory.server.panel.overview import read_overview  # noqa: PLC0415 - it builds on this module

        while True:
            await asyncio.sleep(_TICK_S)
            if not self.hub.listeners:
                continue
            try:
                tick = OverviewTick(overview=await read_overview(self, None))
            except (RepertoryError, OSError):
                continue  # the state is just being replaced
            except Exception:  # noqa: BLE001 - one mistake must not end the ticks of a server that runs for months
                _log.exception("the load could not be told")
                continue
            self.hub.tick(tick.type, tick.model_dump_json())


def panel_of(request: Request) -> Panel:
    """The panel of the server that a request came to."""
    return request.app.state.panel
