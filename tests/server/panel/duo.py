"""A team of two, its answers, and how events are read."""

import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx2

from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team
from repertory.testing.scripted_model import Answer

DUO = Team(
    name="duo",
    preamble="You are two.",
    sections={"hello": Section(text=True), "ending": Section(text=True)},
    agents={
        "quick": Agent(instructions="Greet.", writes="hello"),
        "closer": Agent(instructions="Close.", writes="ending", reads={"hello": Read(mode=ReadMode.FRESH)}),
    },
    replies=Replies(first="hello", full="ending"),
)
FIRST = "Hello there. What now?"
FULL = "All in all you seem calm."
ANSWERS: dict[str, Answer] = {"quick": FIRST, "closer": FULL}

Event = dict[str, Any]


async def events(
    http: httpx2.AsyncClient,
    until: Callable[[Event], bool],
    *,
    params: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
) -> list[Event]:
    """The events of a stream up to the one that is waited for; each with its `id`."""
    found: list[Event] = []
    async with http.stream("GET", "/v1/events", params=params, headers=headers) as answer:
        if answer.status_code != 200:
            await answer.aread()
            raise AssertionError(answer.text)
        async for event in read_events(answer):
            found.append(event)
            if until(event):
                break
    return found


async def read_events(answer: httpx2.Response) -> AsyncGenerator[Event]:
    """The events of an answer, as they come."""
    place = ""
    async for line in answer.aiter_lines():
        if line.startswith("id: "):
            place = line[4:]
        elif line.startswith("data: "):
            yield json.loads(line[6:]) | {"id": place}
            place = ""


def is_type(kind: str) -> Callable[[Event], bool]:
    return lambda event: event["type"] == kind


async def chat(http: httpx2.AsyncClient, message: str = "Hi!", **more: Any) -> dict[str, Any]:
    """A turn of the team that has ended."""
    headers = more.pop("headers", {})
    answer = await http.post("/api/chat/duo", json={"message": message, **more}, headers=headers)
    assert answer.status_code == 202, answer.text
    started = answer.json()
    await events(http, is_type("turn_ended"), params={"turn": started["turn"]}, headers=headers)
    return started
