"""Packages as one file: a ZIP of one folder, the same bytes for the same package, its signature beside the files."""

import io
import json
import os
import secrets
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repertory.errors import PackageError, RegistryError
from repertory.registry.package import MAX_FILE_BYTES, MAX_FILES, MAX_PACKAGE_BYTES, check_path
from repertory.registry.signing import Signature

__all__ = ("SIGNATURE", "read_archive", "split_signature", "with_signature", "write_archive")

SIGNATURE = "signature.json"
_TIME = (1980, 1, 1, 0, 0, 0)
_MAX_ARCHIVE_BYTES = MAX_PACKAGE_BYTES + 1024 * 1024


def with_signature(files: Mapping[str, bytes], version: int, digest: str, signature: Signature) -> dict[str, bytes]:
    """The files together with one that says who vouches for them."""
    document = {
        "form": 1,
        "version": version,
        "digest": digest,
        "public_key": signature.public_key,
        "signature": signature.value,
    }
    return {**files, SIGNATURE: json.dumps(document, indent=2).encode() + b"\n"}


def split_signature(files: Mapping[str, bytes]) -> tuple[dict[str, bytes], Signature | None]:
    """The files of the package itself, and the signature that came with them.

    Raises:
        PackageError: The signature file is not one.
    """
    package = {path: content for path, content in files.items() if path != SIGNATURE}
    if SIGNATURE not in files:
        return package, None
    try:
        document: Any = json.loads(files[SIGNATURE])
        return package, Signature(str(document["public_key"]), str(document["signature"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PackageError("this is no signature", where=SIGNATURE, hint="get the package again") from None


def write_archive(name: str, files: Mapping[str, bytes], target: Path) -> None:
    """Write the archive; it is there whole or not at all.

    Raises:
        RegistryError: Something is there already, or it can not be written.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{name}/{check_path(path)}", _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, content)
    draft = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
    try:
        with draft.open("xb") as file:
            file.write(packed.getvalue())
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, target)  # unlike a rename, it does not replace what is there
    except FileExistsError:
        raise RegistryError("something is there already", where=str(target), hint="name another file") from None
    except OSError as error:
        message = f"it can not be written: {error.strerror or error}"
        raise RegistryError(message, where=str(target)) from None
    finally:
        draft.unlink(missing_ok=True)


def read_archive(source: Path) -> dict[str, bytes]:
    """The files of an archive, by path inside its folder. Nothing is written anywhere.

    Raises:
        PackageError: It is no ZIP, or holds what a package can not: links, paths that lead out, two of a name, several
            folders, encrypted or too much data (counted while unpacking; what the archive says of sizes is not used).
    """
    try:
        if source.stat().st_size > _MAX_ARCHIVE_BYTES:
            message = f"the archive is larger than {_MAX_ARCHIVE_BYTES} bytes"
            raise PackageError(message, where=str(source))
        data = source.read_bytes()
    except OSError as error:
        message = f"the archive can not be read: {error.strerror}"
        raise PackageError(message, where=str(source)) from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _unpack(archive)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        message = f"the archive is damaged or of another kind: {error}"[:200]
        raise PackageError(message, where=str(source)) from None


def _unpack(archive: zipfile.ZipFile) -> dict[str, bytes]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MAX_FILES + 1:
        message = f"a package has at most {MAX_FILES} files"
        raise PackageError(message)
    files: dict[str, bytes] = {}
    folders: set[str] = set()
    left = MAX_PACKAGE_BYTES
    for entry in entries:
        folder, _, path = entry.filename.partition("/")
        check_path(folder)
        check_path(path)
        folders.add(folder)
        mode = entry.external_attr >> 16
        if mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
            raise PackageError("this is no file", where=entry.filename, hint="a package holds no links")
        if entry.flag_bits & 0x1:
            raise PackageError("this file is encrypted", where=entry.filename)
        if path in files:
            raise PackageError("this path is there twice", where=entry.filename)
        with archive.open(entry) as file:
            content = file.read(min(left, MAX_FILE_BYTES) + 1)
        left -= len(content)
        if len(content) > MAX_FILE_BYTES or left < 0:
            raise PackageError("unpacked, this is larger than a package may be", where=entry.filename)
        files[path] = content
    if len(folders) != 1:
        raise PackageError("an archive holds one folder, named like the agent")
    return files
