"""API keys: what is kept of them. The secret itself is never kept, only its digest."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import select

from repertory.errors import UsageError
from repertory.storage.database import Database
from repertory.storage.json_text import dump_json, load_json
from repertory.storage.tables import KeyRow

__all__ = ("Keys", "StoredKey")


@dataclass(frozen=True)
class StoredKey:
    """One API key.

    Attributes:
        id: Its public part, which names it in lists and logs.
        name: What people call it.
        digest: SHA-256 of its secret part, in hexadecimal.
        scopes: What it may be used for.
        user: The only user it speaks for; None lets the caller name one.
        requests_per_minute: Its limit; None is none.
        tokens_per_minute: Its limit, prompt and answer together; None is none.
        created_at: When it was made.
        expires_at: From when on it is refused; None is never.
        revoked_at: When it was revoked; None when it was not.
    """

    id: str
    name: str
    digest: str
    scopes: tuple[str, ...]
    user: str | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def state(self, now: datetime) -> Literal["in use", "expired", "revoked"]:
        """Whether it lets anybody in."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "in use"


def _record(row: KeyRow) -> StoredKey:
    return StoredKey(
        id=row.id,
        name=row.name,
        digest=row.digest,
        scopes=tuple(str(scope) for scope in load_json(row.scopes)),
        user=row.user,
        requests_per_minute=row.requests_per_minute,
        tokens_per_minute=row.tokens_per_minute,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )


class Keys:
    """All keys of this database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: StoredKey) -> None:
        """Keep a new key.

        Raises:
            UsageError: A key that is in use has the same name.
        """
        with self._database.write() as transaction:
            same = select(KeyRow.id).where(KeyRow.name == key.name, KeyRow.revoked_at.is_(None))
            if transaction.scalar(same) is not None:
                message = f"there is a key called {key.name!r} already"
                raise UsageError(message, hint="choose another name, or revoke that key first")
            transaction.add(
                KeyRow(
                    id=key.id,
                    name=key.name,
                    digest=key.digest,
                    scopes=dump_json(list(key.scopes), place=f"scopes of key {key.id}"),
                    user=key.user,
                    requests_per_minute=key.requests_per_minute,
                    tokens_per_minute=key.tokens_per_minute,
                    created_at=key.created_at,
                    expires_at=key.expires_at,
                    revoked_at=key.revoked_at,
                )
            )

    def all(self) -> list[StoredKey]:
        """Every key, revoked ones too, in the order in which they were made."""
        with self._database.read() as transaction:
            return [_record(row) for row in transaction.scalars(select(KeyRow).order_by(KeyRow.created_at, KeyRow.id))]

    def revoke(self, id_or_name: str, at: datetime) -> StoredKey:
        """Refuse a key from now on. Revoking it again changes nothing.

        Raises:
            UsageError: There is no such key.
        """
        with self._database.write() as transaction:
            row = transaction.get(KeyRow, id_or_name)
            if row is None:
                newest = KeyRow.created_at.desc()
                # A name may come back after its key was revoked; the one in use is meant.
                named = select(KeyRow).where(KeyRow.name == id_or_name).order_by(KeyRow.revoked_at.is_not(None), newest)
                row = transaction.scalars(named.limit(1)).first()
            if row is None:
                message = f"there is no key {id_or_name!r}"
                raise UsageError(message, hint="`repertory keys list` shows them")
            if row.revoked_at is None:
                row.revoked_at = at
            return _record(row)
