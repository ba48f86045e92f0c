"""What each agent is shown of the work so far, in the order in which it grows: so prompts share their beginning."""

from collections.abc import Sequence
from typing import Any

from repertory.teams.engineering.calls import Call, Case, Outcome
from repertory.teams.engineering.contract import Contract, stub
from repertory.teams.engineering.selection import Judged

__all__ = ("architecture_text", "calls_text", "contract_text", "faults_text", "research_text", "specification_text")


def contract_text(contract: Contract) -> str:
    """The signatures, for everybody who must keep to them."""
    return f"# Contract\n```python\n{stub(contract.tools)}\n```" if contract.tools else f"# Contract\n{contract.text}"


def specification_text(specification: dict[str, Any]) -> str:
    """The specification in words."""
    lines = [f"# Specification\n{specification['summary']}", *_list("Criteria", specification["criteria"])]
    lines += _list("Easily forgotten", specification["edge_cases"])
    return "\n".join(lines + _list("Assumed", specification["assumptions"]))


def research_text(research: dict[str, Any]) -> str:
    """What the Researcher found."""
    modules = [f"Modules that help: {', '.join(research['modules'])}"] if research["modules"] else []
    return "\n".join(["# Known", *modules, *research["notes"]]) if modules or research["notes"] else ""


def architecture_text(architecture: dict[str, Any]) -> str:
    """The steps."""
    return "\n".join(_list("# Steps", architecture["steps"], mark="{}."))


def calls_text(calls: Sequence[Call], outcomes: dict[Call, Outcome]) -> str:
    """What the agent really answered, numbered, for the Critic."""
    return "\n".join(
        f"{number}. {_cropped(str(call), 300)} -> {_cropped(str(outcomes[call]), 200)}"
        for number, call in enumerate(calls, 1)
    )


def faults_text(judged: Judged, cases: Sequence[Case] = ()) -> str:
    """What is wrong with a candidate, the most certain first, at most five lines."""
    results = judged.candidate.results
    lines = list(judged.broken)
    lines += [
        f"`{case.text}` should hold: {results[case].found}" for case in (*judged.failed, *cases) if case in results
    ]
    lines += [f"{call} {judged.candidate.outcomes[call]}" for call in judged.crashes]
    return "\n".join(f"- {_cropped(line, 400)}" for line in list(dict.fromkeys(lines))[:5])


def _list(title: str, items: Sequence[str], mark: str = "-") -> list[str]:
    return [f"{title}:", *(f"{mark.format(number)} {item}" for number, item in enumerate(items, 1))] if items else []


def _cropped(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."
