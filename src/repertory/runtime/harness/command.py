"""Any program as an agent: the context on its standard input, the answer on its standard output.

It may call the model at the address in its environment, as often as its settings allow; it may also do without one.
With tools, `REPERTORY_BOARD` holds the command (a JSON list) that speaks to its blackboard.
"""

import codecs
import json
from collections.abc import AsyncGenerator, Mapping

from repertory.errors import HarnessError
from repertory.runtime.harness.process import MAX_ANSWER_BYTES, running
from repertory.runtime.harness.task import MODEL, HarnessTask

__all__ = ("CommandDriver",)


class CommandDriver:
    """Runs a command."""

    async def words(self, task: HarnessTask, env: Mapping[str, str]) -> AsyncGenerator[str]:
        """Run it; its words are what it writes to its standard output."""
        address = task.walls.base_url
        own = {
            "REPERTORY_CONTEXT": task.settings.context,
            "OPENAI_BASE_URL": f"{address}/v1",
            "OPENAI_API_KEY": task.token,
            "OPENAI_MODEL": MODEL,
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": task.token,
        }
        if task.board is not None:
            argv, settings = task.walls.board_command()
            words = ["env", *(f"{name}={value}" for name, value in settings.items()), *argv]
            own["REPERTORY_BOARD"] = json.dumps(words)
        given = task.words if task.settings.context == "text" else json.dumps(task.document(), ensure_ascii=False)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        size = 0
        async with running(task.command(task.settings.command, {**env, **own})) as program:
            await program.give(given)
            while piece := await program.stdout.read(65536):
                size += len(piece)
                if size > MAX_ANSWER_BYTES:
                    message = f"the program wrote more than {MAX_ANSWER_BYTES // 2**20} MiB"
                    raise HarnessError(message)
                if text := decoder.decode(piece):
                    yield text
            if await program.ended() != 0:
                raise program.failure("failed")
