"""`repertory serve` and `repertory keys`, as processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from repertory.testing import ScriptedEngine


def repertory(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "repertory", *arguments], capture_output=True, text=True, check=False, timeout=100
    )


@contextmanager
def serve(*arguments: str) -> Generator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The running command, and the document it prints when it listens."""
    command = [sys.executable, "-m", "repertory", "serve", "--port", "0", "--json", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    )
    assert process.stdout is not None
    try:
        document = ""
        for line in process.stdout:
            document += line
            if line == "}\n":
                break
        if not document:
            pytest.fail(process.communicate()[1])
        yield process, json.loads(document)
    finally:
        process.kill()
        process.communicate()


def test_it_serves_until_it_is_told_to_stop() -> None:
    scripted = ScriptedEngine("one two three")
    with scripted.in_thread(), serve("--engine-url", scripted.url) as (process, document):
        url = document["url"]
        assert {"coaching", "coaching/shadow", "scripted"} <= set(document["models"])
        ask = {"model": "scripted", "messages": [{"role": "user", "content": "Hello."}]}
        answer = httpx2.post(f"{url}/v1/chat/completions", json=ask, trust_env=False)
        assert answer.json()["choices"][0]["message"]["content"] == "one two three"
        paths = httpx2.get(f"{url}/openapi.json", trust_env=False).json()["paths"]
        assert {"/v1/chat/completions", "/v1/messages", "/healthz", "/metrics"} <= set(paths)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in {0, -signal.SIGTERM}


def test_with_keys_it_may_listen_everywhere_and_asks_for_one() -> None:
    key = json.loads(repertory("keys", "create", "app", "--team", "coaching", "--json").stdout)["key"]
    scripted = ScriptedEngine("one two three")
    with scripted.in_thread(), serve("--engine-url", scripted.url, "--keys", "--host", "0.0.0.0") as (_, document):
        url = document["url"].replace("0.0.0.0", "127.0.0.1") + "/v1/models"
        assert httpx2.get(url, trust_env=False).status_code == 401
        listed = httpx2.get(url, headers={"authorization": f"Bearer {key}"}, trust_env=False).json()
    assert [entry["id"] for entry in listed["data"]] == ["coaching"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_without_keys_it_listens_on_this_machine_alone(host: str) -> None:
    done = repertory("serve", "--host", host, "--engine-url", "http://127.0.0.1:9/v1")
    assert done.returncode == 2
    assert "keys create" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_engine_that_is_not_there_is_told() -> None:
    done = repertory("serve", "--port", "0", "--engine-url", "http://127.0.0.1:9/v1", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["type"] == "EngineUnavailableError"


def test_a_taken_port_is_told_before_anything_is_started() -> None:
    scripted = ScriptedEngine()
    with scripted.in_thread():
        port = scripted.url.split(":")[2].removesuffix("/v1")
        done = repertory("serve", "--port", port, "--engine-url", scripted.url)
    assert done.returncode == 1
    assert "--port" in done.stderr


def test_keys_are_made_listed_and_revoked() -> None:
    made = json.loads(
        repertory("keys", "create", "app", "--agent", "coaching/*", "--model", "m", "--days", "3", "--json").stdout
    )
    assert made["scopes"] == ["agent:coaching/*", "model:m"]
    assert made["state"] == "in use"
    assert repertory("keys", "create", "app").returncode == 2
    shown = repertory("keys", "list")
    assert "app" in shown.stdout
    assert made["key"] not in shown.stdout
    assert "digest" not in repertory("keys", "list", "--json").stdout
    assert json.loads(repertory("keys", "revoke", made["id"], "--json").stdout)["state"] == "revoked"
    assert repertory("keys", "revoke", "nobody").returncode == 2
    assert repertory("keys", "create", "app", "--requests-per-minute", "0").returncode == 2
