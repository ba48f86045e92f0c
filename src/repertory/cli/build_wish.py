"""What `repertory build` is asked for: a new agent, a better version of one, or the oldest request for repair."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from repertory.errors import RepertoryError, UsageError

if TYPE_CHECKING:
    from repertory.storage.agent_records import AgentRepair
    from repertory.teams.engineering.build_result import BuildResult
    from repertory.teams.engineering.improvement import Improvement
    from repertory.teams.engineering.reuse import Similar

__all__ = ("BuildWish", "improvement_of", "open_repair", "similar_agent")


@dataclass(frozen=True)
class BuildWish:
    """One build.

    Attributes:
        request: What the person, or a request for repair, asks for.
        contract: The contract that they gave.
        improves: The version that gets a successor.
    """

    request: str
    contract: str | None = None
    improves: "Improvement | None" = None


def improvement_of(label: str) -> "Improvement":
    """What is to be improved: the live version of an agent, or the one that the label names.

    Raises:
        RepertoryError: There is none, or its package does not tell what must stay.
    """
    from repertory.registry.registry import Registry, parse_label
    from repertory.storage.store import Store
    from repertory.teams.engineering.improvement import Improvement

    name, version = parse_label(label)
    with Store.open() as store:
        registry = Registry(store)
        return Improvement.of(registry.load(registry.resolve(name, version)))


def similar_agent(request: str, contract: str | None) -> "Similar | None":
    """The deployed agent that is nearest to a request."""
    from repertory.registry.registry import Loaded, Registry
    from repertory.storage.store import Store
    from repertory.teams.engineering.contract_text import read_contract
    from repertory.teams.engineering.reuse import find_similar

    agents: list[Loaded] = []
    with Store.open() as store:
        registry = Registry(store)
        for name in registry.live_names():
            try:
                agents.append(registry.load(registry.resolve(name)))
            except RepertoryError:
                continue  # one that can not answer serves nobody
    return find_similar(request, read_contract(contract) if contract else None, agents)


class _Taken:
    """A request for repair that this process works on."""

    def __init__(self, repair: "AgentRepair") -> None:
        self.repair = repair
        self.result: BuildResult | None = None


@contextmanager
def open_repair() -> Generator[_Taken]:
    """Take the oldest request for repair; give it back when the block ends without a result.

    Raises:
        UsageError: There is none.
    """
    from repertory.storage.store import Store

    with Store.open() as store:
        repair = store.agent_watch.take_repair()
        if repair is None:
            raise UsageError("no repair is asked for", hint="`repertory agents show AGENT` lists those of an agent")
        taken = _Taken(repair)
        try:
            yield taken
        finally:
            result = taken.result
            if result is None:
                store.agent_watch.end_repair(repair.id, "open", {"why": "the build was cut off"})
            else:
                state = "built" if result.status == "built" else "not_built"
                told = {"build": result.build, "agent": result.agent, "why": result.why}
                store.agent_watch.end_repair(repair.id, state, told)
