"""Packages for the tests."""

from pathlib import Path

MANIFEST = """\
manifest: 1
name: counter
purpose: "Counts words: all of them"
tools:
  - name: count
    description: Count the words of a text.
    input_schema:
      type: object
      properties: {text: {type: string}, at_least: {type: integer, minimum: 0}}
      required: [text]
      additionalProperties: false
    output_schema: {type: integer}
  - name: misbehave
    description: Do something wrong.
    input_schema: {type: object, properties: {how: {type: string}}, required: [how]}
    output_schema: {type: integer}
  - name: remember
    description: Keep a word, and give all.
    input_schema: {type: object, properties: {word: {type: string}}, required: [word]}
    output_schema: {type: array, items: {type: string}}
permissions:
  state: true
  http:
    - {method: POST, path: /words, function: post_word}
    - {method: GET, path: "/words/{number}", function: get_word}
limits: {wall_s: 3, cpu_s: 1, memory_mib: 128}
"""

TOOLS = """\
import base64
import sqlite3
import time


def count(text, at_least=1):
    return sum(len(word) >= at_least for word in text.split())


def misbehave(how):
    if how == "raise":
        raise ValueError("no such thing")
    if how == "text":
        return "not a number"
    if how == "nan":
        return float("nan")
    if how == "sleep":
        time.sleep(60)
    if how == "loop":
        while True:
            pass
    if how == "memory":
        return len(bytearray(10**9))
    if how == "huge":
        return "x" * 5_000_000
    if how == "files":
        for number in range(100):
            open(f"/state/{number}", "w").close()
    if how == "die":
        import os
        os._exit(0)
    return 1


def remember(word):
    with sqlite3.connect("/state/state.sqlite") as database:
        database.execute("create table if not exists words (word text)")
        database.execute("insert into words values (?)", (word,))
        return [row[0] for row in database.execute("select word from words order by rowid")]


def post_word(request):
    if request["headers"].get("x-secret") != "s":
        return {"status": 401}
    return {"status": 201, "body": {"words": remember(request["body"]), "raw": request["body_base64"]},
            "headers": {"X-Count": "1", "Set-Cookie": "a=b"}}


def get_word(request):
    if request["params"]["number"] == "bad":
        return "no response"
    return {"status": 200, "body": request["params"]["number"] + str(request["query"])}
"""

SKILL = '---\nname: counter\ndescription: "Counts words: all of them"\n---\n\n# counter\n'
EVIDENCE = '{"request": "count words", "built_by": "a test"}\n'


def package(**changes: str | None) -> dict[str, bytes]:
    """A valid package, with files changed (`tools_py=...`), or left out (None)."""
    files = {
        "agent.yaml": MANIFEST,
        "SKILL.md": SKILL,
        "tools.py": TOOLS,
        "evidence.json": EVIDENCE,
        "tests/test_count.py": "from tools import count\n\ndef test_count():\n    assert count('a b') == 2\n",
    }
    names = {path.replace(".", "_").replace("/", "_"): path for path in files}
    for name, content in changes.items():
        path = names[name]
        if content is None:
            del files[path]
        else:
            files[path] = content
    return {path: content.encode() for path, content in files.items()}


def edition(number: int) -> dict[str, bytes]:
    """A valid package whose `count` adds `number`: another content for each number."""
    tools = TOOLS.replace("return sum(", f"return {number} + sum(")
    return package(tools_py=tools)


def write(files: dict[str, bytes], folder: Path) -> Path:
    """The package as a folder."""
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder
