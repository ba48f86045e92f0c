"""The programs in `examples/harness` do what they say."""

import sys
from pathlib import Path

from tests.runtime.harness.place import opened, team_of

from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.harness.settings import HarnessSettings
from repertory.testing import Reply, ScriptedEngine, ScriptedRequest

EXAMPLES = Path(__file__).parents[3] / "examples" / "harness"


async def test_the_editor_asks_twice_and_answers_with_the_second_text() -> None:
    def reply(request: ScriptedRequest) -> Reply:
        if "half the words" in request.text:
            return "Short."
        return '{"mood": "glad"}' if "# Your role: reader" in request.text else "A long text."

    command = (sys.executable, str(EXAMPLES / "editor.py"))
    editor = HarnessSettings(kind=HarnessKind.COMMAND, command=command, context="json")
    async with opened(ScriptedEngine(reply)) as place:
        result = await place.run(team_of(HarnessSettings(), other=editor))
    assert result.reply == "Short."
    assert [call.requests for call in place.calls] == [2]
    # Its second question follows the first, whose computed part is used again.
    first, second = [request.messages for request in place.scripted.requests if "# Your role: speaker" in request.text]
    assert second[: len(first)] == first
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "user"]


async def test_the_word_counter_needs_no_model() -> None:
    counter = HarnessSettings(kind=HarnessKind.COMMAND, command=(str(EXAMPLES / "word_count.sh"),))
    async with opened(ScriptedEngine('{"mood": "x"}')) as place:
        result = await place.run(team_of(HarnessSettings(), other=counter))
    assert result.reply.startswith('{"words": ')
    assert int(result.reply.removeprefix('{"words": ').removesuffix("}")) > 5
    assert [call.requests for call in place.calls] == [0]
