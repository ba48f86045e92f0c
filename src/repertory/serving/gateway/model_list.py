"""`/v1/models`, in the shape of both APIs at once: their members do not clash."""

from collections.abc import Mapping
from urllib.parse import unquote

from repertory.serving.gateway.client import Client
from repertory.serving.gateway.routing import Route
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("answer_models", "is_model_list")

_PATH = "/v1/models"


def is_model_list(path: str) -> bool:
    """Whether a path is this endpoint's."""
    return path == _PATH or path.startswith(_PATH + "/")


async def answer_models(client: Client, visible: Mapping[str, Route]) -> None:
    """Answer with all names, or with the one that the path names.

    Args:
        client: Who asks.
        visible: The names that the caller may use.

    Raises:
        GatewayError: There is no such name, or the method is not GET.
    """
    if client.scope["method"] != "GET":
        raise GatewayError("this endpoint takes GET", status=405, code="method_not_allowed")
    wanted = unquote(client.scope["path"].removeprefix(_PATH).removeprefix("/"))
    if not wanted:
        entries = {name: _entry(name, route) for name, route in visible.items()}
        ends = {"first_id": next(iter(entries), None), "last_id": next(reversed(entries), None)}
        document: dict[str, object] = {"object": "list", "data": list(entries.values()), "has_more": False}
        await client.answer_json(200, document | ends)
    elif wanted in visible:
        await client.answer_json(200, _entry(wanted, visible[wanted]))
    else:
        message = f"there is no model {wanted[:200]!r}"
        raise GatewayError(message, status=404, code="model_not_found", param="model")


def _entry(name: str, route: Route) -> dict[str, object]:
    contexts = [replica.upstream.context_tokens for replica in route.replicas]
    known = [context for context in contexts if context]
    entry: dict[str, object] = {
        "id": name,
        "object": "model",
        "created": 0,
        "owned_by": f"repertory-{route.kind}",
        "type": "model",
        "display_name": name,
        "created_at": "1970-01-01T00:00:00Z",
    }
    if known:
        entry["max_model_len"] = min(known)
    return entry
