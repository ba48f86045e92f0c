"""A program that speaks the Agent Client Protocol as coding agents do, with the protocol's own SDK."""

import asyncio
import json
import os
import sys
import urllib.request
from typing import Any

import acp

MODE = sys.argv[1]


class FakeAgent:
    """One session, one prompt."""

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        assert cwd == os.getcwd()  # noqa: PTH109
        return acp.NewSessionResponse(session_id="s1")

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> acp.PromptResponse:
        if MODE == "refuse":
            return acp.PromptResponse(stop_reason="refusal")
        if MODE == "die":
            os._exit(5)
        task = prompt[0].text
        answer = await asyncio.to_thread(self._ask, task)
        for piece in (answer[:5], answer[5:]):
            await self.client.session_update(session_id, acp.update_agent_message_text(piece))
        return acp.PromptResponse(stop_reason="end_turn")

    def _ask(self, task: str) -> str:
        nothing: dict[str, Any] = {}
        tool = {"type": "function", "function": {"name": "shell", "parameters": nothing}}
        messages = [{"role": "system", "content": "You are FakeAgent. " * 50}, {"role": "user", "content": task}]
        request = urllib.request.Request(  # noqa: S310 - the gateway's address
            f"{os.environ['OPENAI_BASE_URL']}/chat/completions",
            json.dumps({"model": os.environ["OPENAI_MODEL"], "messages": messages, "tools": [tool]}).encode(),
            {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"},
        )
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return json.load(answer)["choices"][0]["message"]["content"]


asyncio.run(acp.run_agent(FakeAgent()))  # pyright: ignore[reportArgumentType] - as much of the protocol as is used
