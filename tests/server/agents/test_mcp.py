"""MCP over streamable HTTP with the SDK's own client, in both of its protocol eras."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent
from tests.registry.conversation.test_conversation import converts
from tests.registry.temperature import CODE, temperature
from tests.server.agents_serving import deploy, key_for, serving_agents

from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        deploy(opened, temperature())
        yield opened


@asynccontextmanager
async def mcp_client(
    base: httpx2.AsyncClient, name: str = "temperature", *, mode: str = "auto", key: str | None = None
) -> AsyncGenerator[Client]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    address = f"{str(base.base_url).rstrip('/')}/mcp/{name}"
    async with (
        httpx2.AsyncClient(timeout=20, trust_env=False, headers=headers) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tools_are_listed_and_called(store: Store, mode: str) -> None:
    async with serving_agents(store) as http, mcp_client(http, mode=mode) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == ["c_to_f", "f_to_c"]
        assert listed[0].input_schema["required"] == ["celsius"]
        called = await client.call_tool("c_to_f", {"celsius": 100})
        assert called.structured_content == {"result": 212.0}
        [content] = called.content
        assert isinstance(content, TextContent)
        assert content.text == "212.0"
        cold = await client.call_tool("c_to_f", {"celsius": -300})
        assert cold.is_error
        wrong = await client.call_tool("c_to_f", {"celsius": "hot"})
        assert wrong.is_error
        with pytest.raises(MCPError, match="no tool"):
            await client.call_tool("erase", {})


async def test_an_agent_that_people_talk_to_has_a_tool_for_it(store: Store) -> None:
    deploy(store, temperature("helper", instructions="You help cooks."))
    async with serving_agents(store, ScriptedModel(converts)) as http, mcp_client(http, "helper") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["c_to_f", "f_to_c", "chat"]
        told = await client.call_tool("chat", {"message": "100 C?"})
        [content] = told.content
        assert isinstance(content, TextContent)
        assert content.text == "It is 212 degrees Fahrenheit."
        with pytest.raises(MCPError, match="must be text"):
            await client.call_tool("chat", {"message": " "})
    async with serving_agents(store) as http, mcp_client(http, "helper") as client:
        assert (await client.call_tool("chat", {"message": "100 C?"})).is_error


async def test_a_new_version_is_served_under_the_same_address(store: Store) -> None:
    async with serving_agents(store) as http:
        async with mcp_client(http) as client:
            await client.call_tool("c_to_f", {"celsius": 1})
        deploy(store, temperature(code=CODE.replace("* 9 / 5 + 32", "* 9 / 5 + 33")))
        async with mcp_client(http) as client:
            assert (await client.call_tool("c_to_f", {"celsius": 0})).structured_content == {"result": 33.0}


async def test_keys_hosts_and_sizes(store: Store) -> None:
    key = key_for(store, "one", ["agent:temperature"])
    deploy(store, temperature("other"))
    async with serving_agents(store, keys=True) as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert (await http.post("/mcp/temperature", json=body)).status_code == 401
        bearer = {"authorization": f"Bearer {key}"}
        assert (await http.post("/mcp/other", json=body, headers=bearer)).status_code == 403
        elsewhere = {**bearer, "host": "evil.example"}
        assert (await http.post("/mcp/temperature", json=body, headers=elsewhere)).status_code == 403
        large = await http.post("/mcp/temperature", content=b" " * (1024 * 1024 + 1), headers=bearer)
        assert large.status_code == 413
        async with mcp_client(http, key=key) as client:
            assert (await client.call_tool("f_to_c", {"fahrenheit": 32})).structured_content == {"result": 0.0}
    async with serving_agents(store) as http:
        assert (await http.post("/mcp/nobody", json=body)).status_code == 404
