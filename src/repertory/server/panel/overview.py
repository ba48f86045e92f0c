"""The load of this server, from the supervisor's records, the queues in front of the engines and the turns' events."""

import asyncio
from collections.abc import Mapping

from repertory.clock import system_clock
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.server.casting import StandingEngine
from repertory.server.panel.load_meter import AtWork
from repertory.server.panel.panel import Panel
from repertory.server.panel.schema.overview import AgentAtWork, InstanceLoad, Overview, Totals
from repertory.server.panel.visitor import Visitor
from repertory.serving.gateway.replica import Replica
from repertory.serving.instances.commands import current_state
from repertory.serving.instances.records import InstanceState, ServingState

__all__ = ("read_overview",)


async def read_overview(panel: Panel, visitor: Visitor | None) -> Overview:
    """The load as somebody may see it; None is an administrator.

    Raises:
        RepertoryError: The supervisor's state can not be read.
    """
    limited = visitor if visitor is not None and not visitor.is_admin else None
    state = await asyncio.to_thread(current_state) if limited is None else ServingState()
    working = [
        agent
        for agent in panel.meter.at_work()
        if limited is None or (agent.user == limited.user and limited.may_use_team(agent.team))
    ]
    instances = _instances(panel, state) if limited is None else []
    return Overview(
        at=system_clock(),
        started_at=panel.meter.started_at,
        supervised=state.supervisor is not None,
        instances=instances,
        working=[_at_work(agent) for agent in working],
        totals=_totals(panel, None if limited is None else limited.user, working, instances),
    )


def _at_work(agent: AtWork) -> AgentAtWork:
    return AgentAtWork(
        team=agent.team, agent=agent.agent, state=agent.state, turn=agent.turn, since=agent.since,
        instance=agent.instance,
    )  # fmt: skip


def _totals(panel: Panel, user: str | None, working: list[AtWork], instances: list[InstanceLoad]) -> Totals:
    meter = panel.meter
    waiting = sum(agent.state == "waiting" for agent in working)
    mine = None if user is None else meter.of_user(user)
    sums = meter.sums if mine is None else mine
    return Totals(
        turns_running=meter.running(user),
        agents_working=len(working) - waiting,
        agents_waiting=waiting,
        turns_finished=sums.turns,
        prompt_tokens=sums.prompt_tokens,
        cached_tokens=sums.cached_tokens,
        output_tokens=sums.output_tokens,
        requests_running=sum(one.running or 0 for one in instances) if user is None else None,
        requests_waiting=sum(one.waiting or 0 for one in instances) if user is None else None,
    )


def _instances(panel: Panel, state: ServingState) -> list[InstanceLoad]:
    replicas = {replica.upstream.id: replica for replica in panel.gateway.table.replicas}
    standing = {one.name: one for one in panel.engines.standing()}
    known = {item.spec.id for item in state.instances}
    found = [
        _load(panel, item.spec.id, replicas.get(item.spec.id), standing, item, state.team) for item in state.instances
    ]
    found += [
        _load(panel, name, replica, standing, None, "") for name, replica in replicas.items() if name not in known
    ]
    return found


def _load(
    panel: Panel,
    name: str,
    replica: Replica | None,
    standing: Mapping[str, StandingEngine],
    item: InstanceState | None,
    team: str,
) -> InstanceLoad:
    speed = panel.meter.speed(name)
    # Turns go to the engine through a gate of their own, requests of clients through the gateway's queue.
    engine = standing[name].engine if name in standing else None
    gate = engine.admission if isinstance(engine, OpenAIEngine) else None
    in_use = replica is not None or gate is not None
    running = (replica.queue.inside if replica is not None else 0) + (gate.inside if gate is not None else 0)
    waiting = (replica.queue.waiting if replica is not None else 0) + (gate.waiting if gate is not None else 0)
    if item is not None:
        agents = [f"{team}/{agent}" for agent in item.spec.agents]
    else:
        agents = [agent for agent, _ in replica.upstream.agents] if replica is not None else []
    failing = replica is not None and replica.failing
    return InstanceLoad(
        id=name,
        model=_model(item, replica),
        checkpoint=item.spec.checkpoint or None if item is not None else None,
        engine=item.spec.engine if item is not None else str(replica.upstream.kind) if replica is not None else "url",
        state=item.status.value if item is not None else "not_answering" if failing else "ready",
        agents=agents,
        devices=list(item.spec.devices) if item is not None else [],
        predicted_gib=item.spec.predicted_gib if item is not None else None,
        measured_gib=item.memory.measured_gib if item is not None else None,
        running=running if in_use else None,
        waiting=waiting if in_use else None,
        slots=replica.queue.limit if replica is not None else gate.limit if gate is not None else None,
        prefill_tok_s=speed.prefill_tok_s,
        decode_tok_s=speed.decode_tok_s,
        first_token_s=speed.first_token_s,
        cache_hit_share=speed.cache_hit_share,
        restarts=item.restarts if item is not None else None,
        reason=(item.message or None) if item is not None else "requests to it failed lately" if failing else None,
        advice=(item.advice or None) if item is not None else None,
    )


def _model(item: InstanceState | None, replica: Replica | None) -> str:
    if item is not None:
        return item.spec.model or item.spec.served_name
    return replica.upstream.served_model if replica is not None else ""
