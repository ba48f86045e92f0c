from typing import Any

import pytest

from repertory.catalog.loader import load_catalog
from repertory.catalog.profiles import profile_named
from repertory.planning.instance import GIB
from repertory.planning.llamacpp_memory import llamacpp_rank
from repertory.planning.plan import Plan, make_plan
from repertory.planning.team_needs import team_needs

pytest.importorskip("ortools")

CATALOG = load_catalog()


def plan_for(team: str, devices: str, **options: Any) -> Plan:
    return make_plan(team_needs(team), profile_named(devices, CATALOG), CATALOG, **options)


def value(command: list[str], flag: str) -> str:
    return command[command.index(flag) + 1]


@pytest.mark.parametrize(("team", "slots"), [("coaching", 6), ("engineering", 3)])
def test_llama_cpp_slots(team: str, slots: int) -> None:
    """Agents that fan out from one context keep a slot each; a pipeline has as many as agents that run at once."""
    plan = plan_for(team, "m2_ultra", only="Qwen3-30B-A3B-Instruct-2507" if team == "coaching" else "Qwen3.6-27B")
    document: Any = plan.document()
    (instance,) = document["instances"]
    command = instance["command"]
    assert instance["engine"] == "llama.cpp"
    assert int(value(command, "-np")) == slots == instance["slots"]
    longest = max(needs.context_tokens for needs in team_needs(team).agents.values())
    assert int(value(command, "-c")) == longest * slots == instance["context"]
    assert "--kv-unified" not in command, "slots that share their cells can not be copied"
    assert value(command, "--slot-save-path")


@pytest.mark.parametrize(("team", "devices"), [("engineering", "rtx4090"), ("coaching", "m4_max")])
def test_what_is_reserved_is_what_the_command_takes(team: str, devices: str) -> None:
    plan = plan_for(team, devices)
    for number, item in enumerate(plan.casting.placements):
        document = plan.instance(number, item)
        if document["engine"] != "llama.cpp":
            continue
        started = item.candidate.instance.with_settings(context=document["context"], max_seqs=document["slots"])
        predicted = llamacpp_rank(started, 1e12)
        spare = predicted.weights * (0.01 if started.weights_known else 0.04)
        assert document["memory"]["total_gib"] == pytest.approx((predicted.reserved + spare) / GIB, abs=0.02)


def test_vllm_starts_with_what_its_agents_need() -> None:
    document: Any = plan_for("coaching", "rtx4090").document()
    (instance,) = document["instances"]
    command = instance["command"]
    assert value(command, "--max-model-len") == str(instance["context"]) == "8192"
    assert value(command, "--max-num-seqs") == str(instance["slots"])
    assert 0 < float(value(command, "--gpu-memory-utilization")) <= 0.98
