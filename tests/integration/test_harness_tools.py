"""Real programs that work with tools, on a scripted model that calls one: the way from a model to the blackboard."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.harness.place import opened, team_of

from repertory.runtime.harness.settings import HarnessSettings
from repertory.testing import Reply, Script, ScriptedEngine, ScriptedRequest, Send, sse

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "claude-code": ("claude", {"kind": "claude-code", "tools": True}),
    "opencode": ("opencode", {"kind": "acp", "program": "opencode", "tools": True}),
}


def calls(number: int, name: str, arguments: dict[str, Any]) -> Script:
    """A model that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    frames: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 9}},
    ]
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    return Script([Send(sse(*(about | frame for frame in frames)))])


def model(request: ScriptedRequest) -> Reply:
    if "# Your role: reader" not in request.text:
        return "A text."
    offered: Any = request.fields.get("tools") or []
    names = [tool["function"]["name"] for tool in offered]
    results = [message for message in request.messages if message["role"] == "tool"]
    write = next((name for name in names if name.endswith("write_mood")), None)
    if write is None or len(results) == 2:
        return "I have written it."
    # The first value does not fit the section; the tool says so, and the model tries again.
    arguments = {"value": {"mood": "calm"}, "version": 0} if results else {"value": {"mood": 7}}
    return calls(len(results), write, arguments)


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_model_writes_to_the_blackboard_through_a_real_program(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(os.environ.get("REPERTORY_TEST_HARNESSES") or Path.home() / ".cache" / "repertory" / "harnesses")
    monkeypatch.setenv("PATH", f"{folder / 'node_modules' / '.bin'}:{os.environ['PATH']}")
    program, settings = PROGRAMS[name]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed (`make harnesses`)")
    async with opened(ScriptedEngine(model)) as place:
        result = await place.run(team_of(HarnessSettings.model_validate(settings), deadline_s=120))
        asked = place.asked_by_reader
    assert result.status == "complete", result.reason
    assert result.sections["mood"].value == {"mood": "calm"}
    assert [call.requests for call in place.calls] == [3]
    refused = next(message for message in asked[1]["messages"] if message["role"] == "tool")
    assert "does not fit the section" in str(refused["content"])
    # Each request begins with what the one before it began with, so that what is computed is used again.
    assert asked[2]["messages"][: len(asked[1]["messages"])] == asked[1]["messages"]
