"""What keys allow, over HTTP."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from tests.serving.gateway.running import gateway_for, serving, upstream

from repertory.serving.access import Access
from repertory.serving.api_keys import KeyRing, new_key
from repertory.serving.host_check import HostCheck
from repertory.storage.store import Store
from repertory.testing import ScriptedEngine

CHAT = "/v1/chat/completions"
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello."}], "model": "scripted"}


@asynccontextmanager
async def keyed(
    engine: ScriptedEngine, *scopes: str, **limits: Any
) -> AsyncGenerator[tuple[httpx2.AsyncClient, dict[str, str], Store]]:
    with Store.open() as store:
        key, kept = new_key("app", scopes, **limits)
        store.keys.add(kept)
        access = Access(HostCheck(), KeyRing(store.keys.all, fresh_s=0.0))
        async with serving(gateway_for(upstream(engine), access=access)) as client:
            yield client, {"authorization": f"Bearer {key}"}, store


def code_of(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


async def test_without_a_key_there_is_nothing_but_health(
    engine: ScriptedEngine, caplog: pytest.LogCaptureFixture
) -> None:
    async with keyed(engine, "*") as (client, headers, store):
        for bad in ({}, {"authorization": "Bearer rep_wrong"}, {"authorization": "Basic eDp5"}, {"x-api-key": "no"}):
            for path in ("/v1/models", "/metrics"):
                assert code_of(await client.get(path, headers=bad)) == (401, "invalid_api_key")
            assert code_of(await client.post(CHAT, json=ASK, headers=bad)) == (401, "invalid_api_key")
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).status_code == 200
        assert not engine.requests
        assert (await client.post(CHAT, json=ASK, headers=headers)).status_code == 200
        other = {"x-api-key": headers["authorization"].removeprefix("Bearer ")}
        assert (await client.post(CHAT, json=ASK, headers=other)).status_code == 200
        assert code_of(await client.get("/metrics", headers=headers)) == (403, "admin_only")
        store.keys.revoke("app", store.keys.all()[0].created_at)
        assert code_of(await client.post(CHAT, json=ASK, headers=headers)) == (401, "invalid_api_key")
    assert headers["authorization"][15:] not in caplog.text


async def test_a_key_sees_and_uses_only_what_it_may(engine: ScriptedEngine) -> None:
    async with keyed(engine, "agent:coaching/*") as (client, headers, _):
        listed = (await client.get("/v1/models", headers=headers)).json()["data"]
        assert [entry["id"] for entry in listed] == ["coaching/shadow"]
        assert code_of(await client.get("/v1/models/scripted", headers=headers)) == (404, "model_not_found")
        assert code_of(await client.post(CHAT, json=ASK, headers=headers)) == (403, "model_not_allowed")
        assert (await client.post(CHAT, json=ASK | {"model": "coaching/shadow"}, headers=headers)).status_code == 200


async def test_a_key_of_one_user_speaks_for_nobody_else(engine: ScriptedEngine) -> None:
    async with keyed(engine, "*", user="ada") as (client, headers, _):
        assert code_of(await client.post(CHAT, json=ASK | {"user": "bob"}, headers=headers)) == (
            403,
            "user_not_allowed",
        )
        assert (await client.post(CHAT, json=ASK | {"user": "ada"}, headers=headers)).status_code == 200
        assert (await client.post(CHAT, json=ASK, headers=headers)).status_code == 200


async def test_only_an_admin_goes_before_everybody(engine: ScriptedEngine) -> None:
    async with keyed(engine, "*") as (client, headers, _):
        answer = await client.post(CHAT, json=ASK | {"priority": -1}, headers=headers)
        assert code_of(answer) == (403, "priority_not_allowed")
    async with ScriptedEngine() as other, serving(gateway_for(upstream(other))) as client:
        assert (await client.post(CHAT, json=ASK | {"priority": -1})).status_code == 200


async def test_the_limit_of_requests(engine: ScriptedEngine) -> None:
    async with keyed(engine, "*", requests_per_minute=2) as (client, headers, _):
        answers = [await client.post(CHAT, json=ASK, headers=headers) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert code_of(answers[2])[1] == "rate_limit_exceeded"
    assert 1 <= int(answers[2].headers["retry-after"]) <= 60


@pytest.mark.parametrize("stream", [True, False])
async def test_the_limit_of_tokens(engine: ScriptedEngine, stream: bool) -> None:
    async with keyed(engine, "*", tokens_per_minute=3) as (client, headers, _):
        answers = [await client.post(CHAT, json=ASK | {"stream": stream}, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]


async def test_unreadable_keys_let_nobody_in(engine: ScriptedEngine) -> None:
    store = Store.open()
    key, kept = new_key("app", ["*"])
    store.keys.add(kept)

    def broken() -> Any:
        raise OSError("disk gone")

    access = Access(HostCheck(), KeyRing(broken, fresh_s=0.0))
    store.close()
    async with serving(gateway_for(upstream(engine), access=access)) as client:
        answer = await client.post(CHAT, json=ASK, headers={"authorization": f"Bearer {key}"})
    assert answer.status_code == 500
    assert not engine.requests
