"""Packages from outside: folders and archives that try to get out, to be too much, or to be somebody else's."""

import io
import os
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.registry.packages import package, write

from repertory.errors import PackageError, RegistryError
from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.registry.signing import SigningKey, fingerprint
from repertory.storage.store import Store


def zipped(entries: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] | None = None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if change is not None:
                change(info)
            archive.writestr(info, content)
    return out.getvalue()


def inside(files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"counter/{path}": content for path, content in files.items()}


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[bytes], Path]:
    def make(data: bytes) -> Path:
        path = tmp_path / "package.zip"
        path.write_bytes(data)
        return path

    return make


def test_what_was_exported_comes_back_the_same(registry: Registry, tmp_path: Path) -> None:
    version = registry.deploy(package()).version
    for as_folder in (False, True):
        first, second = (tmp_path / f"{name}-{as_folder}" for name in "ab")
        for target in (first, second):
            registry.export(version, target, as_folder=as_folder)
        if not as_folder:
            assert first.read_bytes() == second.read_bytes()
        assert registry.import_from(first) == (version, False)
    with pytest.raises(RegistryError, match="there already"):
        registry.export(version, tmp_path / "a-False")


def test_the_folder_form_is_the_package_itself(registry: Registry, tmp_path: Path) -> None:
    target = registry.export(registry.deploy(package()).version, tmp_path / "counter", as_folder=True)
    written = {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}
    assert written == {*package(), "signature.json"}


def test_a_package_of_somebody_else_needs_trust(registry: Registry, tmp_path: Path) -> None:
    other_home = Home(root=tmp_path / "other", models=tmp_path)
    with Store.open(other_home.database) as other_store:
        other = Registry(other_store, other_home)
        other.export(other.deploy(package()).version, tmp_path / "foreign.zip")
    signer = fingerprint(SigningKey.of(other_home).public_key)
    with pytest.raises(PackageError, match=signer):
        registry.import_from(tmp_path / "foreign.zip")
    with pytest.raises(PackageError, match=signer):
        registry.import_from(tmp_path / "foreign.zip", trust="unsigned")
    deployed = registry.import_from(tmp_path / "foreign.zip", trust=signer)
    assert (deployed.version.label, deployed.version.state) == ("counter@1", "draft")
    assert deployed.version.source["signed_by"] == signer
    assert registry.load(deployed.version).package.name == "counter"


def test_an_unsigned_folder_needs_trust(registry: Registry, tmp_path: Path) -> None:
    folder = write(package(), tmp_path / "counter")
    with pytest.raises(PackageError, match="not signed"):
        registry.import_from(folder)
    assert registry.import_from(folder, trust="unsigned").new


@pytest.mark.parametrize("path", ["tools.py", "agent.yaml", "tests/test_count.py", "signature.json"])
def test_a_changed_archive_is_refused(registry: Registry, tmp_path: Path, path: str) -> None:
    folder = registry.export(registry.deploy(package()).version, tmp_path / "counter", as_folder=True)
    place = folder / path
    place.write_text(place.read_text().replace("count", "c0unt", 1).replace('"signature": "', '"signature": "AA'))
    with pytest.raises(PackageError):
        registry.import_from(folder, trust=registry.key.public_key)
    assert len(registry.versions("counter")) == 1


def test_an_added_file_is_refused(registry: Registry, tmp_path: Path) -> None:
    folder = registry.export(registry.deploy(package()).version, tmp_path / "counter", as_folder=True)
    (folder / "more.py").write_text("")
    with pytest.raises(PackageError, match="does not fit its content"):
        registry.import_from(folder)


@pytest.mark.parametrize(
    "name",
    ["../evil.py", "/evil.py", "counter/../../evil.py", "counter\\..\\evil.py", "counter/a/./b", "C:/x", "counter/"],
)
def test_a_path_that_leads_out_is_refused(registry: Registry, archive: Callable[[bytes], Path], name: str) -> None:
    source = archive(zipped({**inside(package()), name: b"x"} if not name.endswith("/") else {name + "\0x": b""}))
    with pytest.raises(PackageError):
        registry.import_from(source, trust="unsigned")
    assert registry.names() == []
    assert not list(source.parent.rglob("evil*"))


def test_a_link_in_an_archive_is_refused(registry: Registry, archive: Callable[[bytes], Path]) -> None:
    def link(info: zipfile.ZipInfo) -> None:
        if info.filename.endswith("tools.py"):
            info.external_attr = (stat.S_IFLNK | 0o777) << 16

    with pytest.raises(PackageError, match="no file"):
        registry.import_from(archive(zipped(inside(package()), link)), trust="unsigned")


def test_a_bomb_is_not_unpacked(registry: Registry, archive: Callable[[bytes], Path]) -> None:
    with pytest.raises(PackageError, match="larger"):
        registry.import_from(archive(zipped(inside({"bomb.txt": bytes(60_000_000)}))), trust="unsigned")
    many = zipped({f"counter/{number}": b"" for number in range(5_000)})
    with pytest.raises(PackageError, match="at most"):
        registry.import_from(archive(many), trust="unsigned")
    spread = zipped({f"counter/{number}": bytes(1_000_000) for number in range(150)})
    with pytest.raises(PackageError, match="larger"):
        registry.import_from(archive(spread), trust="unsigned")


def test_sizes_that_lie_are_not_believed(registry: Registry, archive: Callable[[bytes], Path]) -> None:
    data = bytearray(zipped(inside({"bomb.txt": bytes(5_000_000)})))
    small = struct.pack("<I", 10)
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = small
    with pytest.raises(PackageError):
        registry.import_from(archive(bytes(data)), trust="unsigned")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a zip",
        zipped({}),
        zipped({"a/x": b"", "b/x": b""}),
        zipped(inside(package()))[:-30],
        zipped(inside(package())).replace(b"tools.py", b"agent.ya"),
        b"PK\x05\x06" + bytes(18),
    ],
)
def test_what_is_no_archive_of_a_package_is_refused(
    registry: Registry, archive: Callable[[bytes], Path], data: bytes
) -> None:
    with pytest.raises(PackageError):
        registry.import_from(archive(data), trust="unsigned")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_of_a_name_are_refused(registry: Registry, archive: Callable[[bytes], Path]) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zip_file:
        for content in (b"1", b"2"):
            zip_file.writestr("counter/tools.py", content)
    with pytest.raises(PackageError, match="twice"):
        registry.import_from(archive(out.getvalue()), trust="unsigned")


def test_links_and_pipes_in_a_folder_are_refused(registry: Registry, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")

    def link_to_file(place: Path) -> None:
        place.symlink_to(secret)

    def link_to_folder(place: Path) -> None:
        place.symlink_to(tmp_path, target_is_directory=True)

    for number, make in enumerate((link_to_file, link_to_folder, os.mkfifo)):
        folder = write(package(), tmp_path / f"counter{number}")
        make(folder / "more.txt")
        with pytest.raises(PackageError, match=r"more\.txt"):
            registry.import_from(folder, trust="unsigned")


def test_what_tools_leave_in_a_folder_is_passed_over(registry: Registry, tmp_path: Path) -> None:
    folder = write(package(), tmp_path / "counter")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "tools.pyc").write_bytes(b"\0")
    version = registry.import_from(folder, trust="unsigned").version
    assert set(registry.load(version).package.files) == set(package())


def test_the_signing_key_is_for_its_owner_alone(home: Home) -> None:
    key = SigningKey.of(home)
    path = home.root / "keys" / "package-signing"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SigningKey.of(home).public_key == key.public_key
    path.write_text("damaged")
    with pytest.raises(RegistryError, match="can not be used"):
        SigningKey.of(home)
