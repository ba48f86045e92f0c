"""The schedule that follows from the fresh reads."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertory.errors import TeamError
from repertory.runtime.schedule import derive_schedule, find_cycles, fresh_waits
from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team


def team(
    waits: dict[str, list[str]],
    *,
    soft: tuple[tuple[str, str], ...] = (),
    latest: dict[str, list[str]] | None = None,
    first: str | None = None,
    full: str | None = None,
) -> Team:
    """A team in which each agent writes a section of its own; `waits` says whose section it reads fresh."""
    agents: dict[str, Agent] = {}
    for name, others in waits.items():
        reads = {
            f"s_{other}": Read(mode=ReadMode.FRESH, within_s=30 if (name, other) in soft else None) for other in others
        }
        reads |= {f"s_{other}": Read() for other in (latest or {}).get(name, [])}
        agents[name] = Agent(instructions="-", writes=f"s_{name}", reads=reads)
    return Team(
        name="t",
        preamble="-",
        sections={f"s_{name}": Section(text=True) for name in waits},
        agents=agents,
        replies=Replies(first=f"s_{first}" if first else None, full=f"s_{full}" if full else None),
    )


COACHING = team(
    {
        "synth": ["shadow", "persona", "plasticity", "stability"],
        "stability": [],
        "plasticity": [],
        "persona": [],
        "shadow": [],
        "coach": [],
    },
    soft=(("synth", "persona"), ("synth", "plasticity"), ("synth", "stability")),
    latest={"plasticity": ["persona"]},
    first="coach",
    full="synth",
)


def test_coaching_runs_five_at_once_and_then_synth() -> None:
    schedule = derive_schedule(COACHING)
    assert schedule.stages == (("stability", "plasticity", "persona", "shadow", "coach"), ("synth",))
    assert schedule.waits_for["synth"] == ("stability", "plasticity", "persona", "shadow")
    assert schedule.waits_for["plasticity"] == ()  # `latest` never waits
    assert schedule.steps == 2


def test_the_first_reply_is_most_urgent_then_the_gate_without_a_deadline() -> None:
    schedule = derive_schedule(COACHING)
    assert schedule.critical_path == ("shadow", "synth")
    assert schedule.priorities == {
        "coach": 0, "shadow": 1, "synth": 1, "persona": 2, "plasticity": 2, "stability": 2,
    }  # fmt: skip


def test_all_agents_of_equal_chains_are_critical() -> None:
    schedule = derive_schedule(team({"a": [], "b": [], "c": [], "last": ["a", "b"]}))
    assert schedule.critical == {"a", "b", "last"}
    assert schedule.priorities["c"] > schedule.priorities["a"] == schedule.priorities["b"]


def test_of_equal_chains_the_one_the_person_waits_for_is_named() -> None:
    schedule = derive_schedule(team({"a": [], "b": [], "log": ["a"], "answer": ["b"]}, full="answer"))
    assert schedule.critical_path == ("b", "answer")


def test_a_long_chain() -> None:
    names = [f"a{number}" for number in range(300)]
    schedule = derive_schedule(team({name: names[:position][-1:] for position, name in enumerate(names)}))
    assert schedule.critical_path == tuple(names)
    assert schedule.stages == tuple((name,) for name in names)


def test_one_agent() -> None:
    schedule = derive_schedule(team({"only": []}, full="only"))
    assert (schedule.stages, schedule.critical_path, schedule.waits_for) == ((("only",),), ("only",), {"only": ()})


@pytest.mark.parametrize(
    ("waits", "path"),
    [
        ({"a": ["a"]}, "a -> a"),
        ({"a": ["b"], "b": ["a"]}, "a -> b -> a"),
        ({"free": [], "a": ["b", "free"], "b": ["c"], "c": ["a"], "after": ["a"]}, "a -> b -> c -> a"),
    ],
)
def test_a_cycle_is_an_error_that_names_its_path(waits: dict[str, list[str]], path: str) -> None:
    with pytest.raises(TeamError, match=rf"wait for each other: {path}\n") as caught:
        derive_schedule(team(waits))
    assert caught.value.exit_code == 2
    assert caught.value.hint == "make one of these reads `latest`"


def test_waiting_for_what_nobody_writes_is_an_error() -> None:
    made = team({"a": []})
    reads = {"facts": Read(mode=ReadMode.FRESH)}
    waiting = made.model_copy(update={"agents": {"a": made.agents["a"].model_copy(update={"reads": reads})}})
    with pytest.raises(TeamError, match="`a` waits for section `facts`"):
        derive_schedule(waiting)
    assert derive_schedule(waiting, code_sections=("facts",)).waits_for == {"a": ()}


@st.composite
def graphs(draw: st.DrawFn, *, acyclic: bool) -> dict[str, list[str]]:
    size = draw(st.integers(1, 12))
    names = draw(st.permutations([f"n{number}" for number in range(size)]))
    edges = draw(st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=30))
    waits: dict[str, list[str]] = {name: [] for name in sorted(names)}
    for a, b in sorted(edges):
        if not acyclic or a > b:
            waits[names[a]].append(names[b])
    return waits


@settings(deadline=None)
@given(graphs(acyclic=True))
def test_every_agent_is_in_the_earliest_stage_that_its_writers_allow(waits: dict[str, list[str]]) -> None:
    schedule = derive_schedule(team(waits))
    stage = {name: number for number, names in enumerate(schedule.stages) for name in names}
    assert sorted(stage) == sorted(waits)
    for name, others in waits.items():
        assert set(schedule.waits_for[name]) == set(others)
        assert stage[name] == max((stage[other] + 1 for other in others), default=0)
        assert schedule.stage_of(name) == stage[name]
    assert all(schedule.stages)


@settings(deadline=None)
@given(graphs(acyclic=True))
def test_the_critical_path_is_a_longest_chain(waits: dict[str, list[str]]) -> None:
    schedule = derive_schedule(team(waits))
    assert all(before in waits[after] for before, after in pairwise(schedule.critical_path))
    assert schedule.steps == len(schedule.stages)
    assert set(schedule.critical_path) <= schedule.critical


@settings(deadline=None)
@given(graphs(acyclic=True))
def test_the_same_team_gives_the_same_schedule(waits: dict[str, list[str]]) -> None:
    assert derive_schedule(team(waits)) == derive_schedule(team(waits))


@settings(deadline=None)
@given(graphs(acyclic=False))
def test_cycles_are_always_found_and_are_real(waits: dict[str, list[str]]) -> None:
    cycles = find_cycles(fresh_waits(team(waits)))
    seen: set[str] = set()
    for cycle in cycles:
        assert cycle[0] == cycle[-1]
        assert all(after in waits[before] for before, after in pairwise(cycle))
        assert len(set(cycle[1:])) == len(cycle) - 1
        assert not seen & set(cycle)
        seen |= set(cycle)
    assert bool(cycles) == has_cycle(waits)


def has_cycle(waits: dict[str, list[str]]) -> bool:
    """By the definition: some agent can be reached from itself."""
    reach = {name: set(others) for name, others in waits.items()}
    for _ in waits:
        for name in waits:
            reach[name] |= {far for near in reach[name] for far in reach[near]}
    return any(name in reach[name] for name in waits)
