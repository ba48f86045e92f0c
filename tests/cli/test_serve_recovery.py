"""`repertory serve` is killed and started again: turns go on, sessions are compacted, and nobody waits for either."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.cli.pair_team import PAIR
from tests.cli.test_serve_command import serve

from repertory.runtime.compaction.facts import read_facts
from repertory.storage.store import Store
from repertory.testing import ScriptedEngine, ScriptedRequest

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def team(tmp_path: Path) -> str:
    path = tmp_path / "pair.yaml"
    path.write_text(PAIR, "utf-8")
    return str(path)


class Engine:
    """Answers each agent, and holds the answers of those that the test names; counts what it was asked."""

    def __init__(self) -> None:
        self.held: dict[str, threading.Event] = {}
        self.asked: Counter[str] = Counter()
        self.server = ScriptedEngine(self.reply, token_delay_s=0.002)

    def reply(self, request: ScriptedRequest) -> Any:
        found = re.search(r"# Your role: (\w+)", request.text)
        agent = found[1] if found else "compaction"
        self.asked[agent] += 1
        if agent == "compaction":
            said = re.findall(r'<message id=\\?"(m\d+)\\?"[^>]*>\s*(?:\\n)?(.*?)(?:\\n)?\s*</message>', request.text)
            facts = [{"message": name, "text": text, "lasting": True} for name, text in said]
            answer = json.dumps({"facts": facts})
        else:
            answer = f"This is the {agent} speaking to you now."
        held = self.held.get(agent)
        return self._later(held, answer) if held is not None else answer

    async def _later(self, held: threading.Event, answer: str) -> str:
        while not held.is_set():  # noqa: ASYNC110 - set by another thread
            await anyio.sleep(0.02)
        return answer


def until(true: Callable[[], bool], what: str, within_s: float = 60.0) -> None:
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.05)


def say(url: str, text: str, user: str, session: str | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"model": "pair", "user": user, "messages": [{"role": "user", "content": text}]}
    if session is not None:
        body["repertory"] = {"session": session}
    answer = httpx2.post(f"{url}/v1/chat/completions", json=body, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    return answer.json()


def cut_off_second(engine: Engine, team: str) -> threading.Event:
    """Kill a server while the second agent of ada's turn writes; the first one has written.

    Returns:
        What the second agent's answers wait for.
    """
    held = engine.held["second"] = threading.Event()
    with serve("--engine-url", engine.server.url, "--team", team) as (process, document):

        def ask() -> None:
            with pytest.raises(httpx2.TransportError):
                say(document["url"], "I will call Mia on Sunday.", "ada")

        asking = threading.Thread(target=ask)
        asking.start()
        until(lambda: engine.asked["second"] == 1, "the second agent is asked")
        process.kill()
        process.wait()
        asking.join()
    return held


def test_a_turn_that_a_kill_cut_off_is_completed_at_the_next_start(team: str) -> None:
    engine = Engine()
    with engine.server.in_thread():
        held = cut_off_second(engine, team)
        with serve("--engine-url", engine.server.url, "--team", team) as (_, document), Store.open() as store:
            until(lambda: engine.asked["second"] == 2, "the second agent is asked again")
            del engine.held["second"]
            whole = say(document["url"], "Hello.", "bob")  # it does not wait for what is being completed
            assert "second speaking" in whole["choices"][0]["message"]["content"]
            (turn,) = store.turns.turns("pair", "ada")
            assert turn.status == "running"
            held.set()
            until(lambda: store.turns.turns("pair", "ada")[0].status == "complete", "the turn is completed")
            written = [(one.section, one.agent) for one in store.blackboard("pair", "ada").history()]
            assert sorted(written) == [("one", "first"), ("two", "second")]
            assert engine.asked == {"first": 2, "second": 3}  # ada's first agent was asked once, before the kill
            session = store.sessions.find("pair", "ada", turn.session)
            assert session is not None
            roles = [one.role for one in store.messages.messages(session)]
            assert roles == ["person", "team"]


def test_sessions_that_are_over_are_compacted_until_somebody_comes_also_after_a_kill(team: str) -> None:
    engine = Engine()
    with engine.server.in_thread():
        options = ("--engine-url", engine.server.url, "--team", team, "--compact-after", "1")
        held = engine.held["compaction"] = threading.Event()
        with serve(*options) as (process, document):
            for text in ("My sister Mia lives in Lisbon.", "Hello again."):
                say(document["url"], text, "ada")
            until(lambda: engine.asked["compaction"] == 1, "compaction begins")
            say(document["url"], "Hi.", "bob")
            assert engine.asked["compaction"] == 1
            # Its first request is not answered yet: there is a second one only because the first was cut off.
            until(lambda: engine.asked["compaction"] == 2, "compaction begins again")
            process.kill()
            process.wait()
        held.set()
        with serve(*options), Store.open() as store:
            until(lambda: bool(store.summaries.all("pair", "ada")), "the session is compacted")
            facts = read_facts(store.summaries.all("pair", "ada"))
            assert [fact.text for fact in facts] == ["My sister Mia lives in Lisbon."]
            sessions = store.export("ada")["teams"]["pair"]["messages"]
            assert "My sister Mia lives in Lisbon." in json.dumps(sessions)  # nothing is lost by it


def test_a_server_that_stops_waits_for_the_turn_it_completes(team: str) -> None:
    engine = Engine()
    with engine.server.in_thread():
        held = cut_off_second(engine, team)
        with serve("--engine-url", engine.server.url, "--team", team) as (process, _), Store.open() as store:
            until(lambda: engine.asked["second"] == 2, "the second agent is asked again")
            process.terminate()
            time.sleep(0.5)
            assert process.poll() is None
            held.set()
            process.wait(60)
            assert store.turns.turns("pair", "ada")[0].status == "complete"
