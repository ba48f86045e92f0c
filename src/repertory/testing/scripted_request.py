"""A request as a scripted engine received it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

__all__ = ("ScriptedRequest",)


@dataclass(frozen=True)
class ScriptedRequest:
    """One HTTP request.

    Attributes:
        number: Counts the generations from 0; -1 for every other request.
        method: The HTTP method.
        path: The path with its query.
        headers: The headers, names in lower case.
        body: The raw body.
    """

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def fields(self) -> dict[str, object]:
        """The body as a JSON object; empty when it is none."""
        try:
            value: object = json.loads(self.body)
        except ValueError:
            return {}
        return cast("dict[str, object]", value) if isinstance(value, dict) else {}

    @property
    def messages(self) -> list[dict[str, str]]:
        """The chat messages."""
        value = self.fields.get("messages")
        return cast("list[dict[str, str]]", value) if isinstance(value, list) else []

    @property
    def text(self) -> str:
        """The contents of all messages (or the raw prompt), joined by blank lines: what the model reads."""
        prompt = self.fields.get("prompt")
        if isinstance(prompt, str):
            return prompt
        return "\n\n".join(str(message.get("content", "")) for message in self.messages)

    @property
    def json_schema(self) -> dict[str, object] | None:
        """The JSON Schema that constrains the answer, in whichever dialect it came."""
        for value in (self.fields.get("format"), self.fields.get("json_schema"), self._response_schema()):
            if isinstance(value, dict):
                return cast("dict[str, object]", value)
        return None

    @property
    def max_tokens(self) -> int | None:
        """The cap on the answer."""
        options = self.fields.get("options")
        places = (self.fields, cast("dict[str, object]", options) if isinstance(options, dict) else {})
        for place in places:
            for name in ("max_tokens", "max_completion_tokens", "n_predict", "num_predict"):
                value = place.get(name)
                if isinstance(value, int) and value >= 0:
                    return value
        return None

    @property
    def slot(self) -> int | None:
        """The llama.cpp slot asked for."""
        value = self.fields.get("id_slot")
        return value if isinstance(value, int) and value >= 0 else None

    @property
    def streams(self) -> bool:
        """Whether the answer is wanted as a stream (Ollama streams unless told not to)."""
        return self.fields.get("stream", self.path.startswith("/api/")) is True

    def _response_schema(self) -> object:
        wanted = self.fields.get("response_format")
        if not isinstance(wanted, dict):
            return None
        inner = cast("dict[str, object]", wanted).get("json_schema")
        return cast("dict[str, object]", inner).get("schema") if isinstance(inner, dict) else None
