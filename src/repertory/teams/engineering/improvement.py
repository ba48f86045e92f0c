"""A next version of an agent that is there: the same contract, and its old tests kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from repertory.errors import UsageError
from repertory.registry.registry import Loaded
from repertory.storage.agent_records import AgentRepair
from repertory.teams.engineering.calls import Case
from repertory.teams.engineering.case_text import read_cases
from repertory.teams.engineering.contract_text import read_contract

__all__ = ("Improvement", "repair_wish")


@dataclass(frozen=True)
class Improvement:
    """An agent that is to get a better version.

    Attributes:
        agent: Its name.
        label: The version that is improved, `agent@version`.
        request: What was asked for when it was built.
        contract: What others rely on; it stays.
        tests: What the version passes, and its successor must pass.
    """

    agent: str
    label: str
    request: str
    contract: str
    tests: tuple[Case, ...]

    @classmethod
    def of(cls, loaded: Loaded) -> "Improvement":
        """What a version's package tells of how it was built.

        Raises:
            UsageError: It tells no contract: then nobody knows what must stay.
        """
        evidence = loaded.package.evidence
        contract = str(_fields(evidence.get("contract")).get("text") or "").strip()
        if not contract:
            message = f"{loaded.version.label} was not built by this team: its package holds no contract"
            raise UsageError(message, hint="build a new agent with --contract")
        passed = _fields(evidence.get("tests")).get("passed")
        found = [str(_fields(test).get("test") or "") for test in cast("list[object]", passed or [])]
        return cls(
            agent=loaded.version.agent,
            label=loaded.version.label,
            request=str(evidence.get("request") or loaded.package.manifest.purpose),
            contract=contract,
            tests=_kept(found, contract),
        )

    def task(self, wish: str) -> str:
        """The request for the next version."""
        return f"{self.request.strip()}\n\nThis agent exists already. What must be better: {wish.strip()}"


def repair_wish(repair: AgentRepair) -> str:
    """What a request for repair asks of the team."""
    kinds = _fields(repair.detail.get("kinds"))
    shown = "; ".join(f"{what} ({count} times)" for what, count in kinds.items())
    return f"{repair.reason}. What failed: {shown}." if shown else f"{repair.reason}."


def _kept(texts: Sequence[str], contract: str) -> tuple[Case, ...]:
    """Old tests, read as strictly as new ones: a package is a file that anybody may have written."""
    read = read_contract(contract)
    cases = [case for text in texts for case in read_cases(f"assert {text}", read)]
    return tuple(Case(case.text, origin="contract") for case in dict.fromkeys(cases))


def _fields(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
