"""The dashboard's pages: the built bundle from the package, and headers that keep foreign code out of it."""

import mimetypes
from collections.abc import Awaitable, Callable
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from starlette.middleware import Middleware

from repertory.server.panel.failures import is_panel, not_found

__all__ = ("CONTENT_SECURITY_POLICY", "PageHeaders", "bundle_folder", "mount_pages")

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
_NOT_BUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Repertory</title>
<h1>Repertory is running</h1>
<p>The API answers, but this installation has no dashboard: its pages were not built.</p>
<p>Installed packages have them. In a source tree, build them with the Makefile, then load this page again.</p>
<p><a href="/openapi.json">The API's description</a></p>
</html>
"""
_FOREVER = "public, max-age=31536000, immutable"

_Scope = dict[str, Any]
_Receive = Callable[[], Awaitable[dict[str, Any]]]
_Send = Callable[[dict[str, Any]], Awaitable[None]]


def bundle_folder() -> Path:
    """Where the built pages are; it may be empty."""
    return Path(str(resources.files("repertory.server"))) / "web"


class PageHeaders:
    """Adds the headers to every answer that does not bring its own: answers of agents have stricter ones."""

    def __init__(self, app: Callable[[_Scope, _Receive, _Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
                there = {name.lower() for name, _ in headers}
                headers += [pair for pair in _HEADERS if pair[0] not in there]
                if is_panel(scope["path"]) and b"cache-control" not in there:
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, with_headers)


def mount_pages(app: FastAPI, folder: Path | None = None) -> None:
    """Answer what no other route answers with the pages.

    Args:
        app: The application, with all its other routes.
        folder: Where the built pages are; None takes those of the package.
    """
    root = (folder or bundle_folder()).resolve()
    app.user_middleware.append(Middleware(PageHeaders))  # the innermost: the gateway's own answers do not pass it

    @app.get("/", include_in_schema=False)
    async def home(request: Request) -> Response:
        if not _wants_page(request):
            version = metadata.version("repertory")
            return JSONResponse({"name": "Repertory", "version": version, "api": "/api", "openapi": "/openapi.json"})
        return _index(root)

    @app.get("/{path:path}", include_in_schema=False)
    async def page(path: str, request: Request) -> Response:
        if is_panel(request.url.path):
            raise not_found("endpoint", request.url.path)
        file = _file(root, path)
        if file is not None:
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            lasting = _FOREVER if path.startswith("assets/") else "no-cache"
            return FileResponse(file, media_type=kind, headers={"cache-control": lasting})
        if "." not in path.rsplit("/", 1)[-1] and _wants_page(request):
            return _index(root)
        return JSONResponse({"detail": "Not Found"}, 404)

    del home, page  # registered by the decorators


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _index(root: Path) -> Response:
    index = root / "index.html"
    if not index.is_file():
        return HTMLResponse(_NOT_BUILT, headers={"cache-control": "no-store"})
    return FileResponse(index, media_type="text/html; charset=utf-8", headers={"cache-control": "no-cache"})


def _file(root: Path, path: str) -> Path | None:
    """The file of the bundle that a path names; None when there is none, or it would lie outside of the bundle."""
    if not path or "\0" in path or "\\" in path:
        return None
    try:
        found = (root / path).resolve()
        inside = found.is_relative_to(root) and not any(part.startswith(".") for part in found.relative_to(root).parts)
        return found if inside and found.is_file() else None
    except (OSError, ValueError):  # a name that no file can have, such as one that is too long
        return None
