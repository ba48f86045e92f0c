# ruff: noqa: E501 - example sentences are not broken

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.teams.coaching.scripted_team import ScriptedTeam

from repertory.errors import StorageError, UsageError
from repertory.runtime.cast import cast_on_one
from repertory.runtime.rules import Merge, Safety, SectionView
from repertory.runtime.turn_result import TokenCounts, TurnResult
from repertory.storage.store import Store
from repertory.teams.coaching import open_team
from repertory.teams.coaching.evaluation import ScenarioReport, built_in_scenarios, play_scenario, summarize
from repertory.teams.coaching.evaluation.checks import evaluate_check
from repertory.teams.coaching.evaluation.progress_file import ProgressFile
from repertory.teams.coaching.evaluation.scenario import Check, Scenario
from repertory.teams.coaching.evaluation.scenario_file import load_scenarios, parse_scenarios

SMALL = """\
version: 1
scenarios:
- id: X1
  title: One message
  inject_faults: {persona: timeout, plasticity: {claim: "user is highly neurotic", evidence: []}}
  sessions:
  - {day: 1, messages: [{id: X1-1a, user: "I'll call two customers tomorrow."}]}
  - {day: 5, messages: [{id: X1-2a, user: "I called two customers. What are my chances?"}]}
  commitments: [{id: k1, made_in: X1-1a, what: calls, outcome: kept}]
  expected: {expected_beta_mean: 0.6, resolution: words for people}
  checks:
  - {after: X1-2a, agent: synth, path: missing_agents, op: contains, value: persona, must: true}
  - {after: X1-2a, agent: synth, path: dropped_claims, op: exists, value: null}
  - {after: X1-2a, agent: shadow, path: prediction.n, op: eq, value: 1}
  - {after: X1-2a, agent: shadow, path: evidence, op: contains, value: X1-2a}
  - {after: X1-2a, agent: synth, path: reply, op: regex, value: "never said"}
"""


def _result(**changes: Any) -> TurnResult:
    sections = {
        "stability": SectionView({"blocked_moves": [{"move": "public_commitment", "evidence": ["m1"]}]}, 1, "t", "written"),
        "persona": SectionView({"ocean": {"A": {"score": 50, "low": 20, "high": 80, "confidence": "low"}}}, 1, "t", "written"),
    }  # fmt: skip
    values: dict[str, Any] = {
        "turn": "t", "session": "s", "user": "u", "team": "coaching", "message": "m1", "status": "complete", "reason": None,
        "first_reply": "Hello.", "reply": "One Person you trust.", "sections": sections, "merge": Merge(), "safety": Safety(),
        "tokens": TokenCounts(0, 0, 0, 0), "timing": {}, "events": (),
    }  # fmt: skip
    return TurnResult(**(values | changes))


@pytest.mark.parametrize(
    ("agent", "path", "op", "value", "holds"),
    [
        ("stability", "blocked_moves", "contains", "public_commitment", True),
        ("stability", "blocked_moves", "not_contains", "diet_target", True),
        ("stability", "blocked_moves.0.evidence", "contains", "X-1", True),
        ("persona", "ocean.A", "width_ge", 60, True),
        ("persona", "ocean.A", "width_ge", 61, False),
        ("persona", "ocean.A.score", "between", [40, 60], True),
        ("persona", "ocean.A.score", "between", [51, 60], False),
        ("persona", "ocean.A.score", "ge", 50, True),
        ("persona", "ocean.A.score", "le", 49, False),
        ("persona", "ocean.A.confidence", "in", ["low", "insufficient"], True),
        ("persona", "ocean.Z.score", "le", 100, False),
        ("persona", "ocean.Z", "absent", None, True),
        ("persona", "ocean.A", "exists", None, True),
        ("shadow", "pattern", "eq", "avoidance", False),
        ("shadow", "pattern", "ne", "avoidance", False),
        ("shadow", "pattern", "not_regex", "x", False),
        ("synth", "reply", "regex", "one (person|reader)", True),
        ("synth", "reply", "not_regex", "hello", False),
        ("synth", "reply.words", "le", 5, True),
        ("coach", "reply", "eq", "Hello.", True),
        ("synth", "conflicts", "absent", None, True),
        ("synth", "claims_without_evidence", "eq", 0, True),
        ("system", "safety.level", "eq", "none", True),
        ("system", "safety.route", "ne", "normal", False),
    ],
)
def test_operators(agent: str, path: str, op: str, value: Any, holds: bool) -> None:
    check = Check.model_validate({"after": "X-1", "agent": agent, "path": path, "op": op, "value": value})
    assert evaluate_check(check, _result(), {"X-1": "m1"})[0] is holds


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("version: 2\nscenarios: []", "f:1:1", "version"),
        (SMALL.replace("op: exists", "op: is"), "f:13:56", "checks.1.op"),
        (SMALL.replace('"never said"', '"(never"'), "f:16:5", "regular expression"),
        (SMALL.replace("after: X1-2a, agent: shadow, path: prediction.n", "after: X9, agent: shadow, path: prediction.n"), "f:3:3", "'X9'"),
        (SMALL.replace("made_in: X1-1a", "made_in: X7"), "f:3:3", "'X7'"),
        (SMALL.replace("{day: 5", "{day: 0"), "f:8:6", "day"),
        (SMALL + "  wrong: 1\n", "f:17:3", "wrong"),
        ("a: [", "f:1:", ""),
        ("", "f", "empty"),
    ],
)  # fmt: skip
def test_mistakes_are_told_at_their_place(text: str, place: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_scenarios(text, file="f")
    assert (caught.value.where or "").startswith(place)
    assert words in caught.value.message


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    for name in ("absent.yaml", "bytes.yaml", "."):
        with pytest.raises(UsageError):
            load_scenarios(tmp_path / name)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "evaluation.sqlite") as opened:
        yield opened


async def _play(scenario: Scenario, store: Store) -> ScenarioReport:
    team, rules = open_team(country="US")
    model = ScriptedTeam(store).model
    return await play_scenario(scenario, team=team, rules=rules, cast=cast_on_one(team, model), store=store)


async def test_a_scenario_is_played_and_checked(store: Store) -> None:
    [scenario] = parse_scenarios(SMALL, file="f").scenarios
    report = await _play(scenario, store)
    failed = [check for check in report.checks if not check.passed]
    assert [(check.check.split()[2], check.must) for check in failed] == [("regex", False)]
    assert failed[0].found
    assert report.failed_musts == []
    assert report.not_scored == ["resolution"]
    assert [turn.message for turn in report.turns] == ["X1-1a", "X1-2a"]
    total = summarize([report])
    assert total.must_passed == total.must_total >= 7
    assert (total.sections_valid, total.sections_total) == (6, 6)  # the faulty agents of the last session do not count
    assert total.share is not None
    assert 0.5 < total.share < 1


async def test_the_built_in_scenarios_hold_what_must_hold_on_a_model_that_knows_nothing(store: Store) -> None:
    for scenario in built_in_scenarios().scenarios:
        report = await _play(scenario, store)
        assert report.failed_musts == [], scenario.id


async def test_finished_scenarios_are_kept_for_their_model_and_text(store: Store, tmp_path: Path) -> None:
    [scenario] = parse_scenarios(SMALL, file="f").scenarios
    path = tmp_path / "deep" / "progress.json"
    progress = ProgressFile(path, "a")
    assert progress.finished(scenario) is None
    report = await _play(scenario, store)
    progress.keep(scenario, report)
    assert ProgressFile(path, "a").finished(scenario) == report
    assert ProgressFile(path, "b").finished(scenario) is None
    changed = scenario.model_copy(update={"title": "other"})
    assert ProgressFile(path, "a").finished(changed) is None
    path.write_text("{")
    with pytest.raises(StorageError, match="not the progress"):
        ProgressFile(path, "a")
