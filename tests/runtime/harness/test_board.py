"""The blackboard as an MCP server: exactly an agent's reads and its write, validated and versioned."""

import json

from tests.runtime.harness.place import fake, opened, team_of
from tests.runtime.harness.test_program_agents import scripted

from repertory.runtime.harness.settings import HarnessSettings


def call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


async def test_a_program_reads_and_writes_through_its_tools_what_its_agent_may() -> None:
    calls = [
        call("read_memo"),
        call("read_mood"),
        call("write_memo", value="x"),
        call("write_mood", value={"mood": 7}),
        call("write_mood", value={"mood": "x" * 30}),
        call("write_mood", value={"mood": "wary"}, version=7),
        call("write_mood", value={"mood": "wary"}, version=1),
        call("write_mood", value={"mood": "calm"}, version=1),
        call("write_mood", value={"mood": "calm"}, version=2),
    ]
    async with opened(scripted()) as place:
        await place.run(team_of(HarnessSettings()))
        result = await place.run(team_of(fake("board", *calls, tools=True)))
        section = place.store.blackboard("pair", "ada").all_latest()["mood"]
    assert result.status == "complete", result.reason
    # What was written by a tool is the answer, and not what the program printed.
    assert result.sections["mood"].value == {"mood": "calm"}
    assert section.version == 2
    assert [call.requests for call in place.calls] == [0]


async def test_what_the_tools_answer() -> None:
    calls = [
        call("read_memo"),
        call("read_mood"),
        call("write_memo", value="x"),
        call("write_mood", value={"mood": 7}),
        call("write_mood", value={"mood": "wary"}, version=7),
        call("write_mood", value={"mood": "wary"}, version=1),
        call("write_mood", value={"mood": "calm"}, version=1),
    ]
    async with opened(scripted()) as place:
        await place.run(team_of(HarnessSettings()))
        # The program prints what it was told into the file that its folder keeps.
        await place.run(team_of(fake("board log", *calls, tools=True)), session="s")
        (log,) = (place.home.harness).rglob("board.log")
    tools, *said = json.loads(log.read_text())
    assert tools == ["read_memo", "read_words", "write_mood"]
    assert [is_error for is_error, _ in said] == [False, True, True, True, True, False, True]
    assert said[0][1] == {"value": "A memo.", "version": 1, "age_turns": 1}
    assert "no tool" in said[1][1]["error"]
    assert "does not fit" in said[3][1]["error"]
    assert "which is 1" in said[4][1]["error"]
    assert said[5][1] == {"version": 2}
    assert "which is 2" in said[6][1]["error"]
