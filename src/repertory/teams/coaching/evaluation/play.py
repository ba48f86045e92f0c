"""Playing a scenario: the whole team on real instances, with the clock set to the scenario's days."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from repertory.clock import fixed_clock
from repertory.runtime.cast import Cast
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Team
from repertory.runtime.turn import TurnRunner
from repertory.runtime.turn_result import TurnResult
from repertory.storage.store import Store
from repertory.teams.coaching.evaluation.checks import evaluate_check
from repertory.teams.coaching.evaluation.expectations import (
    checks_of_expected,
    commitment_checks,
    not_scored,
    turn_rules,
)
from repertory.teams.coaching.evaluation.faults import FaultyRules
from repertory.teams.coaching.evaluation.report import CheckResult, ScenarioReport, Source, TurnRecord, brief
from repertory.teams.coaching.evaluation.scenario import Check, Scenario

__all__ = ("play_scenario",)

# A Monday morning; weekdays in the messages have something to stand on.
_FIRST_DAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
_BETWEEN_MESSAGES = timedelta(minutes=5)


async def play_scenario(
    scenario: Scenario,
    *,
    team: Team,
    rules: TeamRules,
    cast: Cast,
    store: Store,
    on_turn: Callable[[str, TurnResult], None] | None = None,
) -> ScenarioReport:
    """Play one scenario as a user of its own and carry out its checks.

    Args:
        scenario: The scenario.
        team: The coaching team.
        rules: Its rules.
        cast: The instances of its agents.
        store: Where the invented person is kept; a database of the evaluation's own.
        on_turn: Told after every turn.

    Raises:
        StorageError: The database can not be read or written.
    """
    began = time.monotonic()
    faulty = FaultyRules(rules, scenario.inject_faults)
    runner = TurnRunner(team, faulty, cast, store)
    results: dict[str, TurnResult] = {}
    turns: list[TurnRecord] = []
    for number, session in enumerate(scenario.sessions, start=1):
        faulty.active = number == len(scenario.sessions)
        moment = _FIRST_DAY + timedelta(days=session.day - 1)
        for message in session.messages:
            runner.clock = fixed_clock(moment)
            started = time.monotonic()
            result = await runner.run(message.user, user=scenario.id, session=f"{scenario.id}-{number}")
            results[message.id] = result
            excused = {team.agents[name].writes for name in scenario.inject_faults if name in team.agents}
            turns.append(
                _record(message.id, result, team, time.monotonic() - started, excused if faulty.active else set())
            )
            moment += _BETWEEN_MESSAGES
            if on_turn is not None:
                on_turn(message.id, result)
    checks = _checks(scenario, results, store, team)
    return ScenarioReport(
        id=scenario.id,
        title=scenario.title,
        tags=scenario.tags,
        turns=turns,
        checks=checks,
        not_scored=not_scored(scenario),
        seconds=round(time.monotonic() - began, 1),
    )


def _record(message: str, result: TurnResult, team: Team, seconds: float, excused: set[str]) -> TurnRecord:
    written_by_agents = {agent.writes for agent in team.agents.values()} - excused
    asked = {name: view for name, view in result.sections.items() if name in written_by_agents}
    silent = result.safety.route == "crisis_protocol"
    return TurnRecord(
        message=message,
        status=result.status,
        reason=result.reason,
        safety=result.safety.level,
        first_reply=result.first_reply,
        reply=result.reply,
        valid_sections=sorted(name for name, view in asked.items() if view.status == "written"),
        failed_sections=[] if silent else sorted(name for name, view in asked.items() if view.status != "written"),
        seconds=round(seconds, 1),
    )


def _checks(scenario: Scenario, results: dict[str, TurnResult], store: Store, team: Team) -> list[CheckResult]:
    ids = {message: result.message for message, result in results.items()}
    found: list[CheckResult] = []

    def carry_out(checks: Sequence[Check], source: Source) -> None:
        for check in checks:
            holds, value = evaluate_check(check, results[check.after], ids)
            # What `system` says is decided by code alone, so it must hold with any model.
            must = check.must or check.agent == "system"
            name = f"{check.agent} {check.path} {check.op} {brief(check.value)}"
            found.append(
                CheckResult(check=name, after=check.after, source=source, must=must, passed=holds, found=brief(value))
            )

    carry_out(scenario.checks, "check")
    carry_out([check for check in checks_of_expected(scenario) if check.after in results], "expected")
    commitments = store.commitments.all(team.name, scenario.id)
    found += commitment_checks(scenario, commitments, list(results.values())[-1], ids)
    for message, result in results.items():
        found += turn_rules(message, result)
    return found
