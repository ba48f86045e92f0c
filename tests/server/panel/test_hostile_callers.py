"""What callers of the panel try that they should not: odd text, slow bodies, floods, keys that open another's data."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from tests.registry.test_records import with_records
from tests.server.panel.conftest import MakePanel, serving
from tests.server.panel.duo import chat

from repertory.registry.registry import Registry
from repertory.server.panel import body_limit, event_stream
from repertory.storage.store import Store

MakeKey = Callable[..., str]
CALL = {"tool": "c_to_f", "args": {"celsius": 0}}


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.fixture
def keeper(store: Store) -> None:
    """An agent that counts its calls for each user."""
    registry = Registry(store)
    version = registry.deploy(with_records(per_user=True)).version
    registry.promote(version.agent, version.version)


@pytest.mark.usefixtures("keeper")
async def test_a_call_is_for_the_user_of_its_key_and_counts_for_its_limit(
    make_panel: MakePanel, make_key: MakeKey, store: Store
) -> None:
    ada, bob = (bearer(make_key(name, user=name)) for name in ("ada", "bob"))
    async with serving(make_panel(keys=True)) as http:
        counts = [(await http.post("/api/agents/temperature/call", json=CALL, headers=who)).json() for who in
                  (ada, ada, bob)]  # fmt: skip
        assert [count["result"] for count in counts] == [1, 2, 1]
        admin = bearer(make_key("admin", "admin"))
        body = {"name": "slow", "user": "eve", "requests_per_minute": 1}
        eve = bearer((await http.post("/api/keys", json=body, headers=admin)).json()["key"])
        statuses = [(await http.post("/api/agents/temperature/call", json=CALL, headers=eve)).status_code
                    for _ in range(2)]  # fmt: skip
        assert statuses == [200, 429]


@pytest.mark.usefixtures("keeper")
async def test_who_is_erased_is_erased_from_what_agents_keep(
    make_panel: MakePanel, make_key: MakeKey, store: Store
) -> None:
    ada, bob = (bearer(make_key(name, user=name)) for name in ("ada", "bob"))
    async with serving(make_panel(keys=True)) as http:
        for who in (ada, bob):
            await http.post("/api/agents/temperature/call", json=CALL, headers=who)
        await chat(http, "Hi!", headers=ada)
        assert store.agents_of_user("ada") == ["temperature"]
        gone = await http.request("DELETE", "/api/blackboard/duo/ada", json={"confirm": "ada"}, headers=ada)
        assert gone.json()["erased"]["agent_records"] == 1
        assert (store.agents_of_user("ada"), store.agents_of_user("bob")) == ([], ["temperature"])
        again = [(await http.post("/api/agents/temperature/call", json=CALL, headers=who)).json()["result"]
                 for who in (ada, bob)]  # fmt: skip
        assert again == [1, 2]


@pytest.mark.usefixtures("keeper")
async def test_an_administrator_makes_no_key_that_is_somebody_else(
    make_panel: MakePanel, make_key: MakeKey, store: Store
) -> None:
    admin, trusted = bearer(make_key("admin", "admin")), bearer(make_key("trusted", "admin", "reads-user:ada"))
    ada, app = make_key("ada", user="ada"), make_key("app")
    async with serving(make_panel(keys=True)) as http:
        await chat(http, "Nobody knows.", headers=bearer(ada))
        store.keys.revoke(ada.split("_")[1], store.turns.turns()[0].started_at)
        for user in ("ada", f"key:{app.split('_')[1]}"):
            spy = await http.post("/api/keys", json={"name": "spy", "user": user}, headers=admin)
            assert (spy.status_code, spy.json()["error"]["type"]) == (403, "user_not_allowed")
        for who, user in ((trusted, "ada"), (admin, "new")):
            body = {"name": f"for {user}", "user": user}
            assert (await http.post("/api/keys", json=body, headers=who)).status_code == 201


async def test_text_that_is_no_text_breaks_nothing(http: httpx2.AsyncClient) -> None:
    bad = "\ud800"
    headers = {"content-type": "application/json"}
    requests: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("POST", "/api/chat/duo", {"message": bad}),
        ("POST", "/api/chat/duo", {"message": "Hi!", "user": bad}),
        ("POST", "/api/chat/duo", {"message": "Hi!", "session": bad}),
        ("POST", "/api/session", {"key": bad}),
        ("POST", "/api/keys", {"name": bad}),
        ("POST", "/api/keys", {"name": "k", "user": bad, "reads_users": [bad]}),
        ("POST", "/api/builds", {"request": bad}),
        ("POST", "/api/agents/x/call", {"tool": bad, "args": {bad: bad}}),
        ("DELETE", "/api/blackboard/duo/ada", {"confirm": bad}),
        ("POST", "/api/blackboard/coaching/ada/corrections", {"facts": {bad: bad}}),
        ("POST", "/api/plan", {"team": bad}),
        ("POST", "/api/models/pull", {"model": bad}),
        ("PUT", "/api/settings", {"country": bad, "language": bad, "theme": bad}),
        ("POST", "/v1/chat/completions", {"model": bad, "messages": [{"role": "user", "content": "Hi!"}]}),
        ("POST", "/v1/chat/completions", {"model": "duo", "messages": [{"role": "user", "content": bad}]}),
        ("POST", "/v1/chat/completions", {"model": "duo", "user": bad, "messages": []}),
    )
    for method, path, body in requests:
        answer = await http.request(method, path, content=json.dumps(body), headers=headers)
        assert answer.status_code in {400, 404, 409, 422, 502}, (path, body, answer.text)
        assert "internal" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/" + "a" * 300,
        "/assets/" + "b/" * 3000,
        "/%00",
        "/..%2f..%2fetc%2fpasswd",
        "/%ff",
        "/assets/%2e%2e/%2e%2e/app.py",
    ],
)
async def test_a_path_that_no_file_can_have_is_not_found(http: httpx2.AsyncClient, path: str) -> None:
    assert (await http.get(path)).status_code == 404


async def test_what_another_page_includes_is_refused(http: httpx2.AsyncClient) -> None:
    image = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    for path in ("/api/session", "/v1/models", "/agents/x/y", "/"):
        assert (await http.get(path, headers=image)).status_code == 403
    assert (await http.get("/", headers={**image, "sec-fetch-mode": "navigate"})).status_code == 200
    assert (await http.get("/", headers={**image, "sec-fetch-site": "same-origin"})).status_code == 200


async def test_a_body_that_does_not_come_is_not_waited_for(
    http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_limit, "BODY_S", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", http.base_url.port)
    head = (
        "POST /api/session HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n["
    )
    writer.write(head.encode())
    async with asyncio.timeout(5):
        assert b" 408 " in await reader.readline()
    writer.close()


async def test_streams_that_are_opened_at_once_are_counted_too(
    make_panel: MakePanel, make_key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The route, which looks before anybody listens, would let all of them in.
    monkeypatch.setattr(event_stream, "MOST_OF_A_KEY", 3)
    headers = bearer(make_key("ada", user="ada"))
    panel = make_panel(keys=True)
    async with serving(panel) as http:

        async def listen() -> None:
            async with http.stream("GET", "/v1/events", headers=headers) as answer:
                async for _ in answer.aiter_lines():
                    pass

        tasks = [asyncio.create_task(listen()) for _ in range(10)]
        async with asyncio.timeout(10):
            for refused, ended in enumerate(asyncio.as_completed(tasks), start=1):
                await ended
                if refused == 7:
                    break
        assert panel.hub.listeners == 3
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
