# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Pydantic AI: one `Agent` each, those of the first stage at once with `asyncio.gather`."""

import asyncio
import json
from importlib.metadata import version
from typing import Any

from pydantic_ai import Agent, NativeOutput, StructuredDict
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from reporting import Turn, Work, finish, read_work, system_text


def build(work: Work) -> dict[str, Any]:
    provider = OpenAIProvider(base_url=f"{work['url']}/v1", api_key=work["api_key"])
    model = OpenAIChatModel(work["model"], provider=provider)
    settings = {"temperature": 0, "max_tokens": work["max_tokens"], "timeout": 3600}
    agents: dict[str, Any] = {}
    for agent in work["agents"]:
        schema = agent["schema"]
        # template=False: the schema goes to the engine alone, as with everybody else.
        output = str if schema is None else NativeOutput(StructuredDict(schema, name=agent["name"]), template=False)
        agents[agent["name"]] = Agent(
            model, output_type=output, instructions=system_text(work, agent), model_settings=settings
        )
    return agents


async def coach(agent: Any, said: str, history: list[ModelMessage], turn: Turn) -> str:
    async with agent.run_stream(said, message_history=history) as result:
        async for _ in result.stream_text(delta=True, debounce_by=None):
            turn.token()
        turn.coach()
        return await result.get_output()


async def specialist(name: str, agent: Any, said: str, history: list[ModelMessage]) -> str:
    result = await agent.run(said, message_history=history)
    return f"{name}: {json.dumps(result.output)}"


async def main() -> None:
    work = read_work()
    agents = build(work)
    history: list[ModelMessage] = []
    specialists = [agent["name"] for agent in work["agents"] if agent["schema"] is not None]
    for number, said in enumerate(work["messages"], 1):
        with Turn(work, number) as turn:
            first, *found = await asyncio.gather(
                coach(agents["coach"], said, history, turn),
                *(specialist(name, agents[name], said, history) for name in specialists),
            )
            notes = "\n".join(found)
            full = await agents["synth"].run(f"{said}\n\nThe Coach said: {first}\n\n{notes}", message_history=history)
            turn.reply()
        history += [
            ModelRequest(parts=[UserPromptPart(said)]),
            ModelResponse(parts=[TextPart(f"{first}\n\n{full.output}")]),
        ]
    finish(version=version("pydantic-ai-slim"))


if __name__ == "__main__":
    asyncio.run(main())
