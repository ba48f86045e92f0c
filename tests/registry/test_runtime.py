"""Deployed agents at work: results, errors of every kind, state, routes, versions, warm workers."""

import json
import threading

import pytest
from tests.registry.packages import MANIFEST, edition, package

from repertory.errors import PackageError, RegistryError, UsageError
from repertory.registry.http_routes import HttpReply, HttpRequest, read_reply
from repertory.registry.registry import Registry
from repertory.registry.result import CallResult
from repertory.registry.runtime import AgentRuntime
from repertory.sandbox import Worker
from repertory.storage.store import Store


@pytest.fixture(autouse=True)
def _live(registry: Registry) -> None:
    registry.deploy(package())
    registry.promote("counter", 1)


def error_type(result: CallResult) -> str:
    assert result.error is not None
    assert result.document() == {"error": {"type": result.error.type, "message": result.error.message}} | (
        {"error": {"type": result.error.type, "message": result.error.message, "kinds": list(result.error.kinds)}}
        if result.error.kinds
        else {}
    )
    return result.error.type


def test_a_tool_is_called_by_name(runtime: AgentRuntime) -> None:
    result = runtime.call("counter", "count", {"text": "one two three", "at_least": 4})
    assert (result.document(), result.version) == ({"result": 1}, "counter@1")


def test_what_goes_wrong_has_a_fixed_type(runtime: AgentRuntime) -> None:
    expected = {
        "raise": "ValueError",
        "text": "InvalidResult",
        "nan": "ResultNotJson",
        "sleep": "Timeout",
        "memory": "MemoryLimit",
        "huge": "ResultTooLarge",
        "die": "Crashed",
    }
    found = {how: error_type(runtime.call("counter", "misbehave", {"how": how})) for how in expected}
    assert found == expected
    assert error_type(runtime.call("counter", "misbehave", {"how": "loop"})) in ("CpuLimit", "Timeout")
    assert runtime.call("counter", "count", {"text": "a"}).result == 1


def test_arguments_are_checked_before_anything_runs(runtime: AgentRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Worker, "call", None)
    for arguments in ({}, {"text": 1}, {"text": "a", "at_least": -1}, {"text": "a", "more": 1}, {"text": True}):
        result = runtime.call("counter", "count", arguments)
        assert error_type(result) == "InvalidArguments"
        assert result.error is not None
        assert "answer" not in result.error.message


def test_state_stays_and_belongs_to_the_agent(runtime: AgentRuntime, registry: Registry) -> None:
    assert runtime.call("counter", "remember", {"word": "one"}).result == ["one"]
    registry.deploy(edition(2))
    registry.promote("counter", 2)
    second = runtime.call("counter", "remember", {"word": "two"})
    assert (second.result, second.version) == (["one", "two"], "counter@2")
    other = package(
        agent_yaml=MANIFEST.replace("name: counter", "name: other"),
        SKILL_md="---\nname: other\ndescription: x\n---\n",
    )
    registry.deploy(other)
    assert runtime.call("other", "remember", {"word": "three"}, version=1).result == ["three"]


def test_an_agent_without_the_permission_has_no_state(runtime: AgentRuntime, registry: Registry) -> None:
    registry.deploy(package(agent_yaml=MANIFEST.replace("state: true", "state: false")))
    assert error_type(runtime.call("counter", "remember", {"word": "x"}, version=2)) == "OperationalError"


def test_too_much_state_is_refused(runtime: AgentRuntime) -> None:
    assert error_type(runtime.call("counter", "misbehave", {"how": "files"})) == "TooManyFiles"


def test_a_promotion_is_seen_by_the_next_call(runtime: AgentRuntime, registry: Registry) -> None:
    registry.deploy(edition(10))
    assert runtime.call("counter", "count", {"text": "a"}).result == 1
    registry.promote("counter", 2)
    assert runtime.call("counter", "count", {"text": "a"}).result == 11
    registry.roll_back("counter")
    assert runtime.call("counter", "count", {"text": "a"}).result == 1


def test_unknown_agents_and_tools_are_bad_usage(runtime: AgentRuntime, registry: Registry) -> None:
    with pytest.raises(UsageError, match="no agent"):
        runtime.call("countr", "count", {})
    with pytest.raises(UsageError, match="no tool 'cuont'") as refusal:
        runtime.call("counter", "cuont", {})
    assert refusal.value.hint == "did you mean count?"
    registry.retire("counter", 1)
    with pytest.raises(RegistryError, match="live"):
        runtime.call("counter", "count", {"text": ""})


def test_changed_code_is_not_run(runtime: AgentRuntime, store: Store) -> None:
    from sqlalchemy import text

    with store._database.write() as transaction:
        transaction.execute(text("update agent_files set content = x'00'"))
    with pytest.raises(PackageError, match="not the one that was signed"):
        runtime.call("counter", "count", {"text": "a"})


def test_workers_stay_warm_and_few(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    real = Worker.__init__

    def count(self: Worker, *args: object, **kwargs: object) -> None:
        made.append(self)
        real(self, *args, **kwargs)  # pyright: ignore[reportArgumentType] - passed on as they came

    with AgentRuntime(registry, max_idle=1) as runtime:
        runtime.call("counter", "count", {"text": "a"})
        monkeypatch.setattr(Worker, "__init__", count)
        for _ in range(3):
            assert runtime.call("counter", "count", {"text": "a"}).result == 1
        assert made == []
        values: list[int] = []
        threads = [
            threading.Thread(target=lambda: values.append(runtime.call("counter", "count", {"text": "a"}).result))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert values == [1, 1, 1]
        assert len(runtime._pool._idle) == 1


def reply(runtime: AgentRuntime, method: str, path: str, body: bytes = b"", **headers: str) -> HttpReply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return runtime.http("counter", HttpRequest(method, path, {"q": ["1"]}, named, body))


def test_routes_answer(runtime: AgentRuntime) -> None:
    posted = reply(runtime, "POST", "/words", "hé".encode(), X_Secret="s", Authorization="Bearer ours")
    assert (posted.status, json.loads(posted.body)) == (201, {"words": ["hé"], "raw": "aMOp"})
    assert posted.headers["x-count"] == "1"
    assert "set-cookie" not in posted.headers
    assert "sandbox" in posted.headers["content-security-policy"]
    assert reply(runtime, "POST", "/words", b"x").status == 401
    got = reply(runtime, "GET", "/words/7")
    assert (got.status, got.body) == (200, b"7{'q': ['1']}")
    assert reply(runtime, "GET", "/words/bad").status == 502


def test_what_is_no_route_is_not_found(runtime: AgentRuntime) -> None:
    assert [reply(runtime, "GET", path).status for path in ("/", "/nothing", "/words/1/2", "/words/")] == [404] * 4
    wrong = reply(runtime, "DELETE", "/words")
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")
    assert reply(runtime, "POST", "/words", bytes(2_000_000)).status == 413


@pytest.mark.parametrize(
    "answer",
    [
        1,
        {"status": 99},
        {"status": 101},
        {"status": True},
        {"status": "200"},
        {"headers": []},
        {"headers": {"X": "a\r\nSet-Cookie: b"}},
        {"headers": {"a b": "c"}},
        {"headers": {"X": 1}},
    ],
)
def test_a_response_that_is_none_is_not_passed_on(answer: object) -> None:
    assert read_reply(CallResult(answer)).status == 502
