import hashlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repertory.engines.model_store import ModelState, ModelStore, ensure_model
from repertory.errors import ModelStoreError, UsageError


@pytest.fixture
def gguf(tmp_path: Path, make_gguf: Callable[..., bytes]) -> Path:
    path = tmp_path / "My Model.Q8.gguf"
    path.write_bytes(make_gguf(padding=5000))
    return path


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_kwargs: object) -> None:
        pytest.fail("the network was used")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr("subprocess.Popen", refuse)


def test_a_local_file_is_kept_by_its_checksum(store: ModelStore, gguf: Path, tiny: Any) -> None:
    model = store.pull(str(gguf))
    assert model.name == "my-model.q8"
    assert model.sha256 == hashlib.sha256(gguf.read_bytes()).hexdigest()
    assert store.path_of("my-model.q8").samefile(gguf)  # a second name, not a copy
    assert gguf.stat().st_mode & 0o200  # and it stays the user's to write
    entry = next(entry for entry in store.entries() if entry.name == model.name)
    assert (entry.state, entry.file, entry.licence) == (ModelState.PRESENT, gguf.name, None)


def test_another_name_can_be_given(store: ModelStore, gguf: Path, tiny: Any) -> None:
    assert store.pull(str(gguf), as_name="mine").name == "mine"
    assert store.path_of("MINE").samefile(gguf)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "Upper", "x" * 101, "a b", "tiny", "tiny-instruct"])
def test_names_that_can_not_be_are_refused(store: ModelStore, gguf: Path, tiny: Any, name: str) -> None:
    with pytest.raises(UsageError):
        store.pull(str(gguf), as_name=name)
    assert store.present() == []


def test_a_file_of_the_catalog_is_recognised(store: ModelStore, tmp_path: Path, tiny: Any) -> None:
    path = tmp_path / "whatever.gguf"
    path.write_bytes(tiny.content)
    model = store.pull(str(path))
    assert (model.name, model.licence) == ("tiny", "MIT")


def test_a_file_that_only_has_the_catalogs_name_is_refused(store: ModelStore, gguf: Path, tiny: Any) -> None:
    other = gguf.with_name("tiny.gguf")
    gguf.rename(other)
    with pytest.raises(UsageError, match="belongs to a model of the catalog"):
        store.pull(str(other))


def test_what_is_no_model_is_refused(store: ModelStore, tmp_path: Path, tiny: Any) -> None:
    path = tmp_path / "page.gguf"
    path.write_bytes(b"<html>")
    with pytest.raises(ModelStoreError, match="GGUF"):
        store.pull(str(path))
    with pytest.raises(UsageError, match="no such file"):
        store.pull(str(tmp_path / "nix.gguf"))
    assert not store.layout.root.exists()


def test_a_folder_of_files_is_a_source(
    store: ModelStore, tmp_path: Path, tiny: Any, monkeypatch: pytest.MonkeyPatch, no_network: None
) -> None:
    wrong, right = tmp_path / "wrong", tmp_path / "right"
    for folder, content in ((wrong, bytes(len(tiny.content))), (right, tiny.content)):
        folder.mkdir()
        (folder / "Tiny.Q4.gguf").write_bytes(content)
    monkeypatch.setenv("REPERTORY_MODEL_FILES", os.pathsep.join(["/nix", str(wrong), str(right)]))
    store.pull("tiny")
    assert store.path_of("tiny").read_bytes() == tiny.content
    assert (wrong / "Tiny.Q4.gguf").exists()


def test_what_is_here_needs_no_network(store: ModelStore, tiny: Any, gguf: Path, no_network: None) -> None:
    path = gguf.with_name("t.gguf")
    path.write_bytes(tiny.content)
    store.pull(str(path))
    assert store.pull("tiny").name == "tiny"
    assert ensure_model("tiny", store=store) == store.path_of("tiny")
    assert [result.ok for result in store.verify()] == [True]
    assert [entry.name for entry in store.present()] == ["tiny"]


def test_a_file_of_the_users_is_used_as_it_is(store: ModelStore, gguf: Path, tiny: Any) -> None:
    assert ensure_model(str(gguf), store=store) == gguf
    assert store.present() == []
    with pytest.raises(UsageError):
        ensure_model(str(gguf.with_name("nix.gguf")), store=store)


def spoil(path: Path) -> str:
    path.chmod(0o644)
    with path.open("r+b") as file:
        file.seek(1000)
        file.write(b"tampered")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_tampered_file_is_refused_when_it_is_used(store: ModelStore, gguf: Path, tiny: Any) -> None:
    model = store.pull(str(gguf), as_name="mine")
    blob = store.path_of("mine")
    found = spoil(blob)
    with pytest.raises(ModelStoreError, match=f"expected SHA-256 {model.sha256}, found {found}"):
        store.path_of("mine")
    assert not blob.exists()
    assert store.present() == []


def test_a_touched_file_is_checked_and_used(store: ModelStore, gguf: Path, tiny: Any) -> None:
    store.pull(str(gguf), as_name="mine")
    os.utime(store.path_of("mine"), (1, 1))
    assert store.path_of("mine").samefile(gguf)


def test_a_tampered_file_is_fetched_again(store: ModelStore, tiny: Any, watch: Any) -> None:
    store.pull("tiny")
    spoil(store.path_of("tiny"))
    store.pull("tiny", progress=watch)
    assert any(tiny.entry.sha256 in message for message in watch.messages)
    assert store.path_of("tiny").read_bytes() == tiny.content


def test_verify_finds_and_removes_the_wrong_one(store: ModelStore, gguf: Path, tiny: Any, tmp_path: Path) -> None:
    good = tmp_path / "good.gguf"
    good.write_bytes(tiny.content)
    store.pull(str(good))
    expected = store.pull(str(gguf), as_name="mine").sha256
    found = spoil(store.path_of("mine"))
    assert [tuple(result) for result in store.verify()] == [
        ("mine", False, expected, found),
        ("tiny", True, tiny.entry.sha256, tiny.entry.sha256),
    ]
    assert [tuple(result) for result in store.verify(["mine"])] == [("mine", False, expected, None)]
    with pytest.raises(UsageError):
        store.verify(["nix"])


def test_remove_frees_the_file_with_its_last_name(store: ModelStore, gguf: Path, tiny: Any) -> None:
    store.pull(str(gguf), as_name="one")
    store.pull(str(gguf), as_name="two")
    blob = store.path_of("one")
    assert store.remove("one") == 0
    assert store.path_of("two") == blob
    assert store.remove("two") > 0
    assert not blob.exists()
    assert gguf.exists()
    for name in ("one", "tiny", "../names/x"):
        with pytest.raises(UsageError):
            store.remove(name)


def test_a_blob_that_lost_its_name_is_taken_up_again(store: ModelStore, tiny: Any, no_network: None) -> None:
    blob = store.layout.blob(tiny.entry.sha256)
    blob.parent.mkdir(parents=True)
    blob.write_bytes(tiny.content)
    assert store.pull("tiny").sha256 == tiny.entry.sha256
    assert store.path_of("tiny") == blob


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b'{"name": "evil"}',
        (
            b'{"name":"evil","file":"f","bytes":1,"sha256":"../../../etc/passwd","licence":null,"source":"s",'
            b'"added":"a","stamp":{"bytes":1,"modified_ns":1,"changed_ns":1}}'
        ),
    ],
)  # fmt: skip
def test_a_manifest_that_can_not_be_is_passed_over(store: ModelStore, tiny: Any, content: bytes) -> None:
    store.layout.names.mkdir(parents=True)
    (store.layout.names / "evil.json").write_bytes(content)
    assert store.present() == []
    with pytest.raises(UsageError):
        store.path_of("evil")


def test_a_store_that_can_not_be_written_is_told(store: ModelStore, gguf: Path, tiny: Any) -> None:
    store.layout.root.parent.mkdir(parents=True)
    store.layout.root.write_text("in the way")
    with pytest.raises(ModelStoreError, match="can not be written"):
        store.pull(str(gguf))
