"""A forgotten message leaves nothing: not in sections, claims, history, memory, results, nor in the file's bytes."""

# ruff: noqa: E501 - example sentences are not broken

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.teams.coaching.scripted_team import DRAFTS, ScriptedTeam

from repertory.errors import UsageError
from repertory.storage.store import Store
from repertory.teams.coaching.forget_request import DONE, NOT_FOUND
from repertory.teams.coaching.person_acts import TEAM, find_messages, forget

SECRET = (
    "My sister Wilhelmina drinks, so I announced a zeppelin challenge to the whole department and people laughed at me."
)
GOAL = "I want to finish my novel by spring. I'll write 30 minutes on Tuesday and Thursday evening."
# Words that stand in the secret and nowhere else.
TRACES = ("wilhelmina", "zeppelin", "sister", "drinks", "department")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "data" / "coaching.sqlite") as opened:
        yield opened


def _drafts(message: str) -> dict[str, Any]:
    """What agents make of the secret: it is in every section, also in other words."""
    return {
        "shadow": DRAFTS["shadow"]
        | {"evidence": [message], "revealed_priority": "your sister Wilhelmina and the zeppelin", "pattern": "avoidance"},
        "persona": DRAFTS["persona"]
        | {
            "traits": [{"message": message, "statement": "worries_a_lot", "agree": 5}],
            "goal": "the zeppelin challenge", "growth_edge": "speaking of Wilhelmina", "evidence": [message],
        },
        "plasticity": DRAFTS["plasticity"]
        | {"setting": "warmth", "change": "more", "because": "the department laughed", "evidence": [message]},
        "stability": {
            "risks": [
                {
                    "what": "the zeppelin challenge again", "evidence": message, "severity": 8, "occurrence": 6,
                    "detectability": 5, "reversibility": 5, "move": "public_commitment",
                }
            ]
        },
        "synth": "Your sister Wilhelmina matters to you. The zeppelin was a hard day.",
        "coach": "Wilhelmina drinks, that is heavy. What would help you today?",
    }  # fmt: skip


async def _talk(store: Store) -> ScriptedTeam:
    team = ScriptedTeam(store)
    await team.say(GOAL)
    await team.say(SECRET, drafts=_drafts("m3"))
    await team.say("I'd also like to sleep more.", drafts=_drafts("m3"))
    team.now += timedelta(days=7)
    await team.say("I skipped the writing on Tuesday.", session="two", drafts=_drafts("m3"))
    return team


def _files_with(folder: Path, word: str) -> list[str]:
    return [file.name for file in sorted(folder.iterdir()) if word.encode() in file.read_bytes().lower()]


async def test_a_forgotten_message_is_gone_from_everything(store: Store, tmp_path: Path) -> None:
    team = await _talk(store)
    before = json.dumps(store.export("ann")).lower()
    assert all(word in before for word in TRACES)
    assert _files_with(tmp_path / "data", "wilhelmina")
    counts = forget(store, "ann", TEAM, ["m3"], team.now)
    assert counts["messages"] >= 2
    after = json.dumps(store.export("ann")).lower()
    assert {word: after.count(word) for word in TRACES} == dict.fromkeys(TRACES, 0)
    assert '"m3"' not in after
    # Also not in the write-ahead log or in freed pages.
    assert {word: _files_with(tmp_path / "data", word) for word in TRACES} == {key: [] for key in TRACES}


async def test_what_others_rest_on_stays_and_numbers_are_made_anew(store: Store) -> None:
    team = await _talk(store)
    forget(store, "ann", TEAM, ["m3"], team.now)
    board = store.blackboard(TEAM, "ann")
    persona, shadow, stability = (board.latest(name) for name in ("persona", "shadow", "stability"))
    assert persona
    assert shadow
    assert stability
    assert persona.value["items"] == []
    assert persona.value["ocean"]["neuroticism"]["n"] == 0
    assert [goal["goal"] for goal in persona.value["recurring_goals"]] != []
    assert "novel" in shadow.value["stated_goal"]
    assert stability.value["blocked_moves"] == []
    assert [item.outcome for item in store.commitments.all(TEAM, "ann")] == ["missed"]
    assert persona.value["follow_through"]["n"] == 1
    # The talk goes on, and the versions are of the schema the team writes.
    result = await team.say("I wrote on Thursday.", session="two")
    assert {name: result.sections[name].status for name in ("shadow", "persona")} == dict.fromkeys(
        ("shadow", "persona"), "written"
    )


async def test_what_was_told_there_of_a_promise_is_open_again(store: Store) -> None:
    team = ScriptedTeam(store)
    await team.say(GOAL)
    team.now += timedelta(days=7)
    await team.say("I skipped the writing on Tuesday.", session="two")
    assert [item.outcome for item in store.commitments.all(TEAM, "ann")] == ["missed"]
    [(told, _)] = find_messages(store, "ann", TEAM, "skipped")
    forget(store, "ann", TEAM, [told], team.now)
    assert [item.outcome for item in store.commitments.all(TEAM, "ann")] == ["open"]
    shadow = store.blackboard(TEAM, "ann").latest("shadow")
    assert shadow
    assert shadow.value["prediction"]["n"] == 0
    [(made, _)] = find_messages(store, "ann", TEAM, "novel")
    forget(store, "ann", TEAM, [made], team.now)
    assert store.commitments.all(TEAM, "ann") == []


async def test_a_forgotten_crisis_is_still_followed_up(store: Store) -> None:
    team = ScriptedTeam(store)
    await team.say("I want to die.")
    forget(store, "ann", TEAM, ["m1"], team.now)
    assert "die" not in json.dumps(store.export("ann")).lower().split()
    team.now += timedelta(days=1)
    result = await team.say("Hello again.", session="two")
    assert result.safety.route == "crisis_protocol"


async def test_other_people_lose_nothing(store: Store) -> None:
    team = await _talk(store)
    session = store.sessions.start(TEAM, "bob", "one", team.now, "my sister Wilhelmina")
    turn = store.turns.begin_turn(session, at=team.now)
    store.messages.append_message(session, "person", SECRET, turn.id, team.now)
    before = store.export("bob")
    forget(store, "ann", TEAM, ["m3"], team.now)
    assert store.export("bob") == before


async def test_a_message_that_is_not_there_changes_nothing(store: Store) -> None:
    team = await _talk(store)
    before = store.export("ann")
    for ids in (["m99"], ["m1", "m99"], ["m2"]):  # m2 is the team's
        with pytest.raises(UsageError, match="no message"):
            forget(store, "ann", TEAM, ids, team.now)
    assert store.export("ann") == before


@pytest.mark.parametrize(
    "request_",
    [
        "Please forget what I said about Wilhelmina.",
        "Can you delete what I wrote about the zeppelin? What is next for the novel?",
        "Bitte vergiss, was ich über Wilhelmina gesagt habe.",
        "Por favor esqueça o que eu disse sobre Wilhelmina.",
        "Olvida lo que te dije sobre Wilhelmina, por favor.",
        "Oublie ce que j'ai dit sur Wilhelmina.",
    ],
)
async def test_asked_in_the_talk(store: Store, request_: str) -> None:
    team = await _talk(store)
    result = await team.say(request_, session="two")
    shown = f"{result.first_reply} {result.reply}".lower()
    assert any(done.lower() in shown for done in DONE.values())
    after = json.dumps(store.export("ann")).lower()
    assert {word: after.count(word) for word in TRACES} == dict.fromkeys(TRACES, 0)


@pytest.mark.parametrize(
    "text",
    ["It's nothing, forget it.", "Forget about dinner plans, I'll write instead.", "I forgot what I said I would do.", "Vergiss es.", "Don't forget what I told you about Wilhelmina!"],
)  # fmt: skip
async def test_ways_of_speaking_forget_nothing(store: Store, text: str) -> None:
    team = await _talk(store)
    await team.say(text, session="two")
    assert [name for name, _ in find_messages(store, "ann", TEAM, "Wilhelmina")][:1] == ["m3"]


async def test_what_can_not_be_found_is_said(store: Store) -> None:
    team = await _talk(store)
    result = await team.say("Please forget what I said about my cello.", session="two")
    assert NOT_FOUND["en"] in f"{result.first_reply} {result.reply}"
    assert find_messages(store, "ann", TEAM, "Wilhelmina")


async def test_a_crisis_is_answered_before_a_request(store: Store) -> None:
    team = await _talk(store)
    result = await team.say("Please forget what I said about Wilhelmina. I want to die.", session="two")
    assert result.safety.route == "crisis_protocol"
    assert find_messages(store, "ann", TEAM, "Wilhelmina") == []
