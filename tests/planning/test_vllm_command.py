"""The command of a planned vLLM instance."""

from typing import Any

import pytest

from repertory.catalog.loader import load_catalog
from repertory.catalog.profiles import profile_named
from repertory.planning.plan import make_plan
from repertory.planning.team_needs import team_needs

pytest.importorskip("ortools")


def test_a2_white_space_under_a_grammar_is_turned_off() -> None:
    catalog = load_catalog()
    document: Any = make_plan(team_needs("coaching"), profile_named("2xrtx4090", catalog), catalog).document()
    commands = [one["command"] for one in document["instances"] if "vllm" in one["command"]]
    assert commands
    for command in commands:
        assert command[command.index("--structured-outputs-config.disable_any_whitespace") + 1] == "true"
        # vLLM takes that setting only with a backend that is named.
        assert command[command.index("--structured-outputs-config.backend") + 1] == "xgrammar"
