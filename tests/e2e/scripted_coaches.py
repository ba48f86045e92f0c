"""What the scripted engine answers in the browser tests: the six coaching agents, with something to say."""

import re
from typing import Any

from playwright.sync_api import expect
from tests.e2e.browser import Window

from repertory.testing import ScriptedEngine
from repertory.testing.obliging import obliging
from repertory.testing.scripted_engine import Reply
from repertory.testing.scripted_request import ScriptedRequest

__all__ = ("GOAL", "coaching_engine", "say")

GOAL = (
    "I want to finish the first draft of my novel by spring. I will write for 30 minutes on Tuesday evening. "
    "Last week I took a rush job for a client instead."
)
"""A message that names a goal, a commitment and what got in the way."""

_FIRST = (
    "You want the draft done by spring, and a rush job took last week's writing time. "
    "What would make Tuesday evening easier to protect?"
)
_ROLE = re.compile(r"^# Your role: (\w+)$", re.MULTILINE)
_MESSAGE = re.compile(r"\bm(\d+)\b")
_CLAIM = re.compile(r"\bc(\d+)\b")


def coaching_engine(*, token_delay_s: float = 0.02, port: int = 0) -> ScriptedEngine:
    """An engine on which the coaching team holds a believable talk."""
    return ScriptedEngine(_answer, token_delay_s=token_delay_s, model="scripted", port=port)


def say(window: Window, message: str, user: str) -> None:
    """Write a message in the chat, and wait for the full reply."""
    window.open(f"/chat?team=coaching&user={user}")
    before = window.page.locator("article[data-status=complete]").count()
    window.page.get_by_label("Your message").fill(message)
    window.page.keyboard.press("Enter")
    expect(window.page.locator("article[data-status=complete]")).to_have_count(before + 1, timeout=60_000)


def _answer(request: ScriptedRequest) -> Reply:
    role = _ROLE.findall(request.text)
    agent = role[-1] if role else ""
    newest = max((int(number) for number in _MESSAGE.findall(request.text)), default=1)
    draft = _draft(agent, f"m{newest}", request.text)
    return draft if draft is not None else obliging(_FIRST)(request)


def _draft(agent: str, message: str, prompt: str) -> dict[str, Any] | None:
    match agent:
        case "shadow":
            return {
                "evidence": [message],
                "stated_goal": "finish the first draft of my novel by spring",
                "revealed_priority": "a rush job for a client",
                "pattern": "goal_conflict",
                "outcomes": [],
                "promises": [{"what": "write for 30 minutes", "when": "on Tuesday evening"}],
            }
        case "persona":
            return {
                "traits": [],
                "goal": "finish the first draft of my novel by spring",
                "same_as": "",
                "growth_edge": "saying no to a rush job",
                "evidence": [message],
            }
        case "plasticity":
            return {
                "moves": ["open_question"],
                "setting": "structure",
                "change": "more",
                "because": "I will write for 30 minutes on Tuesday evening",
                "evidence": [message],
            }
        case "stability":
            return {"risks": []}
        case "synth":
            claims = sorted({f"c{number}" for number in _CLAIM.findall(prompt)}, key=lambda claim: int(claim[1:]))
            first, last = (claims[0], claims[-1]) if claims else ("c1", "c1")
            return {
                "noticed": [
                    {
                        "points": [first],
                        "words": "You want to finish the first draft of your novel by spring, but a rush job for a "
                        "client took last week.",
                    }
                ],
                "next": {"points": [last], "words": "What could stop the next rush job before Tuesday evening?"},
            }
        case _:
            return None
