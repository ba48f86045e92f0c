"""Who is signed in to the dashboard. What the browser holds is never kept, only its digest."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete

from repertory.storage.database import Database
from repertory.storage.tables import LoginRow

__all__ = ("Login", "Logins")


@dataclass(frozen=True)
class Login:
    """One signing-in.

    Attributes:
        key: Id of the key that was signed in with.
        expires_at: When it ends.
    """

    key: str
    expires_at: datetime


class Logins:
    """The signings-in of this database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, secret: str, key: str, *, at: datetime, expires_at: datetime) -> None:
        """Keep a signing-in, and drop those that are over.

        Args:
            secret: What the browser holds; random, and long enough that its plain digest can not be guessed back.
            key: Id of the key.
            at: Now.
            expires_at: When it ends.
        """
        with self._database.write() as transaction:
            transaction.execute(delete(LoginRow).where(LoginRow.expires_at <= at))
            transaction.add(LoginRow(digest=_digest(secret), key=key, created_at=at, expires_at=expires_at))

    def find(self, secret: str, at: datetime) -> Login | None:
        """The signing-in that a browser holds; None when there is none, or it is over."""
        with self._database.read() as transaction:
            row = transaction.get(LoginRow, _digest(secret))
            if row is None or row.expires_at <= at:
                return None
            return Login(row.key, row.expires_at)

    def end(self, secret: str) -> None:
        """Forget a signing-in; one that is not there is none."""
        with self._database.write() as transaction:
            transaction.execute(delete(LoginRow).where(LoginRow.digest == _digest(secret)))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
