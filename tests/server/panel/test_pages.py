"""The dashboard's pages: what browsers get, and what keeps foreign code out."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from repertory.server.panel.pages import CONTENT_SECURITY_POLICY, mount_pages

PAGE = {"accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>The dashboard</title>")
    (folder / "assets" / "index-abc123.js").write_text("console.log('here')")
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / ".hidden").write_text("no")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


@pytest.fixture
async def pages(bundle: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    app = FastAPI()
    mount_pages(app, bundle)
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def test_browsers_get_the_page_for_every_place_in_it(pages: httpx2.AsyncClient) -> None:
    for path in ("/", "/teams", "/turns/t01abc", "/blackboard/coaching/ada"):
        answer = await pages.get(path, headers=PAGE)
        assert answer.status_code == 200
        assert "The dashboard" in answer.text
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-cache"


def test_the_policy_lets_nothing_from_elsewhere_in() -> None:
    rules = {
        name: value for name, _, value in (rule.strip().partition(" ") for rule in CONTENT_SECURITY_POLICY.split(";"))
    }
    assert rules["default-src"] == rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert "unsafe" not in CONTENT_SECURITY_POLICY


async def test_hashed_files_are_kept_for_ever_and_others_asked_for_again(pages: httpx2.AsyncClient) -> None:
    script = await pages.get("/assets/index-abc123.js")
    assert "immutable" in script.headers["cache-control"]
    assert "javascript" in script.headers["content-type"]
    icon = await pages.get("/favicon.svg")
    assert (icon.headers["cache-control"], icon.headers["content-type"]) == ("no-cache", "image/svg+xml")


async def test_programs_get_json_and_missing_files_are_missing(pages: httpx2.AsyncClient) -> None:
    assert (await pages.get("/")).json()["openapi"] == "/openapi.json"
    assert (await pages.get("/teams")).status_code == 404
    assert (await pages.get("/assets/gone.js", headers=PAGE)).status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/link.txt", "/.hidden",
     "/..%5csecret.txt", "//etc/passwd", "/%00", "/assets", "/%2fetc%2fpasswd"],
)  # fmt: skip
async def test_nothing_outside_of_the_bundle_is_given(pages: httpx2.AsyncClient, path: str) -> None:
    answer = await pages.get(path)
    assert answer.status_code == 404
    assert "secret" not in answer.text


async def test_without_a_bundle_the_page_says_so(tmp_path: Path) -> None:
    app = FastAPI()
    mount_pages(app, tmp_path / "nothing")
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.get("/", headers=PAGE)
        assert answer.status_code == 200
        assert "no dashboard" in answer.text
        assert "<script" not in answer.text


async def test_the_server_gives_pages_beside_its_api(http: httpx2.AsyncClient) -> None:
    page = await http.get("/", headers=PAGE)
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert (await http.get("/healthz")).json() == {"status": "ok"}
    assert (await http.get("/api/nothing", headers=PAGE)).json()["error"]["type"] == "not_found"
