"""A program that runs an agent, for tests: the standard library alone, and one word that says what it does."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any


def ask(messages: list[dict[str, str]], **more: object) -> str:
    """One request to the model that the environment names."""
    body = {"model": os.environ["OPENAI_MODEL"], "messages": messages, **more}
    request = urllib.request.Request(  # noqa: S310 - the gateway's address
        f"{os.environ['OPENAI_BASE_URL']}/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"},
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return json.load(answer)["choices"][0]["message"]["content"]


def wrapped(task: str) -> list[dict[str, str]]:
    """The task as coding agents send it: with instructions of their own, and the date."""
    return [
        {"role": "system", "content": "You are FakeAgent, a coding agent."},
        {"role": "user", "content": f"Today is 2026-12-01.\n\n{task}\n\nUse tools when you need them."},
    ]


def reach(host: str, port: int) -> str:
    """Whether a connection can be made."""
    try:
        with socket.create_connection((host, port), timeout=2):
            return "reached"
    except OSError as error:
        return type(error).__name__


def look(paths: list[str]) -> dict[str, object]:
    """What the program can read and write of the files that it is asked about."""
    found: dict[str, object] = {}
    for name in (path.removeprefix("file:") for path in paths):
        path = Path(name)
        try:
            found[f"read {name}"] = path.read_text()[:40]
        except OSError as error:
            found[f"read {name}"] = type(error).__name__
        try:
            (path.parent / "planted").write_text("x")
            found[f"write {name}"] = "written"
        except OSError as error:
            found[f"write {name}"] = type(error).__name__
    return found


def use_board(calls: list[dict[str, Any]]) -> list[Any]:
    """Speak to the blackboard as an MCP client does; gives its tools and what each call came to."""
    server = subprocess.Popen(
        json.loads(os.environ["REPERTORY_BOARD"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    given, told = server.stdin, server.stdout
    assert given is not None
    assert told is not None

    def send(message: dict[str, Any]) -> None:
        given.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        given.flush()

    def request(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        send({"id": number, "method": method, "params": params})
        while True:
            reply = json.loads(told.readline())
            if reply.get("id") == number:
                return reply["result"]

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fake", "version": "1"}}
    request(1, "initialize", hello)
    send({"method": "notifications/initialized"})
    tools = request(2, "tools/list", {})["tools"]
    found: list[Any] = [sorted(tool["name"] for tool in tools)]
    for number, call in enumerate(calls, start=3):
        result = request(number, "tools/call", call)
        found.append([result.get("isError", False), json.loads(result["content"][0]["text"])])
    return found


NOTHING: dict[str, Any] = {}


def say(text: str) -> None:
    print(text, end="", flush=True)


def slowly(_task: str) -> None:
    for piece in ("One ", "two ", "three."):
        say(piece)
        time.sleep(0.05)


def with_tools(task: str) -> None:
    tool = {"type": "function", "function": {"name": "shell", "description": "x" * 400, "parameters": NOTHING}}
    say(ask(wrapped(task), tools=[tool]))


def many(task: str, times: str) -> None:
    for _ in range(int(times)):
        ask(wrapped(task))
    say(ask(wrapped(task)))


def another_token(task: str) -> None:
    os.environ["OPENAI_API_KEY"] = "run_" + "x" * 43
    try:
        ask(wrapped(task))
    except urllib.error.HTTPError as error:
        say(f"refused: {error.code}")


def network(_task: str, *targets: str) -> None:
    tries = {f"{host}:{port}": reach(host, int(port)) for host, port in (word.rsplit(":", 1) for word in targets)}
    tries["gateway"] = reach("127.0.0.1", 8700)
    tries["interfaces"] = ",".join(name for _, name in socket.if_nameindex())
    say(json.dumps(tries))


def children(task: str, seconds: str) -> None:
    for _ in range(3):
        subprocess.Popen(["/bin/sleep", seconds], start_new_session=True)
    ask(wrapped(task))


def hang(_task: str) -> None:
    say("Some words. ")
    time.sleep(600)


def crash(_task: str) -> None:
    say("Half an ans")
    sys.stderr.write("the disk is on fire\n")
    sys.exit(3)


def plant(_task: str) -> None:
    Path("kept").write_text(Path("kept").read_text() + "x" if Path("kept").exists() else "x")
    say(f"{Path('kept').read_text()} {sorted(path.name for path in Path('context').iterdir())}")


def flood(_task: str) -> None:
    while True:
        say("x" * 65536)


def board_log(_task: str, *calls: str) -> None:
    Path("board.log").write_text(json.dumps(use_board([json.loads(call) for call in calls])))


def files(_task: str, *paths: str) -> None:
    say(json.dumps({"environment": sorted(os.environ), **look(list(paths))}))


def board(_task: str, *calls: str) -> None:
    say(json.dumps(use_board([json.loads(call) for call in calls])))


def write_file(_task: str, name: str, text: str) -> None:
    Path(name).write_text(text)


def link(_task: str, target: str) -> None:
    Path("answer.json").symlink_to(target)


def repeat(_task: str, words: str) -> None:
    say(words)


def answer(task: str) -> None:
    say(ask(wrapped(task)))


MODES: dict[str, Callable[..., None]] = {
    "answer": answer,
    "say": repeat,
    "echo": say,
    "slowly": slowly,
    "tools": with_tools,
    "many": many,
    "another token": another_token,
    "network": network,
    "files": files,
    "children": children,
    "hang": hang,
    "crash": crash,
    "file": write_file,
    "link": link,
    "plant": plant,
    "board": board,
    "board log": board_log,
    "flood": flood,
}

MODES[sys.argv[1]](sys.stdin.read(), *sys.argv[2:])
