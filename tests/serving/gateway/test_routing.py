from collections import Counter

import pytest

from repertory.engines.profile import EngineKind
from repertory.serving.gateway.routing import RouteTable
from repertory.serving.gateway.upstream import Address, Upstream
from repertory.serving.gateway.wire_errors import GatewayError


def make(name: str, *, model: str = "m", agents: tuple[tuple[str, int], ...] = (), concurrency: int = 4) -> Upstream:
    address = Address(f"http://127.0.0.1:9/{name}")
    return Upstream(name, address, EngineKind.VLLM, model, agents=agents, concurrency=concurrency)


def chosen(table: RouteTable, prompt: bytes) -> list[str]:
    return [replica.upstream.id for replica in table.routes["m"].ordered(prompt)]


def prompts(count: int) -> list[bytes]:
    return [f"prompt {number}".encode() for number in range(count)]


async def test_the_same_beginning_goes_to_the_same_replica_and_different_ones_spread() -> None:
    table = RouteTable([make("a"), make("b"), make("c")])
    for prompt in prompts(20):
        assert chosen(table, prompt) == chosen(table, prompt + b"")
    first = Counter(chosen(table, prompt)[0] for prompt in prompts(300))
    assert set(first) == {"a", "b", "c"}
    assert min(first.values()) > 60


async def test_only_the_beginning_counts() -> None:
    table = RouteTable([make("a"), make("b"), make("c")])
    shared = b"x" * 4096
    assert len({tuple(chosen(table, shared + end)) for end in prompts(20)}) == 1


async def test_a_replica_that_goes_moves_only_its_own_share() -> None:
    three, two = RouteTable([make("a"), make("b"), make("c")]), RouteTable([make("a"), make("b")])
    for prompt in prompts(100):
        before = chosen(three, prompt)[0]
        assert before == "c" or chosen(two, prompt)[0] == before


async def test_a_replica_that_is_much_fuller_is_passed_over() -> None:
    table = RouteTable([make("a"), make("b")])
    prompt = next(prompt for prompt in prompts(50) if chosen(table, prompt)[0] == "a")
    full = table.replicas[0]
    tickets = [await full.queue.enter(("", "")) for _ in range(3)]
    assert chosen(table, prompt) == ["b", "a"]
    for ticket in tickets:
        full.queue.leave(ticket)
    assert chosen(table, prompt) == ["a", "b"]


async def test_one_that_did_not_answer_is_asked_last() -> None:
    table = RouteTable([make("a"), make("b")])
    table.replicas[0].failed()
    assert all(chosen(table, prompt) == ["b", "a"] for prompt in prompts(20))
    table.replicas[0].answered()
    assert any(chosen(table, prompt)[0] == "a" for prompt in prompts(20))


async def test_names_of_models_agents_and_teams() -> None:
    table = RouteTable(
        [make("one", model="big", agents=(("coaching/shadow", 2),)), make("two", agents=(("coaching/coach", 0),))],
        ["coaching"],
    )
    assert {name: route.kind for name, route in table.routes.items()} == {
        "big": "model",
        "m": "model",
        "coaching/shadow": "agent",
        "coaching/coach": "agent",
        "coaching": "team",
    }
    assert table.routes["coaching/shadow"].priority == 2
    assert [replica.upstream.id for replica in table.routes["coaching/coach"].replicas] == ["two"]


async def test_an_unknown_name_is_told_only_names_that_may_be_seen() -> None:
    table = RouteTable([make("one", model="secret-model")])
    with pytest.raises(GatewayError) as shown:
        table.find("secret-modell", table.routes)
    assert shown.value.hint == "did you mean 'secret-model'?"
    with pytest.raises(GatewayError) as hidden:
        table.find("secret-modell", ())
    assert hidden.value.hint == "GET /v1/models lists the names"


async def test_what_has_not_changed_keeps_its_queue() -> None:
    before = RouteTable([make("a"), make("b")])
    after = RouteTable([make("b"), make("c")], before=before)
    assert after.replicas[0] is before.replicas[1]
