# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUntypedBaseClass=false
"""LangGraph: a graph whose nodes fan out from the start and join in the last one; replies are streamed by node."""

import asyncio
import json
import operator
from importlib.metadata import version
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from pydantic import SecretStr
from reporting import Turn, Work, finish, read_work, system_text


class State(TypedDict):
    """What the nodes share."""

    messages: Annotated[list[AnyMessage], add_messages]
    found: Annotated[list[dict[str, Any]], operator.add]
    first: str


def build(work: Work) -> Any:
    model = ChatOpenAI(
        base_url=f"{work['url']}/v1",
        api_key=SecretStr(work["api_key"]),
        model=work["model"],
        temperature=0,
        max_completion_tokens=work["max_tokens"],
        timeout=None,
        max_retries=0,
        http_socket_options=(),
    )
    agents = {agent["name"]: agent for agent in work["agents"]}
    graph = StateGraph(State)

    async def coach(state: State) -> dict[str, Any]:
        answer = await model.ainvoke([SystemMessage(system_text(work, agents["coach"])), *state["messages"]])
        return {"first": answer.content}

    def specialist(agent: Work) -> Any:
        schema = {"title": agent["name"], "description": agent["name"], **agent["schema"]}
        structured = model.with_structured_output(schema, method="json_schema", strict=True)

        async def node(state: State) -> dict[str, Any]:
            value = await structured.ainvoke([SystemMessage(system_text(work, agent)), *state["messages"]])
            return {"found": [{"turn": len(state["messages"]), "name": agent["name"], "value": value}]}

        return node

    async def synth(state: State) -> dict[str, Any]:
        notes = "\n".join(
            f"{item['name']}: {json.dumps(item['value'])}"
            for item in state["found"]
            if item["turn"] == len(state["messages"])
        )
        *earlier, last = state["messages"]
        prompt = HumanMessage(f"{last.content}\n\nThe Coach said: {state['first']}\n\n{notes}")
        answer = await model.ainvoke([SystemMessage(system_text(work, agents["synth"])), *earlier, prompt])
        return {"messages": [AIMessage(f"{state['first']}\n\n{answer.content}")]}

    first_stage = [name for name in agents if name != "synth"]
    for name in first_stage:
        graph.add_node(name, coach if name == "coach" else specialist(agents[name]))
        graph.add_edge(START, name)
    graph.add_node("synth", synth)
    graph.add_edge(first_stage, "synth")
    graph.add_edge("synth", END)
    return graph.compile(checkpointer=MemorySaver())


async def main() -> None:
    work = read_work()
    app = build(work)
    config = {"configurable": {"thread_id": "session"}}
    for number, said in enumerate(work["messages"], 1):
        with Turn(work, number) as turn:
            given = {"messages": [HumanMessage(said)]}
            async for mode, part in app.astream(given, config, stream_mode=["messages", "updates"]):
                if mode == "messages":
                    piece, facts = part
                    if facts["langgraph_node"] == "coach" and piece.content:
                        turn.token()
                elif "coach" in part:
                    turn.coach()
            turn.reply()
    finish(version=version("langgraph"))


if __name__ == "__main__":
    asyncio.run(main())
