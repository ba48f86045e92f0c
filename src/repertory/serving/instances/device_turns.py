"""Which instances of a plan take turns, and how a turn passes from one to another."""

import time
from collections.abc import Mapping, Sequence

import anyio.abc

from repertory.errors import EngineUnavailableError
from repertory.serving.instances.records import InstanceSpec, InstanceStatus
from repertory.serving.instances.supervised import SupervisedInstance
from repertory.serving.instances.turn_taking import TurnTaking

__all__ = ("DeviceTurns", "turn_groups")

_LINGER_SHARE = 0.25
_LONGEST_LINGER_S = 2.0


def turn_groups(specs: Sequence[InstanceSpec]) -> list[list[str]]:
    """Sleepers that share devices, directly or over others: in each group one is awake at a time."""
    groups: list[tuple[set[str], list[str]]] = []
    for spec in specs:
        if spec.resident:
            continue
        devices, members = set(spec.devices), [spec.id]
        apart: list[tuple[set[str], list[str]]] = []
        for other_devices, others in groups:
            if other_devices & devices:
                devices |= other_devices
                members = [*others, *members]
            else:
                apart.append((other_devices, others))
        groups = [*apart, (devices, members)]
    return [members for _, members in groups]


class DeviceTurns:
    """One group of instances that take turns on their devices.

    Args:
        group: Runs the switches.
        members: The instances by name.
    """

    def __init__(self, group: anyio.abc.TaskGroup, members: Mapping[str, SupervisedInstance]) -> None:
        self._members = members
        self._last_switch_s = 0.0
        self.turns = TurnTaking(group, self._switch, linger_s=self._linger_s)

    def _linger_s(self) -> float:
        """Waiting a part of what a switch takes is worth it: the agent that was just served often comes back."""
        return min(_LONGEST_LINGER_S, self._last_switch_s * _LINGER_SHARE)

    async def _switch(self, previous: str | None, member: str) -> None:
        began = time.monotonic()
        for name, instance in self._members.items():
            # Also those that are not known to be awake: after a failed switch nobody is, as far as we know.
            if name != member and (name == previous or instance.state.status is not InstanceStatus.ASLEEP):
                await self._put_to_sleep(instance)
        await self._members[member].reach(asleep=False)
        self._last_switch_s = time.monotonic() - began

    async def _put_to_sleep(self, instance: SupervisedInstance) -> None:
        try:
            await instance.reach(asleep=True)
        except EngineUnavailableError:
            if instance.state.status is not InstanceStatus.FAILED:  # one that failed holds no device
                raise
