"""Who may come in: cookies, their tokens, bearer keys, and this machine."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta

import httpx2
import pytest
from tests.server.panel.conftest import MakePanel, serving
from tests.server.panel.duo import events, is_type

from repertory.clock import system_clock
from repertory.server.panel import event_stream
from repertory.server.panel.body_limit import MOST_BYTES
from repertory.server.panel.routes import events as events_route
from repertory.server.panel.visitor import COOKIE
from repertory.storage.store import Store

MakeKey = Callable[..., str]
SETTINGS = {"country": "DE", "language": "de", "theme": "dark"}


async def test_without_keys_this_machine_is_the_administrator(http: httpx2.AsyncClient) -> None:
    told = (await http.get("/api/session")).json()
    assert (told["signed_in"], told["needs_keys"], told["is_admin"]) == (True, False, True)
    assert (told["user"], told["reads_users"]) == ("me", ["*"])
    assert set(told["teams"]) == {"duo", "coaching"}
    assert (await http.put("/api/settings", json=SETTINGS)).status_code == 200


async def test_an_unsafe_request_needs_the_token_of_the_page(http: httpx2.AsyncClient) -> None:
    del http.headers["x-csrf-token"]
    for wrong in ({}, {"x-csrf-token": "guess"}, {"x-csrf-token": ""}, {"authorization": "Bearer whatever"}):
        answer = await http.put("/api/settings", json=SETTINGS, headers=wrong)
        assert (answer.status_code, answer.json()["error"]["type"]) == (403, "csrf")
    assert (await http.get("/api/settings")).json()["country"] is None


async def test_other_pages_can_not_send_requests_and_get_no_token(http: httpx2.AsyncClient) -> None:
    for headers in ({"origin": "https://evil.example"}, {"host": "evil.example"}, {"origin": "null"}):
        assert (await http.get("/api/session", headers=headers)).status_code == 403


async def test_signing_in_and_out(make_panel: MakePanel, make_key: MakeKey) -> None:
    key = make_key("ada", "team:duo", user="ada")
    async with serving(make_panel(keys=True)) as http:
        before = (await http.get("/api/session")).json()
        assert (before["signed_in"], before["needs_keys"], before["csrf"], before["teams"]) == (False, True, None, [])
        refused = await http.get("/api/overview")
        assert (refused.status_code, refused.json()["error"]["type"]) == (401, "not_signed_in")
        wrong = await http.post("/api/session", json={"key": key[:-1] + "x"})
        assert (wrong.status_code, wrong.json()["error"]["type"]) == (401, "invalid_api_key")
        assert "set-cookie" not in wrong.headers
        answer = await http.post("/api/session", json={"key": key})
        told = answer.json()
        assert (told["signed_in"], told["user"], told["is_admin"], told["teams"]) == (True, "ada", False, ["duo"])
        cookie = answer.headers["set-cookie"]
        assert {"httponly", "samesite=strict", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}
        assert key not in cookie
        held = http.cookies[COOKIE]
        assert (await http.get("/api/session")).json() == told
        assert (await http.post("/api/chat/duo", json={"message": "Hi!"})).status_code == 403
        headers = {"x-csrf-token": told["csrf"]}
        assert (await http.post("/api/chat/duo", json={"message": "Hi!"}, headers=headers)).status_code == 202
        assert (await http.delete("/api/session")).status_code == 403
        assert (await http.delete("/api/session", headers=headers)).status_code == 204
        http.cookies.set(COOKIE, held)  # somebody kept it
        assert (await http.get("/api/overview")).status_code == 401


async def test_a_signing_in_outlives_the_server_but_not_its_key(
    make_panel: MakePanel, make_key: MakeKey, store: Store
) -> None:
    key = make_key("ada", user="ada")
    async with serving(make_panel(keys=True)) as http:
        first = (await http.post("/api/session", json={"key": key})).json()
        cookies = dict(http.cookies)
    async with serving(make_panel(keys=True), cookies=cookies) as http:
        again = (await http.get("/api/session")).json()
        assert again["csrf"] == first["csrf"]
        assert (await http.get("/api/overview")).status_code == 200
        store.keys.revoke("ada", system_clock())
        assert (await http.get("/api/overview")).status_code == 401


def test_a_signing_in_ends_and_what_the_browser_holds_is_not_kept(make_key: MakeKey, store: Store) -> None:
    key_id = make_key("ada").split("_")[1]
    now = system_clock()
    store.logins.add("held by the browser", key_id, at=now, expires_at=now + timedelta(hours=1))
    found = store.logins.find("held by the browser", now)
    assert found is not None
    assert found.key == key_id
    assert store.logins.find("held by the browser", now + timedelta(hours=1)) is None
    assert store.logins.find("something else", now) is None
    with store._database.read() as transaction:
        kept = transaction.connection().exec_driver_sql("SELECT * FROM login_sessions").fetchall()
    assert "held by the browser" not in str(kept)


async def test_signing_in_again_ends_the_session_before(make_panel: MakePanel, make_key: MakeKey) -> None:
    key = make_key("ada", user="ada")
    async with serving(make_panel(keys=True)) as http:
        await http.post("/api/session", json={"key": key})
        before = http.cookies[COOKIE]
        await http.post("/api/session", json={"key": key})
        assert http.cookies[COOKIE] != before
        http.cookies.clear()
        http.cookies.set(COOKIE, before)
        assert (await http.get("/api/overview")).status_code == 401


async def test_a_bearer_key_needs_no_token_and_goes_before_the_cookie(make_panel: MakePanel, make_key: MakeKey) -> None:
    ada, bob = make_key("ada", user="ada"), make_key("bob", user="bob")
    async with serving(make_panel(keys=True)) as http:
        await http.post("/api/session", json={"key": ada})
        headers = {"authorization": f"Bearer {bob}"}
        assert (await http.get("/api/session", headers=headers)).json()["user"] == "bob"
        answer = await http.post("/api/chat/duo", json={"message": "Hi!"}, headers=headers)
        assert (answer.status_code, answer.json()["user"]) == (202, "bob")
        wrong = {"authorization": "Bearer rep_no_key"}
        assert (await http.get("/api/overview", headers=wrong)).status_code == 401


async def test_a_stream_ends_with_its_key(
    make_panel: MakePanel, make_key: MakeKey, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "_QUIET_S", 0.05)
    headers = {"authorization": f"Bearer {make_key('ada', user='ada')}"}
    panel = make_panel(keys=True)
    async with serving(panel) as http, http.stream("GET", "/v1/events", headers=headers) as answer:
        lines = answer.aiter_lines()
        while "still here" not in await anext(lines):
            pass
        store.keys.revoke("ada", system_clock())
        rest = [line async for line in lines]
        assert not [line for line in rest if line.startswith("data")]
    assert panel.hub.listeners == 0


async def test_what_is_no_request_of_ours_is_told_in_the_panels_shape(http: httpx2.AsyncClient) -> None:
    for method, path, status in (
        ("GET", "/api/nothing", 404),
        ("POST", "/api/overview", 405),
        ("GET", "/api/turns/t00000000000000000000000000", 404),
        ("GET", "/api/turns?limit=0", 422),
        ("POST", "/api/session", 422),
    ):
        answer = await http.request(method, path)
        assert answer.status_code == status, path
        assert set(answer.json()["error"]) == {"type", "message", "hint"}
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
    plain = await http.post("/api/session", content=b'{"key": "x"}', headers={"content-type": "text/plain"})
    assert plain.status_code == 422


async def test_the_stream_ends_when_the_server_stops(make_panel: MakePanel) -> None:
    panel = make_panel()
    async with serving(panel) as http:
        told = await events(http, is_type("overview"))
        assert told[-1]["overview"]["totals"]["turns_running"] == 0
        async with http.stream("GET", "/v1/events") as answer:
            panel.hub.close()
            assert [line async for line in answer.aiter_lines() if line.startswith("data")] == []


async def test_bodies_have_an_end(http: httpx2.AsyncClient, store: Store) -> None:
    large = b'{"message": "' + b"x" * MOST_BYTES + b'"}'
    headers = {"content-type": "application/json"}
    told = await http.post("/api/chat/duo", content=large, headers=headers)
    assert (told.status_code, told.json()["error"]["type"]) == (413, "too_large")

    async def pieces() -> AsyncGenerator[bytes]:
        for start in range(0, len(large), 65536):
            yield large[start : start + 65536]

    not_told = await http.post("/api/chat/duo", content=pieces(), headers=headers)
    assert (not_told.status_code, not_told.json()["error"]["type"]) == (413, "too_large")
    assert store.turns.turns() == []
    fits = await http.post("/api/chat/duo", json={"message": "x" * 100_000})
    assert fits.status_code == 202


async def test_a_key_can_not_take_all_streams(
    make_panel: MakePanel, make_key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_route, "MOST_OF_A_KEY", 2)
    ada, bob = ({"authorization": f"Bearer {make_key(name, user=name)}"} for name in ("ada", "bob"))
    async with serving(make_panel(keys=True)) as http, AsyncExitStack() as stack:
        reading: list[AsyncIterator[str]] = []  # a reader that nobody holds is closed, and its stream with it
        for _ in range(2):
            answer = await stack.enter_async_context(http.stream("GET", "/v1/events", headers=ada))
            reading.append(answer.aiter_lines())
            await anext(reading[-1])
        refused = await http.get("/v1/events", headers=ada)
        assert (refused.status_code, refused.json()["error"]["type"]) == (429, "too_many_streams")
        other = await stack.enter_async_context(http.stream("GET", "/v1/events", headers=bob))
        assert other.status_code == 200
