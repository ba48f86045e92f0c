"""API keys: made, checked, and what they allow.

A key reads `rep_ID_SECRET`. The id is public and finds the row; the secret is 256 random bits and is kept as SHA-256
alone. A slow password hash would add nothing: it exists to make guessing dear, and nobody guesses 256 random bits. But
it would cost tens of milliseconds per request, which anybody could make us spend by sending wrong keys.
"""

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from repertory.clock import Clock, system_clock
from repertory.errors import UsageError
from repertory.storage.ids import check_id
from repertory.storage.keys import StoredKey

__all__ = ("ADMIN", "ALL_MODELS", "LOCAL_CALLER", "OWN_USER", "READS_USER", "Caller", "KeyRing", "new_key", "scope_of")

_KEY = re.compile(r"rep_([0-9a-z]{10})_([A-Za-z0-9_-]{43})")
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_NOBODY = "0" * 64

ADMIN = "admin"
ALL_MODELS = "*"
READS_USER = "reads-user"
OWN_USER = "key:"
"""Begins the names of the users that keys without a user have as their own."""


def scope_of(kind: str, name: str) -> str:
    """A scope that allows one team (`team`), one agent's instance or deployed agent (`agent`), one model (`model`)."""
    return f"{kind}:{name}"


@dataclass(frozen=True)
class Caller:
    """Who sent a request, and what they may do.

    Attributes:
        key_id: The public part of the key; empty without one.
        name: What people call the key.
        scopes: What it may be used for.
        user: The only user it speaks for; None lets the request name one.
        requests_per_minute: Its limit.
        tokens_per_minute: Its limit.
    """

    key_id: str
    name: str
    scopes: frozenset[str]
    user: str | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    @property
    def is_admin(self) -> bool:
        """Whether everything is allowed, the operator's endpoints included."""
        return ADMIN in self.scopes

    @property
    def own_user(self) -> str:
        """The user whose blackboards are the caller's own.

        A key without a user of its own has a blackboard of its own: two keys never meet on one by leaving the user out.
        """
        return self.user or (f"{OWN_USER}{self.key_id}" if self.key_id else "me")

    @property
    def reads_users(self) -> tuple[str, ...]:
        """The users beside its own whose messages and blackboards it was allowed to read; `*` is all of them.

        Being an administrator does not allow it: whoever runs a server need not read what people write there.
        """
        if not self.key_id:
            return ("*",)
        prefix = f"{READS_USER}:"
        return tuple(sorted(scope.removeprefix(prefix) for scope in self.scopes if scope.startswith(prefix)))

    def may_read(self, user: str) -> bool:
        """Whether it may read what a user wrote and what is kept about them."""
        return user == self.own_user or user in self.reads_users or "*" in self.reads_users

    def may_use(self, kind: str, name: str) -> bool:
        """Whether requests for a name are allowed. The agents of a team have scopes of their own (`agent:team/*`).

        The name of a deployed agent in requests, `agent:NAME`, is its scope.
        """
        scopes = self.scopes
        if ALL_MODELS in scopes or ADMIN in scopes or f"{kind}:{name}" in scopes:
            return True
        if kind == "deployed":
            return name in scopes
        return kind == "agent" and f"agent:{name.partition('/')[0]}/*" in scopes


LOCAL_CALLER = Caller(key_id="", name="this machine", scopes=frozenset({ADMIN}))
"""Whoever reaches the loopback address while no key is asked for."""


def new_key(
    name: str,
    scopes: Sequence[str],
    *,
    user: str | None = None,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
    valid_days: int | None = None,
    clock: Clock = system_clock,
) -> tuple[str, StoredKey]:
    """Make a key.

    Returns:
        The key itself, which is not kept anywhere, and what is to be kept of it.

    Raises:
        UsageError: The name or user can not be one, or a limit is below 1.
    """
    for what, limit in (("requests per minute", requests_per_minute), ("tokens per minute", tokens_per_minute)):
        if limit is not None and limit < 1:
            message = f"{what} must be 1 or more, not {limit}"
            raise UsageError(message)
    secret = secrets.token_urlsafe(32)
    key_id = "".join(secrets.choice(_ALPHABET) for _ in range(10))
    now = clock()
    kept = StoredKey(
        id=key_id,
        name=check_id("key", name),
        digest=_digest(secret),
        scopes=tuple(dict.fromkeys(scopes)),
        user=None if user is None else check_id("user", user),
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        created_at=now,
        expires_at=None if valid_days is None else now + timedelta(days=valid_days),
    )
    return f"rep_{key_id}_{secret}", kept


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(frozen=True)
class _Entry:
    caller: Caller
    digest: str
    expires_at: datetime | None


class KeyRing:
    """The keys that are in use, read from storage again and again, so that a revoked one stops working.

    Args:
        load: Reads all keys (blocks; called on a thread).
        fresh_s: How old the keys in memory may be: a revoked key stops working within this time.
        clock: What expiry is measured by.
    """

    def __init__(
        self, load: Callable[[], Sequence[StoredKey]], *, fresh_s: float = 1.0, clock: Clock = system_clock
    ) -> None:
        self._load = load
        self._fresh_s = fresh_s
        self._clock = clock
        self._keys: dict[str, _Entry] = {}
        self._read_at = float("-inf")
        self._lock = asyncio.Lock()

    async def check(self, presented: str) -> Caller | None:
        """The caller that a key stands for; None when it is none, or is no longer one.

        Raises:
            StorageError: The keys can not be read; nobody is let in then.
        """
        found = _KEY.fullmatch(presented)
        key_id = found[1] if found else ""
        if time.monotonic() - self._read_at > self._fresh_s:
            await self._read(self._fresh_s)
        elif found and key_id not in self._keys:
            await self._read(0.05)  # it may have been made just now
        entry = self._keys.get(key_id)
        # The same work is done for an id that does not exist: the answer's time tells nothing.
        right = hmac.compare_digest(_digest(found[2] if found else presented), entry.digest if entry else _NOBODY)
        if entry is None or not right:
            return None
        if entry.expires_at is not None and self._clock() >= entry.expires_at:
            return None
        return entry.caller

    async def caller_of(self, key_id: str) -> Caller | None:
        """The caller that the key of this id stands for; None when the key is no longer in use.

        For those who have shown the whole key before, and hold something that was given for it.

        Raises:
            StorageError: The keys can not be read; nobody is let in then.
        """
        if time.monotonic() - self._read_at > self._fresh_s:
            await self._read(self._fresh_s)
        entry = self._keys.get(key_id)
        if entry is None or (entry.expires_at is not None and self._clock() >= entry.expires_at):
            return None
        return entry.caller

    async def _read(self, older_than_s: float) -> None:
        async with self._lock:
            if time.monotonic() - self._read_at <= older_than_s:
                return  # somebody else just did
            keys = await asyncio.to_thread(self._load)
            self._keys = {key.id: _entry(key) for key in keys if key.revoked_at is None}
            self._read_at = time.monotonic()


def _entry(key: StoredKey) -> _Entry:
    caller = Caller(
        key_id=key.id,
        name=key.name,
        scopes=frozenset(key.scopes),
        user=key.user,
        requests_per_minute=key.requests_per_minute,
        tokens_per_minute=key.tokens_per_minute,
    )
    return _Entry(caller, key.digest, key.expires_at)
