# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
"""Agno: a workflow of a parallel stage and a last step, its history kept in its own in-memory database."""

import asyncio
from importlib.metadata import version
from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai.like import OpenAILike
from agno.workflow import Parallel, Step, Workflow
from reporting import Turn, Work, finish, read_work, system_text


def build(work: Work) -> Workflow:
    def step(agent: Work) -> Step:
        model = OpenAILike(
            id=work["model"],
            base_url=f"{work['url']}/v1",
            api_key=work["api_key"],
            temperature=0,
            max_tokens=work["max_tokens"],
            timeout=3600,
            max_retries=0,
        )
        schema: dict[str, Any] | None = agent["schema"]
        wanted = None
        if schema is not None:
            wanted = {"type": "json_schema", "json_schema": {"name": agent["name"], "schema": schema, "strict": True}}
        one = Agent(
            name=agent["name"],
            model=model,
            system_message=system_text(work, agent),
            output_schema=wanted,
            structured_outputs=True if wanted else None,
            telemetry=False,
        )
        return Step(name=agent["name"], agent=one, max_retries=0)

    *first_stage, last = work["agents"]
    return Workflow(
        name="turn",
        steps=[Parallel(*(step(agent) for agent in first_stage), name="first stage"), step(last)],
        db=InMemoryDb(),
        add_workflow_history_to_steps=True,
        num_history_runs=10,
        telemetry=False,
    )


async def main() -> None:
    work = read_work()
    workflow = build(work)
    for number, said in enumerate(work["messages"], 1):
        with Turn(work, number) as turn:
            events = workflow.arun(said, session_id="session", stream=True, stream_events=True)
            async for event in events:
                kind, who = type(event).__name__, getattr(event, "agent_name", None)
                if kind == "RunContentEvent" and who == "coach":
                    turn.token()
                elif kind == "RunCompletedEvent" and who == "coach":
                    turn.coach()
                elif kind in {"WorkflowErrorEvent", "RunErrorEvent"}:
                    raise RuntimeError(str(getattr(event, "error", None) or getattr(event, "content", event)))
            turn.reply()
    finish(version=version("agno"))


if __name__ == "__main__":
    asyncio.run(main())
