"""`repertory run --json` as its users call it: a process, a team of six, an engine at an address, odd messages."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.odd_messages import ODD

from repertory.engines.profile import EngineKind
from repertory.testing import ScriptedEngine
from repertory.testing.obliging import obliging

SECTIONS = {"shadow", "persona", "plasticity", "stability", "commitments"}


def repertory(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "repertory", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=110, check=False, env=dict(os.environ))


@pytest.fixture(scope="module")
def engine() -> Iterator[ScriptedEngine]:
    reply = obliging("You said you want to keep going. What is one small step?")
    with ScriptedEngine(reply=reply, kind=EngineKind.VLLM, context_tokens=8192).in_thread() as running:
        yield running


@pytest.mark.parametrize("name", ODD)
def test_an_odd_message_gives_a_turn_with_a_clear_reason_and_a_readable_blackboard(
    name: str, engine: ScriptedEngine
) -> None:
    text = ODD[name]
    done = repertory(
        "run", "coaching", "--message", "-", "--user", "odd", "--engine-url", engine.url, "--json",
        stdin=text.encode("utf-8", "surrogatepass"),
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    turn: dict[str, Any] = json.loads(done.stdout)
    assert turn["status"] in {"complete", "partial", "failed"}
    assert done.returncode == (1 if turn["status"] == "failed" else 0)
    assert turn["status"] == "complete" or turn["reason"]
    assert set(turn["sections"]) == SECTIONS
    if not text.strip():
        assert turn["reason"] == "the message is empty"
    shown = repertory("blackboard", "show", "--user", "odd", "--json")
    assert shown.returncode == 0
    assert isinstance(json.loads(shown.stdout), dict)


def test_the_document_has_the_promised_shape(engine: ScriptedEngine) -> None:
    done = repertory("run", "coaching", "-m", "I write.", "--session", "s", "--engine-url", engine.url, "--json")
    turn: dict[str, Any] = json.loads(done.stdout)
    assert {
        "turn", "session", "user", "team", "status", "first_reply", "reply", "sections", "merge", "safety", "tokens",
        "timing", "events",
    } <= set(turn)  # fmt: skip
    assert (turn["session"], turn["user"], turn["team"]) == ("s", "me", "coaching")
    for section in turn["sections"].values():
        assert {"version", "turn", "status", "value"} <= set(section)
    assert set(turn["tokens"]) == {"unique", "prefill", "cached", "output"}
    timing = turn["timing"]
    assert {"first_token_s", "first_reply_s", "reply_s", "overhead_s", "agents"} <= set(timing)
    assert set(timing["agents"]) == {"coach", "shadow", "persona", "plasticity", "stability", "synth"}
    assert set(timing["agents"]["coach"]) == {"queued_s", "start_s", "first_token_s", "end_s", "attempts"}
    assert {"claims", "conflicts", "blocked_moves"} <= set(turn["merge"])
    assert turn["safety"] == {"level": "none", "route": "normal"}
    assert [event["seq"] for event in turn["events"]] == sorted(event["seq"] for event in turn["events"])


def test_the_clock_can_be_set(engine: ScriptedEngine) -> None:
    done = repertory(
        "run", "coaching", "-m", "I want to write.", "--now", "2026-03-04T10:00:00+01:00", "--engine-url", engine.url,
        "--json",
    )  # fmt: skip
    turn: dict[str, Any] = json.loads(done.stdout)
    assert turn["events"][0]["at"].startswith("2026-03-04T09:00:00")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "coachin", "-m", "hi"), "did you mean `coaching`?"),
        (("run", "coaching", "-m", "hi", "--now", "yesterday"), "not a time"),
        (("run", "coaching", "-m", "hi", "--now", "9999-12-31T23:59:59-14:00"), "too far away"),
        (("run", "nowhere.yaml", "-m", "hi"), "nowhere.yaml"),
        (("run", "coaching"), "message"),
        (("nonsense",), "nonsense"),
        (("run", "coaching", "-m", "hi", "--model", "nosuchmodel"), "nosuchmodel"),
    ],
)
def test_bad_usage_is_told_in_words_with_exit_code_2(arguments: tuple[str, ...], words: str) -> None:
    done = repertory(*arguments)
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("run",), ("nonsense",), ("run", "coaching", "-m", "hi", "--context", "x")])
def test_bad_usage_is_one_document_too(arguments: tuple[str, ...]) -> None:
    done = repertory(*arguments, "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["type"] == "UsageError"
    assert error["message"] in done.stderr.decode()


def test_an_engine_that_is_not_there_is_told_in_words() -> None:
    done = repertory("run", "coaching", "-m", "hi", "--engine-url", "http://127.0.0.1:9", "--json")
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert "127.0.0.1:9" in json.loads(done.stdout)["error"]["message"] + str(json.loads(done.stdout)["error"]["where"])


def test_text_mode_prints_the_replies_on_stdout_and_progress_on_stderr(engine: ScriptedEngine, tmp_path: Path) -> None:
    done = repertory("run", "coaching", "-m", "I want to write.", "--user", "plain", "--engine-url", engine.url)
    assert done.returncode == 0
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "What is one small step?" in out
    assert "coach" in err
    assert "\x1b" not in out


def test_chat_reads_a_message_a_line_and_keeps_the_session(engine: ScriptedEngine) -> None:
    done = repertory(
        "chat", "coaching", "--user", "talker", "--engine-url", engine.url, "--json",
        stdin=b"I want to write.\n\n/help\nI wrote.\n/quit\n",
    )  # fmt: skip
    assert done.returncode == 0
    turns = json.loads(done.stdout)["turns"]
    assert len(turns) == 2
    assert turns[0]["session"] == turns[1]["session"]


def test_doctor_says_what_is_there(engine: ScriptedEngine) -> None:
    done = repertory("doctor", "--engine-url", engine.url, "--json")
    report = json.loads(done.stdout)
    names = {check["name"] for check in report["checks"]}
    assert {"python", "cpu", "disk", "database", "embedded engine", "models", "sandbox"} <= names
    assert any("scripted" in check["detail"] for check in report["checks"])
    assert report["ok"] is (done.returncode == 0)


def test_the_name_of_an_engines_model_does_not_act_on_the_terminal() -> None:
    with ScriptedEngine(reply=obliging("Go on."), kind=EngineKind.VLLM, model="bad\x1b[2Jname").in_thread() as running:
        done = repertory("run", "coaching", "-m", "I want to write.", "--user", "esc", "--engine-url", running.url)
    assert done.returncode == 0
    assert b"bad[2Jname" in done.stderr
    assert b"\x1b" not in done.stderr


def test_an_error_does_not_act_on_the_terminal() -> None:
    done = repertory("team", "show", "no\x1b[2Jsuch.yaml")
    assert done.returncode == 2
    assert b"such.yaml" in done.stderr
    assert b"\x1b" not in done.stderr


def test_a_crisis_is_answered_by_the_protocol_and_nobody_is_asked(engine: ScriptedEngine) -> None:
    asked = len(engine.requests)
    done = repertory(
        "run", "coaching", "-m", "I keep thinking everyone would be better off without me.", "--user", "crisis",
        "--engine-url", engine.url, "--json",
    )  # fmt: skip
    turn: dict[str, Any] = json.loads(done.stdout)
    assert turn["safety"] == {"level": "crisis", "route": "crisis_protocol"}
    assert "suicide" in turn["reply"].lower()
    assert "AI" in turn["first_reply"] + turn["reply"]
    assert len(engine.requests) == asked
