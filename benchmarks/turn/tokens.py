"""How many tokens a session's prompts hold that no earlier prompt of it began with: the least an engine has to compute.

It is counted for every driver from its own prompts, which say the same in another order. Tokens that an engine wrote
itself and finds again in the next prompt are counted as new, for everybody.
"""

from collections.abc import Sequence
from typing import Any

import httpx2

from benchmarks.turn.proxy import RecordedTurn
from repertory.engines.profile import EngineKind

__all__ = ("UniqueTokens",)


class UniqueTokens:
    """Counts over one session.

    Args:
        engine_url: Root of the engine's interface.
        api_key: Its key.
        kind: Which engine it is.
        model: The served model.
    """

    def __init__(self, engine_url: str, api_key: str, kind: EngineKind, model: str) -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx2.Client(base_url=engine_url, headers=headers, timeout=60, trust_env=False)
        self._kind, self._model = kind, model
        self._known: set[int] = set()

    def add(self, turn: RecordedTurn) -> tuple[int, int]:
        """Take in a turn; how many tokens its prompts had in all, and how many of them were new."""
        before, total = len(self._known), 0
        for sent in turn.generations:
            tokens = self._tokens(sent.body)
            total += 0 if sent.path == "/completion" else len(tokens)
            beginning = 0
            for token in tokens:
                beginning = hash((beginning, token))
                self._known.add(beginning)
        return total, len(self._known) - before

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _tokens(self, body: dict[str, Any]) -> Sequence[int]:
        if "messages" not in body:
            return self._tokenize({"content": body["prompt"], "add_special": True, "parse_special": True})
        if self._kind is EngineKind.VLLM:
            return self._tokenize({"model": self._model, "messages": body["messages"]})
        rendered = self._client.post("/apply-template", json={"messages": body["messages"]}).raise_for_status()
        prompt = rendered.json()["prompt"]
        return self._tokenize({"content": prompt, "add_special": True, "parse_special": True})

    def _tokenize(self, body: dict[str, Any]) -> Sequence[int]:
        return self._client.post("/tokenize", json=body).raise_for_status().json()["tokens"]
