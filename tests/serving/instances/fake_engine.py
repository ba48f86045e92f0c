"""An engine for tests of the supervisor: a program of its own that serves, loads slowly, crashes or dies as it is told.

It is started like `vllm serve FOLDER ... --port N`; `behaviour.json` in FOLDER tells what it does, and is read at each
start, so that a test can change it between two starts. Every start, request and end is noted in FOLDER/events.jsonl.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[sys.argv.index("serve") + 1])
BEHAVIOUR: dict[str, Any] = json.loads((FOLDER / "behaviour.json").read_text())
PORT = int(sys.argv[sys.argv.index("--port") + 1])
KEY = os.environ["VLLM_API_KEY"]


def note(what: str) -> None:
    with (FOLDER / "events.jsonl").open("a") as file:
        file.write(json.dumps({"what": what, "pid": os.getpid(), "at": time.monotonic()}) + "\n")


class Handler(BaseHTTPRequestHandler):
    asleep = False

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        pass

    def answer(self, status: int, document: object) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        if self.path == "/health":
            self.answer(200, {})
        elif self.path == "/is_sleeping":
            self.answer(200, {"is_sleeping": Handler.asleep})
        elif self.path == "/v1/models":
            self.answer(200, {"data": [{"id": "fake", "owned_by": "somebody"}]})
        else:
            self.answer(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/sleep"):
            note("sleep")
            Handler.asleep = True
            self.answer(200, {})
        elif self.path.startswith("/wake_up"):
            note("wake")
            Handler.asleep = False
            self.answer(200, {})
        elif self.headers.get("Authorization") != f"Bearer {KEY}":
            self.answer(401, {"error": "key"})
        elif Handler.asleep:
            self.answer(500, {"error": "asleep"})
        elif BEHAVIOUR.get("no_tokens"):
            self.answer(200, {"choices": [{"message": {"content": ""}}], "usage": {"completion_tokens": 0}})
        elif BEHAVIOUR.get("broken_answer"):
            self.answer(500, {"error": {"message": "the kernel failed"}})
        else:
            note(f"request {json.loads(body).get('model')}")
            self.answer(200, {"choices": [{"message": {"content": "x"}}], "usage": {"completion_tokens": 1}})


def main() -> None:
    note("start")
    for line in BEHAVIOUR.get("prints", []):
        print(line, file=sys.stderr, flush=True)
    if BEHAVIOUR.get("child"):
        code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    if BEHAVIOUR.get("ignores_sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "exit_code" in BEHAVIOUR:
        note("exit")
        sys.exit(BEHAVIOUR["exit_code"])
    if BEHAVIOUR.get("kills_itself"):
        os.kill(os.getpid(), signal.SIGKILL)
    if BEHAVIOUR.get("hangs"):
        note("hangs")
        threading.Event().wait()
    for _ in range(BEHAVIOUR.get("loads_for_tenths", 0)):
        print("loading ...", flush=True)
        time.sleep(0.1)
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    note("ready")
    server.serve_forever()


if __name__ == "__main__":
    main()
