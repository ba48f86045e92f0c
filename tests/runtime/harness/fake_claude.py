"""Stands for Claude Code: takes its options, and sends what the real one was seen to send (version 2.1.197)."""

import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any

TASK = sys.stdin.read()
OPTIONS = sys.argv[1:]


def emit(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def told(code: int) -> None:
    emit(type="result", subtype="success", is_error=True, result=f"API Error: {code}")
    sys.exit(1)


BODY = {
    "model": OPTIONS[OPTIONS.index("--model") + 1],
    "max_tokens": 32000,
    "stream": True,
    "system": [
        {"type": "text", "text": "You are a Claude agent, built on Anthropic's Claude Agent SDK."},
        {"type": "text", "text": OPTIONS[OPTIONS.index("--system-prompt") + 1]},
    ],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "<system-reminder>Today's date is 2026-12-01.</system-reminder>"},
                {"type": "text", "text": TASK, "cache_control": {"type": "ephemeral"}},
            ],
        }
    ],
    "tools": [],
    "metadata": {"user_id": '{"device_id": "x"}'},
}
REQUEST = urllib.request.Request(  # noqa: S310 - the gateway's address
    f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages?beta=true",
    json.dumps(BODY).encode(),
    {
        "content-type": "application/json",
        "x-api-key": os.environ["ANTHROPIC_API_KEY"],
        "anthropic-version": "2023-06-01",
    },
)
emit(type="system", subtype="init", cwd=os.getcwd(), tools=[])  # noqa: PTH109
WORDS: list[str] = []
try:
    with urllib.request.urlopen(REQUEST) as answer:  # noqa: S310
        for line in answer:
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                emit(type="stream_event", event=event, parent_tool_use_id=None)
                WORDS.append(event.get("delta", {}).get("text", ""))
except urllib.error.HTTPError as error:
    told(error.code)
emit(type="result", subtype="success", is_error=False, result="".join(WORDS))
