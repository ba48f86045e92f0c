"""A2A with the SDK's own client, and the wire of both protocol versions."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import httpx2
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import get_data_parts, get_text_parts
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from a2a.utils.errors import TaskNotFoundError
from tests.registry.conversation.test_conversation import converts
from tests.registry.temperature import temperature
from tests.server.agents_serving import deploy, key_for, serving_agents

from repertory.server.agents.a2a.tasks import RecentTasks
from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel

CALL = '{"tool": "c_to_f", "arguments": {"celsius": 20}}'


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        deploy(opened, temperature())
        yield opened


@asynccontextmanager
async def a2a_client(
    base: httpx2.AsyncClient, path: str = "/a2a/temperature", *, streaming: bool = True, key: str | None = None
) -> AsyncGenerator[Client]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(timeout=20, trust_env=False, headers=headers) as http:
        address = str(base.base_url).rstrip("/") + path
        card = await A2ACardResolver(http, address).get_agent_card()
        client = ClientFactory(ClientConfig(streaming=streaming, httpx_client=http)).create(card)
        yield client


def message(text: str, **fields: Any) -> SendMessageRequest:
    return SendMessageRequest(
        message=Message(role=Role.ROLE_USER, message_id=uuid4().hex, parts=[Part(text=text)], **fields)
    )


async def send(client: Client, request: SendMessageRequest) -> list[StreamResponse]:
    return [event async for event in client.send_message(request)]


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(500):
        if holds():
            return
        await asyncio.sleep(0.01)
    pytest.fail("it did not come to hold")


def text_of(task: Task) -> str:
    return "".join(
        "".join(get_text_parts(artifact.parts)) for artifact in task.artifacts if artifact.artifact_id == "reply"
    )


async def test_a_message_becomes_a_task_with_the_reply(store: Store) -> None:
    async with serving_agents(store, ScriptedModel(converts)) as http, a2a_client(http, streaming=False) as client:
        [event] = await send(client, message("100 C?"))
        task = event.task
        assert task.status.state == TaskState.TASK_STATE_COMPLETED
        assert text_of(task) == "It is 212 degrees Fahrenheit."
        [data] = [get_data_parts(artifact.parts)[0] for artifact in task.artifacts if artifact.name == "c_to_f"]
        assert data["result"] == 212.0
        again = await client.get_task(GetTaskRequest(id=task.id))
        assert text_of(again) == text_of(task)


async def test_a_stream_grows_the_reply(store: Store) -> None:
    long = " ".join(f"word{number}" for number in range(60))
    deploy(store, temperature("cook", instructions="You are a cook.", tools=False))
    async with serving_agents(store, ScriptedModel(lambda _: long)) as http, a2a_client(http, "/a2a/cook") as client:
        events = await send(client, message("Tell me."))
    pieces = [
        "".join(get_text_parts(event.artifact_update.artifact.parts))
        for event in events
        if event.HasField("artifact_update")
    ]
    assert len(pieces) > 3
    assert "".join(pieces) == long
    assert events[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED


async def test_the_same_context_is_one_conversation(store: Store) -> None:
    deploy(store, temperature("cook", instructions="You are a cook.", tools=False))
    model = ScriptedModel(lambda _: "Salt it.")
    async with serving_agents(store, model) as http, a2a_client(http, "/a2a/cook", streaming=False) as client:
        [first] = await send(client, message("What about the soup?"))
        await send(client, message("And then?", context_id=first.task.context_id))
        await send(client, message("And then?"))
    seen = [[(one.role, one.content) for one in request.messages[1:]] for request in model.requests]
    assert seen[1] == [("user", "What about the soup?"), ("assistant", "Salt it."), ("user", "And then?")]
    assert seen[2] == [("user", "And then?")]


async def test_a_task_is_cancelled_and_its_generation_with_it(store: Store) -> None:
    deploy(store, temperature("cook", instructions="You are a cook.", tools=False))
    model = ScriptedModel(lambda _: "never", hold={"": asyncio.Event()})
    async with serving_agents(store, model) as http, a2a_client(http, "/a2a/cook") as client:
        stream = client.send_message(message("Tell me."))
        task = (await anext(stream)).task
        await until(lambda: model.running == 1)
        cancelled = await client.cancel_task(CancelTaskRequest(id=task.id))
        assert cancelled.status.state == TaskState.TASK_STATE_CANCELED
        await until(lambda: model.running == 0)
        assert model.cancelled == [""]


async def test_what_goes_wrong_is_a_failed_task_in_words(store: Store) -> None:
    async with serving_agents(store) as http, a2a_client(http, streaming=False) as client:
        [event] = await send(client, message("100 C?"))
        assert event.task.status.state == TaskState.TASK_STATE_FAILED
        assert "does not answer now" in get_text_parts(event.task.status.message.parts)[0]


async def test_the_server_hands_a_message_to_the_agent_that_it_names(store: Store) -> None:
    async with serving_agents(store) as http, a2a_client(http, "", streaming=False) as client:
        named = message(CALL)
        named.message.metadata.update({"agent": "temperature"})
        [event] = await send(client, named)
        assert text_of(event.task) == "68.0"
        [unnamed] = await send(client, message(CALL))
        assert unnamed.task.status.state == TaskState.TASK_STATE_FAILED
        assert "names no agent" in get_text_parts(unnamed.task.status.message.parts)[0]


async def test_the_cards_tell_the_truth(store: Store) -> None:
    deploy(store, temperature("cook", instructions="You are a cook.", tools=False))
    async with serving_agents(store) as http:
        base = str(http.base_url).rstrip("/")
        card = (await http.get("/a2a/temperature/.well-known/agent-card.json")).json()
        assert (card["name"], card["version"]) == ("temperature", "1")
        assert [skill["id"] for skill in card["skills"]] == ["c_to_f", "f_to_c"]
        assert {(one["url"], one["protocolVersion"]) for one in card["supportedInterfaces"]} == {
            (f"{base}/a2a/temperature", "1.0"),
            (f"{base}/a2a/temperature", "0.3"),
        }
        assert card["capabilities"]["streaming"] is True
        assert card["capabilities"].get("pushNotifications", False) is False
        assert "securitySchemes" not in card
        server = (await http.get("/.well-known/agent-card.json")).json()
        assert [skill["id"] for skill in server["skills"]] == ["cook", "temperature"]
        talks = (await http.get("/a2a/cook/.well-known/agent-card.json")).json()
        assert [skill["id"] for skill in talks["skills"]] == ["chat"]
        assert (await http.get("/a2a/nobody/.well-known/agent-card.json")).status_code == 404


async def test_the_wire_of_the_older_protocol(store: Store) -> None:
    async with serving_agents(store) as http:

        async def rpc(method: str, params: dict[str, Any]) -> dict[str, Any]:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            return (await http.post("/a2a/temperature", json=body)).json()

        said = {"role": "user", "messageId": "m1", "kind": "message", "parts": [{"kind": "text", "text": CALL}]}
        task = (await rpc("message/send", {"message": said}))["result"]
        assert (task["kind"], task["status"]["state"]) == ("task", "completed")
        assert (await rpc("tasks/get", {"id": task["id"]}))["result"]["id"] == task["id"]
        assert "error" in await rpc("tasks/cancel", {"id": task["id"]})
        assert (await rpc("tasks/get", {"id": "none"}))["error"]["code"] == -32001
        assert (await rpc("nothing", {}))["error"]["code"] == -32601
        async with http.stream(
            "POST",
            "/a2a/temperature",
            json={"jsonrpc": "2.0", "id": 2, "method": "message/stream", "params": {"message": said}},
        ) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = [line async for line in stream.aiter_lines() if line.startswith("data:")]
        assert "completed" in lines[-1]
        assert (await http.post("/a2a/temperature", content=b"{" * 2_000_000)).status_code == 413
        assert (await http.post("/a2a/temperature", content=b"{")).json()["error"]["code"] == -32700


async def test_tasks_belong_to_the_key_that_began_them(store: Store) -> None:
    deploy(store, temperature("other"))
    one, two = key_for(store, "one", ["agent:temperature"]), key_for(store, "two", ["agent:temperature"])
    async with serving_agents(store, keys=True) as http:
        assert (await http.get("/a2a/temperature/.well-known/agent-card.json")).status_code == 401
        assert (await http.post("/a2a/temperature", json={})).status_code == 401
        open_card = (await http.get("/.well-known/agent-card.json")).json()
        assert [skill["id"] for skill in open_card["skills"]] == ["agents"]
        assert open_card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"] == "Bearer"
        keyed = (await http.get("/.well-known/agent-card.json", headers={"authorization": f"Bearer {one}"})).json()
        assert [skill["id"] for skill in keyed["skills"]] == ["temperature"]
        async with a2a_client(http, streaming=False, key=one) as client:
            [event] = await send(client, message(CALL))
            assert text_of(await client.get_task(GetTaskRequest(id=event.task.id))) == "68.0"
        async with a2a_client(http, streaming=False, key=two) as client:
            with pytest.raises(TaskNotFoundError):
                await client.get_task(GetTaskRequest(id=event.task.id))
        async with a2a_client(http, "", streaming=False, key=one) as client:
            named = message(CALL)
            named.message.metadata.update({"agent": "other"})
            [refused] = await send(client, named)
            assert "may not use" in get_text_parts(refused.task.status.message.parts)[0]


async def test_only_the_latest_tasks_are_kept() -> None:
    from a2a.server.context import ServerCallContext

    tasks, context = RecentTasks(most=3), ServerCallContext()
    for number in range(5):
        await tasks.save(Task(id=str(number)), context)
    found = [await tasks.get(str(number), context) for number in range(5)]
    assert [task.id for task in found if task is not None] == ["2", "3", "4"]


async def test_kept_tasks_are_bounded_in_bytes_too() -> None:
    from a2a.server.context import ServerCallContext

    tasks, context = RecentTasks(most_bytes=2500), ServerCallContext()
    for number in range(5):
        said = Message(role=Role.ROLE_USER, parts=[Part(text="x" * 1000)])
        for _ in range(3):  # a task that is saved again is not counted twice
            await tasks.save(Task(id=str(number), history=[said]), context)
    found = [await tasks.get(str(number), context) for number in range(5)]
    assert [task.id for task in found if task is not None] == ["3", "4"]
    await tasks.save(Task(id="large", history=[Message(parts=[Part(text="x" * 5000)])]), context)
    assert await tasks.get("large", context) is not None
    assert await tasks.get("4", context) is None


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        "null",
        '"x"',
        '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}',
        '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": []}',
        '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"parts": 3}}}',
        '{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {}}}',
        '{"jsonrpc": "2.0", "id": {}, "method": 4}',
        '{"jsonrpc": "2.0", "id": 1, "method": "CancelTask", "params": {"id": "../../etc"}}',
        "[" * 20_000,
    ],
)
async def test_what_is_no_request_is_an_error_of_the_protocol(store: Store, body: str) -> None:
    async with serving_agents(store) as http:
        for version in ({}, {"a2a-version": "1.0"}):
            answer = await http.post("/a2a/temperature", content=body, headers=version)
            assert answer.status_code in {200, 400}
            assert "error" in answer.json()
