"""Signatures of packages: Ed25519, with a key that is made on this machine and stays on it."""

import base64
import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from repertory.errors import PackageError, RegistryError
from repertory.home import Home

__all__ = ("Signature", "SigningKey", "fingerprint", "verify")

_STATEMENT = b"repertory agent package signature 1\n"


@dataclass(frozen=True)
class Signature:
    """A signature over a package's name and digest; both parts in base64."""

    public_key: str
    value: str


def _statement(name: str, digest: str) -> bytes:
    """What is signed. The name is in it although the manifest has it, so that a digest alone is never enough."""
    return _STATEMENT + f"{name}\n{digest}\n".encode()


def fingerprint(public_key: str) -> str:
    """A short name of a key for people to compare: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(public_key.encode()).hexdigest()[:16]


def verify(signature: Signature, name: str, digest: str) -> None:
    """See that a signature is over this name and digest. Whose it is, the caller decides.

    Raises:
        PackageError: It is not.
    """
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(signature.public_key, validate=True))
        key.verify(base64.b64decode(signature.value, validate=True), _statement(name, digest))
    except (InvalidSignature, ValueError):
        message = f"the signature of {name} does not fit its content"
        raise PackageError(message, hint="the package was changed after it was signed; get it again") from None


class SigningKey:
    """The key of this machine, kept in the home folder, readable by its owner alone."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = base64.b64encode(key.public_key().public_bytes_raw()).decode()

    @classmethod
    def of(cls, home: Home) -> "SigningKey":
        """The key of a home; made when there is none.

        Raises:
            RegistryError: It can not be read or made.
        """
        path = home.root / "keys" / "package-signing"
        try:
            return cls(_read(path) if path.exists() else _make(path))
        except (OSError, ValueError) as error:
            message = f"the signing key can not be used: {error}"
            hint = "put a copy of it back; packages signed with a lost key must be deployed again"
            raise RegistryError(message, where=str(path), hint=hint) from None

    def sign(self, name: str, digest: str) -> Signature:
        """Sign a package's name and digest."""
        value = self._key.sign(_statement(name, digest))
        return Signature(self.public_key, base64.b64encode(value).decode())


def _read(path: Path) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(base64.b64decode(path.read_text("ascii").strip(), validate=True))


def _make(path: Path) -> Ed25519PrivateKey:
    """Write a new key in one piece; when another process was first, take that one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = Ed25519PrivateKey.generate()
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        fd = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(base64.b64encode(key.private_bytes_raw()) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return _read(path)
        return key
    finally:
        draft.unlink(missing_ok=True)
