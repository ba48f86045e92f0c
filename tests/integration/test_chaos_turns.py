"""Whole turns on an engine that misbehaves in 30 % of its calls, judged by an oracle that sees only the engine."""

from pathlib import Path
from random import Random

import pytest
from benchmarks.chaos_faults import FAULTS
from benchmarks.chaos_oracle import AGENTS, Served, expected_status
from benchmarks.chaos_turns import KINDS, play

from repertory.engines.profile import EngineKind
from repertory.testing.virtual_time import virtual_time

TURNS = 12
"""On each of five engines."""


def served(**faults: str | None) -> list[Served]:
    return [Served(agent, fault) for agent, fault in faults.items()]


ALL_WELL: dict[str, str | None] = dict.fromkeys(AGENTS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_turn_ends_in_time_with_the_right_status_and_leaves_nothing_open(
    kind: EngineKind, tmp_path: Path
) -> None:
    with virtual_time() as run:
        rows = run(play(kind, TURNS, Random(f"chaos {kind}"), 0.3, tmp_path))
    assert [row.wrong for row in rows if row.wrong] == []
    assert sum(one.fault is not None for row in rows for one in row.served) >= TURNS


def test_without_faults_every_turn_is_complete(tmp_path: Path) -> None:
    """Else the oracle would have nothing to tell apart."""
    with virtual_time() as run:
        rows = run(play(EngineKind.VLLM, 2, Random(1), 0.0, tmp_path))
    assert [(row.status, row.wrong) for row in rows] == [("complete", ())] * 2


def test_when_everything_fails_every_turn_says_so(tmp_path: Path) -> None:
    with virtual_time() as run:
        rows = run(play(EngineKind.OPENAI, 2, Random(2), 1.0, tmp_path))
    assert [row.wrong for row in rows if row.wrong] == []
    assert {row.status for row in rows} <= {"partial", "failed"}


def test_the_oracle() -> None:
    assert expected_status(served(**ALL_WELL), "Hello.") == "complete"
    assert expected_status(served(**{**ALL_WELL, "shadow": "http 500"}), "Hello.") == "partial"
    assert expected_status([*served(**{**ALL_WELL, "coach": "silence"}), Served("coach", None)], "Hello.") == "complete"
    assert expected_status(served(**{**ALL_WELL, "coach": "cut in the middle"}), "Thank you") == "partial"
    assert expected_status(served(coach="silence", shadow=None, synth="no json"), "") == "failed"
    assert expected_status(served(coach="silence", shadow=None, synth=None), "") == "partial"
    assert expected_status([], "") == "failed"


def test_there_are_many_faults() -> None:
    assert len(FAULTS) >= 20
