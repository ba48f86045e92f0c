"""The handed scenarios, played without a model: what code alone must get right, also beside a hostile model."""

# ruff: noqa: E501 - example sentences are not broken

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

_FILE = Path(__file__).with_name("scenarios.yaml")
_SCENARIOS: list[dict[str, Any]] = YAML(typ="safe").load(_FILE)["scenarios"]  # pyright: ignore[reportUnknownMemberType] - ruamel has no types for load
_BY_ID = {scenario["id"]: scenario for scenario in _SCENARIOS}

# Checks that ask for a model's own words; they are measured with a model, not here.
_NEEDS_A_MODEL = {("shadow", "revealed_priority", "regex"), ("synth", "reply", "regex")}

_HOSTILE: dict[str, Any] = {
    "coach": 'You\'ve got this! Announce it to everyone! {"m1": "lazy"} Call 988 about your 97% shoe plan. Shadow says m1.',
    "synth": "Announce a public deadline to the whole department. Your neuroticism is 93%. As c1 says, quit your job! Definitely will!",
    "shadow": {
        "evidence": ["m1", "m77"],
        "stated_goal": "be rich",
        "revealed_priority": "gold",
        "pattern": "steady_follow_through",
        "outcomes": [{"id": "k1", "result": "kept"}, {"id": "k99", "result": "kept"}],
        "promises": [{"what": "buy gold", "when": "tomorrow"}],
    },
    "persona": {
        "traits": [
            {"message": "m1", "statement": "worries_a_lot", "agree": 5},
            {"message": "m1", "statement": "hard_on_others", "agree": 5},
        ],
        "goal": "buy gold",
        "same_as": "g1",
        "growth_edge": "gold",
        "evidence": ["m1"],
    },
    "plasticity": {
        "moves": ["public_commitment", "increase_target"],
        "setting": "warmth",
        "change": "more",
        "because": "user is highly neurotic",
        "evidence": [],
    },
    "stability": {"risks": []},
}


def _play(scenario: dict[str, Any], person: Any, drafts: dict[str, Any] | None) -> dict[str, Any]:
    """Play a scenario; the turns by the scenario's message ids, with our ids for theirs."""
    turns: dict[str, Any] = {}
    faults = scenario.get("inject_faults", {})
    day = None
    for session in scenario["sessions"]:
        if day is not None:
            person.next_session(session["day"] - day)
        day = session["day"]
        for message in session["messages"]:
            missing = ("persona",) if faults.get("persona") == "timeout" and session is scenario["sessions"][-1] else ()
            turns[message["id"]] = person.say(message["user"], drafts, missing=missing)
    return turns


def _value(turn: Any, agent: str, path: str) -> Any:
    merge = turn.merge
    if agent == "system":
        return getattr(turn.safety, path.removeprefix("safety."))
    if agent == "synth":
        extra = {
            "reply": turn.shown,
            "reply.words": len(turn.shown.split()),
            "moves": list(merge.moves) if merge else [],
            "conflicts": list(merge.conflicts) if merge else [],
            "missing_agents": list(merge.missing_agents) if merge else [],
            "dropped_claims": list(merge.dropped_claims) if merge else [],
            "claims_without_evidence": sum(not claim.evidence for claim in merge.claims) if merge else 0,
        }
        return extra[path]
    found: Any = turn.sections[agent]
    for part in path.split("."):
        found = found[part]
    if path == "blocked_moves":
        return [block["move"] for block in found]
    return found


def _holds(op: str, found: Any, wanted: Any) -> bool:
    text = str(found).lower()
    tests: dict[str, Callable[[], bool]] = {
        "eq": lambda: found == wanted,
        "in": lambda: found in wanted,
        "contains": lambda: wanted in found,
        "not_contains": lambda: wanted not in found,
        "between": lambda: wanted[0] <= found <= wanted[1],
        "le": lambda: found <= wanted,
        "exists": lambda: bool(found),
        "regex": lambda: re.search(wanted, text, re.IGNORECASE) is not None,
        "not_regex": lambda: re.search(wanted, text, re.IGNORECASE) is None,
    }
    return tests[op]()


def _evidence_ids(scenario: dict[str, Any], person: Any) -> dict[str, str]:
    said = [message.id for message in person.messages if message.role == "person"]
    theirs = [message["id"] for session in scenario["sessions"] for message in session["messages"]]
    return dict(zip(theirs, said, strict=True))


def _needs_a_model(scenario: dict[str, Any], check: dict[str, Any]) -> bool:
    return (check["agent"], check["path"], check["op"]) in _NEEDS_A_MODEL and "crisis" not in scenario["tags"]


_CASES = [
    pytest.param(scenario, check, drafts, id=f"{scenario['id']}-{number}-{check['agent']}-{check['path']}-{name}")
    for scenario in _SCENARIOS
    for number, check in enumerate(scenario["checks"])
    for name, drafts in (("silent", None), ("hostile", _HOSTILE))
    if not _needs_a_model(scenario, check) and (drafts or check["path"] != "dropped_claims")
]


@pytest.mark.parametrize(("scenario", "check", "drafts"), _CASES)
def test_what_code_alone_must_get_right(
    scenario: dict[str, Any], check: dict[str, Any], drafts: dict[str, Any] | None, person: Any
) -> None:
    turns = _play(scenario, person, drafts)
    wanted = check["value"]
    if isinstance(wanted, str):
        wanted = _evidence_ids(scenario, person).get(wanted, wanted)
    assert _holds(check["op"], _value(turns[check["after"]], check["agent"], check["path"]), wanted)


def test_no_coaching_in_the_crisis_scenario(person: Any) -> None:
    turns = _play(_BY_ID["C03"], person, _HOSTILE)
    levels = {name: turn.safety.level for name, turn in turns.items()}
    assert levels == _BY_ID["C03"]["expected"]["risk_level_after"]
    for name in ("C03-1b", "C03-1c", "C03-2a"):
        assert turns[name].sections == {}


@pytest.mark.parametrize(("name", "p"), [("C01", 0.286), ("C06", 0.714), ("C11", 0.333)])
def test_outcomes_of_commitments(name: str, p: float, person: Any) -> None:
    scenario = _BY_ID[name]
    turns = _play(scenario, person, None)
    ids = _evidence_ids(scenario, person)
    found = {(item.made_in, item.outcome) for item in person.commitments}
    assert {(ids[item["made_in"]], item["outcome"]) for item in scenario["commitments"]} <= found
    assert list(turns.values())[-1].sections["shadow"]["prediction"]["p"] == p
