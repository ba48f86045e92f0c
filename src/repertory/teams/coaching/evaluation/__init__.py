"""Measuring the coaching team: scenario files played against any engine, checked by rule, reported per check."""

from repertory.teams.coaching.evaluation.play import play_scenario
from repertory.teams.coaching.evaluation.report import CheckResult, ScenarioReport, summarize
from repertory.teams.coaching.evaluation.scenario import Scenario, ScenarioFile
from repertory.teams.coaching.evaluation.scenario_file import built_in_scenarios, load_scenarios

__all__ = (
    "CheckResult",
    "Scenario",
    "ScenarioFile",
    "ScenarioReport",
    "built_in_scenarios",
    "load_scenarios",
    "play_scenario",
    "summarize",
)
