"""What callers of deployed agents try that they should not: each other's data, odd names, broken text, slow bodies."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from tests.registry.temperature import temperature
from tests.server.agents_serving import deploy, key_for, serving_agents

from repertory.server.agents import callers
from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel

DIARY = """\
from repertory_host import call

SEEN = []  # what one person said, in the memory of the process
FILE = "/tmp/seen"


def c_to_f(celsius):
    SEEN.append(celsius)
    call("records_append", "log", celsius)
    return sum(SEEN)


def f_to_c(fahrenheit):
    return len(call("records_log", "log"))


def convert(request):
    SEEN.append(float(request["params"]["celsius"]))
    try:
        SEEN.append(open(FILE).read())
    except OSError:
        open(FILE, "w").write("seen")
    call("records_put", request["params"]["celsius"] if not request["query"] else "\\ud800", request["query"])
    return {"status": 200, "body": [SEEN, call("records_keys")], "headers": HEADERS}


def fails(request):
    return {"status": 200, "body": sorted(request["headers"])}


HEADERS = {"X-Own": "1", "Strict-Transport-Security": "max-age=9", "Alt-Svc": "x", "WWW-Authenticate": "Basic",
           "X-Accel-Redirect": "/etc/passwd", "Access-Control-Allow-Origin": "*", "NEL": "{}", "Set-Cookie": "a=b"}
"""


def diary(*, per_user: bool = True) -> dict[str, bytes]:
    files = temperature("diary", code=DIARY, routes=True)
    manifest = json.loads(files["agent.yaml"])
    manifest["permissions"]["records"] = {"per_user": per_user}
    return {**files, "agent.yaml": json.dumps(manifest).encode()}


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        deploy(opened, diary())
        yield opened


def bearer(store: Store, name: str, *scopes: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key_for(store, name, scopes or ('*',))}"}


async def a2a(http: httpx2.AsyncClient, method: str, params: Any, headers: dict[str, str]) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return (await http.post("/a2a/diary", json=body, headers={**headers, "a2a-version": "1.0"})).json()


def said(text: str, **fields: str) -> dict[str, Any]:
    return {"message": {"role": "ROLE_USER", "messageId": text, "parts": [{"text": text}], **fields}}


async def test_nobody_gets_what_the_code_remembers_of_another(store: Store) -> None:
    ada, bob = bearer(store, "ada"), bearer(store, "bob")
    async with serving_agents(store, keys=True) as http:
        for headers, word, kept in ((ada, "7", ["7"]), (bob, "5", ["5"]), (ada, "1", ["1", "7"])):
            answer = await http.get(f"/agents/diary/celsius/{word}", headers=headers)
            assert answer.json() == [[float(word)], kept]


async def test_an_agent_speaks_for_its_own_answer_and_not_for_the_server(store: Store) -> None:
    async with serving_agents(store) as http:
        answer = await http.get("/agents/diary/celsius/1")
        assert answer.headers["x-own"] == "1"
        for name in ("strict-transport-security", "alt-svc", "www-authenticate", "x-accel-redirect", "set-cookie",
                     "access-control-allow-origin", "nel"):  # fmt: skip
            assert name not in answer.headers
        seen = await http.post("/agents/diary/fails", headers={"cookie": "repertory_session=x", "x-api-key": "k"})
        assert not {"cookie", "x-api-key", "authorization"} & set(seen.json())


async def test_text_that_is_no_text_is_the_agents_error(store: Store) -> None:
    async with serving_agents(store, ScriptedModel(lambda _: "Hello.")) as http:
        answer = await http.get("/agents/diary/celsius/1?broken=1")
        assert answer.status_code == 500
        assert "the agent failed" in answer.json()["error"]["message"]
        assert (await http.get("/agents/diary/celsius/1")).json()[1] == ["1"]
        for user in ("\ud800", "\0"):
            call = {"tool": "c_to_f", "arguments": {"celsius": 1}}
            body = {"model": "agent:diary", "user": user, "messages": [{"role": "user", "content": json.dumps(call)}]}
            told = await http.post("/v1/chat/completions", content=json.dumps(body))
            assert told.status_code == 400, told.text
        rpc: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "\ud800", "arguments": {}},
        }
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        assert (await http.post("/mcp/diary", content=json.dumps(rpc), headers=headers)).status_code < 500


@pytest.mark.parametrize("name", ["%00", "..%2f..", "%2e%2e", "Diary", "diary%0d%0aX-A:b", "<script>", "é", "a" * 5000])
async def test_odd_names_name_nobody(store: Store, name: str) -> None:
    headers = bearer(store, "any")
    async with serving_agents(store, keys=True) as http:
        for method, path in (("POST", "/a2a/{}"), ("POST", "/mcp/{}"), ("GET", "/agents/{}/x"), ("GET", "/mcp/{}")):
            answer = await http.request(method, path.format(name), headers=headers)
            assert answer.status_code in {404, 405}, (method, path, answer.text)
            assert "Traceback" not in answer.text


async def test_a_task_of_another_key_is_not_there(store: Store) -> None:
    ada, bob = bearer(store, "ada"), bearer(store, "bob")
    async with serving_agents(store, keys=True) as http:
        call = json.dumps({"tool": "c_to_f", "arguments": {"celsius": 3}})
        task = (await a2a(http, "SendMessage", said(call), ada))["result"]["task"]
        assert (await a2a(http, "GetTask", {"id": task["id"]}, ada))["result"]["id"] == task["id"]
        for method, params in (
            ("GetTask", {"id": task["id"]}),
            ("CancelTask", {"id": task["id"]}),
            ("SubscribeToTask", {"id": task["id"]}),
            ("SendMessage", said("Go on.", taskId=task["id"])),
        ):
            assert "error" in await a2a(http, method, params, bob), method
        assert (await a2a(http, "ListTasks", {}, bob))["result"].get("tasks", []) == []
        mine = await a2a(http, "SendMessage", said(call, contextId=task["contextId"]), bob)
        assert mine["result"]["task"]["id"] != task["id"]
        assert len((await a2a(http, "ListTasks", {}, ada))["result"]["tasks"]) == 1


async def test_nobody_is_told_to_call_another_address(store: Store) -> None:
    async with serving_agents(store) as http:
        configuration = {"taskPushNotificationConfig": {"url": "http://127.0.0.1:1/steal"}}
        call = json.dumps({"tool": "f_to_c", "arguments": {"fahrenheit": 3}})
        answered = await a2a(http, "SendMessage", {**said(call), "configuration": configuration}, {})
        task = answered["result"]["task"]["id"] if "result" in answered else "t"
        wanted = {"taskId": task, "url": "http://127.0.0.1:1/steal"}
        assert "error" in await a2a(http, "CreateTaskPushNotificationConfig", wanted, {})


async def test_another_keys_own_user_is_named_by_nobody(store: Store) -> None:
    key = key_for(store, "ada", ["*"])
    own = f"key:{key.split('_')[1]}"
    bob = bearer(store, "bob")
    async with serving_agents(store, ScriptedModel(lambda _: "Hello."), keys=True) as http:
        call = json.dumps({"tool": "c_to_f", "arguments": {"celsius": 3}})
        body = {"model": "agent:diary", "user": own, "messages": [{"role": "user", "content": call}]}
        refused = await http.post("/v1/chat/completions", json=body, headers=bob)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "user_not_allowed")
        taken = await http.post("/v1/chat/completions", json=body, headers={"authorization": f"Bearer {key}"})
        assert taken.status_code == 200


async def test_a_body_that_does_not_come_is_not_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers.read_body, "__defaults__", (callers.MAX_BODY_BYTES, 0.2))
    async with serving_agents(store) as http:
        port = http.base_url.port
        for path in ("/a2a/diary", "/agents/diary/fails", "/mcp/diary"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n"
            writer.write(f"{head}accept: application/json, text/event-stream\r\n\r\n[".encode())
            async with asyncio.timeout(5):
                assert b" 408 " in await reader.readline(), path
            writer.close()


async def test_a_connection_that_only_listens_gets_nothing_from_mcp(store: Store) -> None:
    async with serving_agents(store) as http, asyncio.timeout(5):
        answer = await http.get("/mcp/diary", headers={"accept": "text/event-stream"})
        assert answer.status_code == 405
