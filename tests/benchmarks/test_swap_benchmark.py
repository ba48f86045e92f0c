"""What the swap benchmark counts and claims, without an engine."""

import copy
import os
from pathlib import Path
from typing import Any

import pytest
from benchmarks.swap import MODELS, Pair, broken_claims, drop_from_page_cache

from repertory.home import Home

HELD: dict[str, Any] = {
    "grouping": {"all_at_once": {"swaps": 1}, "agents_that_keep_asking": {"swaps": 4}},
    "summary": {model: {"predicted_to_measured": 1.1} for model in MODELS},
}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("grouping", "all_at_once", "swaps"), 2, "at once"),
        (("grouping", "agents_that_keep_asking", "swaps"), 5, "keep asking"),
        (("summary", MODELS[0], "predicted_to_measured"), 2.1, "prediction"),
        (("summary", MODELS[1], "predicted_to_measured"), 0.4, "prediction"),
        (("summary", MODELS[1], "predicted_to_measured"), None, "prediction"),
    ],
)
def test_a_claim_that_does_not_hold_is_named(path: tuple[str, str, str], value: float | None, said: str) -> None:
    assert broken_claims(HELD) == []
    result = copy.deepcopy(HELD)
    result[path[0]][path[1]][path[2]] = value
    (broken,) = broken_claims(result)
    assert said in broken


def test_swaps_are_counted_by_who_answered(tmp_path: Path) -> None:
    a, b = MODELS
    pair = Pair(Home(root=tmp_path, models=tmp_path), {})
    pair.answered += [a, a, b, b, a]
    assert pair.swaps() == 2
    pair.answered += [b]
    assert pair.swaps() == 1, "the swap between two counts is lost"
    assert pair.swaps() == 0


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system drops no file from its page cache")
def test_a_file_leaves_the_page_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "weights"
    with file.open("wb") as out:
        out.write(os.urandom(1 << 20))
        out.flush()
        os.fsync(out.fileno())
    if drop_from_page_cache(file) != 0:
        pytest.skip("this file system keeps its files in memory")
    file.read_bytes()

    def keep(*arguments: int) -> None:
        pass

    monkeypatch.setattr(os, "posix_fadvise", keep)
    assert drop_from_page_cache(file) == 1
