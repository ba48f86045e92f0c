"""A request carried through the nine agents: who is asked what, what is run, when it is enough.

The order and every decision that matters is code. Models propose; the runner's results decide. Small models gain most
from several drafts filtered by execution and little from repairing their own code, so fresh drafts come first.
"""

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from repertory.runtime.direct_call import DirectCalls
from repertory.teams.engineering.allowed_modules import MODULES_DRAFT
from repertory.teams.engineering.audit import audit_source
from repertory.teams.engineering.briefs import (
    architecture_text,
    calls_text,
    contract_text,
    faults_text,
    research_text,
    specification_text,
)
from repertory.teams.engineering.calls import Call, Case
from repertory.teams.engineering.case_text import called_in, read_cases, voted
from repertory.teams.engineering.code_text import check_code, read_code
from repertory.teams.engineering.completion import complete_source
from repertory.teams.engineering.contract import Contract
from repertory.teams.engineering.decision import decide
from repertory.teams.engineering.execution import Examiner
from repertory.teams.engineering.inputs import distinguishing_calls, out_of_bounds_cases
from repertory.teams.engineering.knowledge import Note
from repertory.teams.engineering.selection import MOST_CRASHES, Candidate, Judged, Selection, select
from repertory.teams.engineering.tester_words import testing_task
from repertory.teams.engineering.written_contract import contract_of, with_functions

__all__ = ("Build", "Built", "Effort")

_DISTINGUISHING = 16
"""Calls made by code for each tool."""

_SHOWN_CALLS = 10
"""Calls whose results the Critic reads."""

_TEMPERATURES = (0.2, 0.7, 0.7, 0.9)
_REPAIR_TEMPERATURES = (0.2, 0.7)
_TESTER_TEMPERATURES = (0.2, 0.6, 0.8)


@dataclass(frozen=True)
class Effort:
    """How much work a build may be.

    Attributes:
        drafts: Drafts of the code at most.
        repairs: Rounds in which a draft is mended with its faults shown.
    """

    drafts: int = 12
    repairs: int = 2


_EFFORT = {"trivial": Effort(4, 1), "easy": Effort(8, 2), "medium": Effort(12, 2), "hard": Effort(12, 2)}


@dataclass
class Built:
    """What came of the agents' work, before release.

    Attributes:
        why: Why it may not be released; None when it may.
    """

    contract: Contract
    specification: dict[str, Any]
    research: dict[str, Any]
    architecture: dict[str, Any]
    instructions: dict[str, Any] | None = None
    selection: Selection = field(default_factory=lambda: Selection((), (), ()))
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    review: dict[str, Any] | None = None
    audit: list[str] = field(default_factory=list[str])
    decisions: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    why: str | None = None

    @property
    def best(self) -> Judged | None:
        """The candidate to release."""
        return self.selection.best


class Build:
    """One request on its way to an agent with tools.

    Args:
        calls: The agents.
        examiner: Runs code.
        contract: The contract that the person gave; None lets the team write one.
        notes: What the Researcher's shelf holds on the request.
        kept: Tests that an earlier version passes, so that this one must.
    """

    def __init__(
        self,
        calls: DirectCalls,
        examiner: Examiner,
        contract: Contract | None,
        notes: Sequence[Note] = (),
        kept: Sequence[Case] = (),
    ) -> None:
        self._calls = calls
        self._examiner = examiner
        self._given = contract
        self._notes = tuple(notes)
        self._kept = tuple(kept)
        self._cases: list[Case] = []
        self._probes: list[Call] = []
        self._candidates: list[Candidate] = []

    async def run(self) -> Built:
        """Carry the request through.

        Raises:
            OutputError: An agent without whom nothing can be built gave no usable answer.
            RepertoryError: The engine or the sandbox can not be used.
        """
        specification = await self._specify()
        contract = self._given or contract_of(specification["functions"])
        shown = f"{contract_text(contract)}\n\n{specification_text(specification)}"
        research = await self._research(shown)
        known = "\n\n".join(part for part in (shown, research_text(research)) if part)
        architecture, _ = await asyncio.gather(self._design(known), self._write_tests(shown, contract))
        built = Built(contract, specification, research, architecture)
        task = f"{known}\n\n{architecture_text(architecture)}"
        plain = "\n\n".join(part for part in (contract_text(contract), research_text(research)) if part)
        effort = _EFFORT[architecture["difficulty"]]
        described = asyncio.create_task(self._describe(task, contract))
        try:
            await self._draft((plain, task), built, effort)
            await self._rework(task, built, effort)
            await self._review(shown, built)
            built.audit += await self._audit(shown, built)
            built.instructions = await described
        finally:
            described.cancel()
        built.candidates = self._candidates
        built.why = verdict(built) or self._lost(built)
        return built

    def _lost(self, built: Built) -> str | None:
        """What an earlier version did and this one does not."""
        failed = {case.text for case in built.best.failed} if built.best else set[str]()
        lost = next((case for case in self._kept if case.text in failed), None)
        return f"`{lost.text}` held in the version before and fails now" if lost is not None else None

    async def _specify(self) -> dict[str, Any]:
        schema = self._calls.team.sections["specification"].json_schema or {}
        if self._given is None:
            schema = with_functions(schema)
        shown = contract_text(self._given) if self._given is not None else ""
        return (await self._calls.fill("requirements_analyst", shown, schema=schema)).require()

    async def _research(self, shown: str) -> dict[str, Any]:
        """What the Researcher's shelf holds is found by code; of the libraries, it chooses."""
        result = await self._calls.fill("researcher", shown, schema=MODULES_DRAFT)
        modules: list[str] = result.value["modules"] if result.value else []
        return {"modules": list(dict.fromkeys(modules)), "notes": [str(note) for note in self._notes]}

    async def _design(self, shown: str) -> dict[str, Any]:
        result = await self._calls.fill("architect", shown)
        return result.value or {"steps": [], "difficulty": "medium", "keeps_state": False}

    async def _write_tests(self, shown: str, contract: Contract) -> None:
        task = f"{shown}\n\n{testing_task(contract)}"
        answers = await self._calls.say("tester", task, temperatures=_TESTER_TEMPERATURES)
        old = {case.text for case in self._kept}
        written = voted(read_cases(answer.text or answer.partial, contract) for answer in answers)
        self._cases = [*self._kept, *(case for case in written if case.text not in old)]
        seeds = called_in(self._cases, contract)
        self._cases = [*out_of_bounds_cases(contract, seeds), *self._cases]
        self._probes = [*seeds, *distinguishing_calls(contract, seeds, count=_DISTINGUISHING)]

    async def _describe(self, shown: str, contract: Contract) -> dict[str, Any] | None:
        result = await self._calls.fill("prompt_engineer", f"{shown}\n\nTools: {', '.join(contract.tool_names)}")
        return result.value

    async def _draft(self, tasks: Sequence[str], built: Built, effort: Effort) -> None:
        """Draft until a candidate is good enough, or the effort or the time is used up.

        The drafts are written in turn without and with the specification and the steps: a plan helps where it is good,
        and a small model's plan often is not, so its mistakes must not be in every draft.
        """
        for task in itertools.cycle(tasks):
            if len(self._candidates) >= effort.drafts or not self._has_time():
                return
            await self._add(await self._write(task, built.contract), built)
            if is_settled(built.selection):
                return

    async def _rework(self, task: str, built: Built, effort: Effort) -> None:
        """Mend the best draft or write new ones, as the Orchestrator decides, while faults and rounds are left."""
        for left in range(effort.repairs, 0, -1):
            best = built.best
            if (best is not None and is_good(best)) or not self._has_time():
                return
            decision, why = await decide(self._calls, task, built.selection, rounds_left=left)
            built.decisions.append({"decision": decision, "why": why})
            if decision == "stop":
                return
            if decision == "redraft" or best is None:
                await self._add(await self._write(task, built.contract), built)
                continue
            faults = (
                f"{task}\n\n# Draft\n```python\n{best.candidate.source}```\n\n"
                f"# What is wrong with it\n{faults_text(best)}\n"
                "Say in one sentence what causes it, then write the whole file again, corrected."
            )
            await self._add(await self._write(faults, built.contract, _REPAIR_TEMPERATURES), built)

    async def _write(
        self, task: str, contract: Contract, temperatures: Sequence[float] = _TEMPERATURES
    ) -> list[Candidate]:
        number = len(self._candidates)
        answers = await self._calls.say("builder", task, temperatures=temperatures, first_seed=number)
        drafts: list[Candidate] = []
        for at, answer in enumerate(answers, number):
            source = complete_source(read_code(answer.text or answer.partial), [note.code for note in self._notes])
            problems = check_code(source, contract) or audit_source(source)
            drafts.append(Candidate(at, source, load_error="; ".join(problems) or None))
        return drafts

    async def _add(self, drafts: Sequence[Candidate], built: Built) -> None:
        self._candidates += drafts
        names = built.contract.tool_names
        self._candidates = await self._examiner.examine(self._candidates, self._probes, self._cases, names)
        built.selection = select(built.contract, self._candidates, self._cases, self._probes)

    async def _review(self, shown: str, built: Built) -> None:
        """The Critic reads what the best candidate really answers."""
        best = built.best
        if best is None or not self._has_time():
            return
        calls = self._probes[:_SHOWN_CALLS]
        answers = f"{shown}\n\n# Calls and answers\n{calls_text(calls, best.candidate.outcomes)}"
        built.review = (await self._calls.fill("critic", answers)).value

    async def _audit(self, shown: str, built: Built) -> list[str]:
        best = built.best
        if best is None or not self._has_time():
            return []
        result = await self._calls.fill("security_auditor", f"{shown}\n\n# Code\n```python\n{best.candidate.source}```")
        return list(result.value["concerns"]) if result.value else []

    def _has_time(self) -> bool:
        return time.monotonic() < self._calls.deadline - _CLOSING_S


_CLOSING_S = 20.0
"""Seconds kept for the verdict and the release."""


def is_good(judged: Judged) -> bool:
    """Whether nothing that was run speaks against a candidate."""
    return not judged.broken and not judged.failed and not judged.crashes


def is_settled(selection: Selection) -> bool:
    """Whether more drafts would change nothing: a good candidate that others agree with."""
    best = selection.best
    return best is not None and is_good(best) and best.group > 1 and len(best.passed) > 2


_ENOUGH_TESTS = 3
_ENOUGH_PASSED = 0.75


def verdict(built: Built) -> str | None:
    """Why a build is not to be released; None when it may be. Only what was run counts."""
    best = built.best
    if best is None:
        errors = [judged.candidate.load_error for judged in built.selection.ranked if judged.candidate.load_error]
        return f"no draft could be run: {errors[0]}" if errors else "no draft was written"
    if best.broken:
        return f"the best draft breaks the contract: {best.broken[0]}"
    kept = len(best.passed) + len(best.failed)
    if kept and len(best.passed) / kept < _ENOUGH_PASSED:
        return f"the best draft passes {len(best.passed)} of {kept} tests; `{best.failed[0].text}` fails"
    if kept == 0 or (kept < _ENOUGH_TESTS and best.group < 2):
        return f"only {kept} tests could be settled and {best.group} drafts agree, so nothing shows that it is right"
    calls = len(best.candidate.outcomes)
    if calls and len(best.crashes) / calls > MOST_CRASHES:
        return f"the best draft fails with an error on {len(best.crashes)} of {calls} calls, such as {best.crashes[0]}"
    return None
