"""Signing in to the panel: a key is shown once, and the browser holds a random secret from then on."""

import asyncio
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from repertory.clock import Clock, system_clock
from repertory.serving.api_keys import Caller, KeyRing
from repertory.storage.logins import Login, Logins

__all__ = ("SIGNED_IN_FOR", "SignedIn", "Signings")

SIGNED_IN_FOR = timedelta(hours=12)


@dataclass(frozen=True)
class SignedIn:
    """Somebody who signed in."""

    caller: Caller
    expires_at: datetime


class Signings:
    """All who are signed in. A key that is revoked or expires ends its signings-in too.

    Args:
        logins: Where they are kept, so that a restart of the server ends none.
        keys: The keys; None where none are needed.
        clock: What expiry is measured by.
    """

    def __init__(self, logins: Logins, keys: KeyRing | None, clock: Clock = system_clock) -> None:
        self._logins = logins
        self._keys = keys
        self._clock = clock

    async def begin(self, key: str) -> tuple[str, SignedIn] | None:
        """Sign in with a key: what the browser is to hold, and who it is; None when the key is not valid.

        Raises:
            StorageError: It can not be kept.
        """
        caller = await self._keys.check(key) if self._keys is not None else None
        if caller is None:
            return None
        secret, now = secrets.token_urlsafe(32), self._clock()
        expires_at = now + SIGNED_IN_FOR
        await asyncio.to_thread(self._logins.add, secret, caller.key_id, at=now, expires_at=expires_at)
        return secret, SignedIn(caller, expires_at)

    async def find(self, secret: str) -> SignedIn | None:
        """Who holds a secret; None when nobody does any more.

        Raises:
            StorageError: It can not be read; nobody is let in then.
        """
        if self._keys is None:
            return None
        login: Login | None = await asyncio.to_thread(self._logins.find, secret, self._clock())
        caller = await self._keys.caller_of(login.key) if login is not None else None
        return None if login is None or caller is None else SignedIn(caller, login.expires_at)

    async def end(self, secret: str) -> None:
        """Sign out.

        Raises:
            StorageError: It can not be written.
        """
        await asyncio.to_thread(self._logins.end, secret)
