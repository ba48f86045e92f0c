"""The pipeline that one writes first: one request after the other, with httpx alone."""

import json
from collections.abc import Callable
from typing import Any

import httpx
from reporting import Turn, Work, finish, read_work, system_text


def messages_for(work: Work, agent: Work, history: list[Work], said: str) -> list[Work]:
    return [{"role": "system", "content": system_text(work, agent)}, *history, {"role": "user", "content": said}]


def body_for(work: Work, agent: Work, messages: list[Work], *, stream: bool) -> Work:
    body: Work = {
        "model": work["model"],
        "messages": messages,
        "max_tokens": work["max_tokens"],
        "temperature": 0,
        "stream": stream,
    }
    if agent["schema"] is not None:
        schema = {"name": agent["name"], "schema": agent["schema"], "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def stream(client: httpx.Client, body: Work, on_token: Callable[[], None]) -> str:
    pieces: list[str] = []
    with client.stream("POST", "/v1/chat/completions", json=body) as response:
        response.raise_for_status()
        for line in response.iter_lines():
            if not line.startswith("data: ") or line == "data: [DONE]":
                continue
            for choice in json.loads(line[6:])["choices"]:
                if piece := choice["delta"].get("content"):
                    on_token()
                    pieces.append(piece)
    return "".join(pieces)


def ask(client: httpx.Client, body: Work) -> str:
    response = client.post("/v1/chat/completions", json=body)
    response.raise_for_status()
    return response.json()["choices"][0]["message"]["content"]


def main() -> None:
    work = read_work()
    agents: dict[str, Any] = {agent["name"]: agent for agent in work["agents"]}
    history: list[Work] = []
    headers = {"Authorization": f"Bearer {work['api_key']}"}
    with httpx.Client(base_url=work["url"], headers=headers, timeout=None, trust_env=False) as client:  # noqa: S113
        for number, said in enumerate(work["messages"], 1):
            with Turn(work, number) as turn:
                coach = agents["coach"]
                body = body_for(work, coach, messages_for(work, coach, history, said), stream=True)
                first = stream(client, body, turn.token)
                turn.coach()
                found: dict[str, str] = {}
                for name, agent in agents.items():
                    if agent["schema"] is not None:
                        prompt = messages_for(work, agent, history, said)
                        found[name] = ask(client, body_for(work, agent, prompt, stream=False))
                        json.loads(found[name])
                notes = "\n".join(f"{name}: {text}" for name, text in found.items())
                prompt = messages_for(work, agents["synth"], history, f"{said}\n\nThe Coach said: {first}\n\n{notes}")
                full = ask(client, body_for(work, agents["synth"], prompt, stream=False))
                turn.reply()
            history += [
                {"role": "user", "content": said},
                {"role": "assistant", "content": f"{first}\n\n{full}"},
            ]
    finish(version=httpx.__version__)


if __name__ == "__main__":
    main()
