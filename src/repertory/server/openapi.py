"""The gateway's endpoints in `/openapi.json`: FastAPI does not see them, since they are not its own."""

from typing import Any

from fastapi import FastAPI

from repertory.serving.gateway.endpoints import ENDPOINTS
from repertory.serving.gateway.wire_errors import ApiShape

__all__ = ("describe_gateway",)

_ABOUT = {
    "/v1/chat/completions": "A chat with a team, an agent's instance or a model.",
    "/v1/completions": "The continuation of a raw prompt.",
    "/v1/embeddings": "Embeddings, where the engine has them.",
    "/v1/messages": "The same as chat completions, in Anthropic's API.",
    "/v1/messages/count_tokens": "How many tokens a request to `/v1/messages` would have.",
}
_ERROR = {
    ApiShape.OPENAI: {
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {name: {"type": ["string", "null"]} for name in ("message", "type", "param", "code")},
            }
        },
    },
    ApiShape.ANTHROPIC: {
        "type": "object",
        "properties": {
            "type": {"const": "error"},
            "error": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("type", "message", "code")},
            },
        },
    },
}


def describe_gateway(app: FastAPI) -> None:
    """Add the gateway's endpoints to the description of an application."""
    own = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = own()
            document["paths"] |= _paths()
            parts = document.setdefault("components", {})
            parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            document["security"] = [{}, {"key": []}]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for path, endpoint in ENDPOINTS.items():
        answers: dict[str, Any] = {"application/json": {"schema": {"type": "object"}}}
        if endpoint.streams:
            answers["text/event-stream"] = {"schema": {"type": "string"}}
        fields = {"model": {"type": "string"}, "stream": {"type": "boolean"}, "priority": {"type": "integer"}}
        fields |= {name: {} for name in endpoint.prompt}
        schema = {"type": "object", "required": ["model", endpoint.prompt[-1]], "properties": fields}
        failure = {"description": "An error", "content": {"application/json": {"schema": _ERROR[endpoint.shape]}}}
        paths[path] = {
            "post": {
                "tags": ["models"],
                "summary": _ABOUT[path],
                "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
                "responses": {"200": {"description": "The answer", "content": answers}, "default": failure},
            }
        }
    listed: dict[str, Any] = {
        "description": "The names that the key may use",
        "content": {"application/json": {"schema": {}}},
    }
    paths["/v1/models"] = {"get": {"tags": ["models"], "summary": "All names.", "responses": {"200": listed}}}
    return paths
