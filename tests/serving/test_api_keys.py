import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from repertory.clock import fixed_clock
from repertory.errors import StorageError, UsageError
from repertory.serving.api_keys import ADMIN, ALL_MODELS, LOCAL_CALLER, Caller, KeyRing, new_key, scope_of
from repertory.serving.rate_limit import RateLimits
from repertory.storage.keys import StoredKey
from repertory.storage.store import Store

NOW = datetime(2026, 12, 1, tzinfo=UTC)


class Shelf:
    """Keys in memory that count how often they are read."""

    def __init__(self, *keys: StoredKey) -> None:
        self.keys = list(keys)
        self.reads = 0

    def load(self) -> list[StoredKey]:
        self.reads += 1
        return self.keys


async def test_a_key_stands_for_its_caller_and_nothing_else_does() -> None:
    key, kept = new_key("app", [ALL_MODELS], user="ada", requests_per_minute=5)
    ring = KeyRing(Shelf(kept).load)
    caller = await ring.check(key)
    assert caller == Caller(kept.id, "app", frozenset({ALL_MODELS}), "ada", 5, None)
    other, _ = new_key("other", [ADMIN])
    wrong = [
        key[:-1] + ("A" if key[-1] != "A" else "B"),
        other,
        key + "x",
        key.upper(),
        "",
        "rep_",
        "x" * 10_000,
        "é\0",
    ]
    for presented in wrong:
        assert await ring.check(presented) is None


def test_nothing_that_is_kept_gives_the_key_away() -> None:
    key, kept = new_key("app", [ALL_MODELS])
    secret = key.rsplit("_", 1)[-1] if "_" not in key[15:] else key[15:]
    assert secret not in repr(kept)
    assert len(kept.digest) == 64
    assert key.startswith(f"rep_{kept.id}_")
    assert new_key("app", [])[0] != key


async def test_a_revoked_key_stops_working_and_a_new_one_works_at_once() -> None:
    key, kept = new_key("app", [ALL_MODELS])
    shelf = Shelf(kept)
    ring = KeyRing(shelf.load, fresh_s=0.0)
    assert await ring.check(key) is not None
    shelf.keys = [replace(kept, revoked_at=NOW)]
    assert await ring.check(key) is None


async def test_an_expired_key_is_refused() -> None:
    key, kept = new_key("app", [ALL_MODELS], valid_days=2, clock=fixed_clock(NOW))
    shelf = Shelf(kept)
    assert await KeyRing(shelf.load, clock=fixed_clock(NOW + timedelta(days=1))).check(key) is not None
    assert await KeyRing(shelf.load, clock=fixed_clock(NOW + timedelta(days=2))).check(key) is None


async def test_wrong_keys_do_not_make_the_database_work() -> None:
    shelf = Shelf()
    ring = KeyRing(shelf.load, fresh_s=60)
    for _ in range(200):
        await ring.check(f"rep_{'a' * 10}_{secrets.token_urlsafe(32)}")
    assert shelf.reads < 20


async def test_nobody_is_let_in_when_the_keys_can_not_be_read() -> None:
    def broken() -> list[StoredKey]:
        raise StorageError("gone")

    with pytest.raises(StorageError):
        await KeyRing(broken).check(new_key("app", [])[0])


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        ([ALL_MODELS], {"team coaching", "agent coaching/coach", "agent coaching/shadow", "model m"}),
        ([ADMIN], {"team coaching", "agent coaching/coach", "agent coaching/shadow", "model m"}),
        ([scope_of("team", "coaching")], {"team coaching"}),
        ([scope_of("agent", "coaching/shadow")], {"agent coaching/shadow"}),
        ([scope_of("agent", "coaching/*")], {"agent coaching/coach", "agent coaching/shadow"}),
        ([scope_of("agent", "coach/*")], set[str]()),
        ([scope_of("model", "m"), scope_of("team", "coaching")], {"model m", "team coaching"}),
        ([], set[str]()),
    ],
)
def test_scopes(scopes: list[str], allowed: set[str]) -> None:
    caller = Caller("id", "name", frozenset(scopes))
    names = ["team coaching", "agent coaching/coach", "agent coaching/shadow", "model m"]
    assert {name for name in names if caller.may_use(*name.split(" "))} == allowed
    assert caller.is_admin is (ADMIN in scopes)


def test_keys_are_kept_listed_and_revoked() -> None:
    with Store.open() as store:
        _, first = new_key("app", [ALL_MODELS], tokens_per_minute=9, valid_days=1, clock=fixed_clock(NOW))
        _, second = new_key("other", [ADMIN], user="ada", clock=fixed_clock(NOW + timedelta(hours=1)))
        store.keys.add(first)
        store.keys.add(second)
        assert store.keys.all() == [first, second]
        with pytest.raises(UsageError, match="already"):
            store.keys.add(new_key("app", [])[1])
        revoked = store.keys.revoke("app", NOW)
        assert (revoked.id, revoked.revoked_at) == (first.id, NOW)
        assert store.keys.revoke(first.id, NOW + timedelta(days=1)).revoked_at == NOW
        again = new_key("app", [], clock=fixed_clock(NOW + timedelta(hours=2)))[1]
        store.keys.add(again)
        assert store.keys.revoke("app", NOW).id == again.id
        with pytest.raises(UsageError, match="no key"):
            store.keys.revoke("nobody", NOW)


def test_limits_below_one_are_refused() -> None:
    with pytest.raises(UsageError):
        new_key("app", [], requests_per_minute=0)


def test_requests_per_minute() -> None:
    now = [100.0]
    limits, caller = RateLimits(lambda: now[0]), Caller("id", "", frozenset(), requests_per_minute=3)
    assert [limits.admit(caller) for _ in range(3)] == [0.0] * 3
    assert limits.admit(caller) == pytest.approx(20)
    now[0] += 20
    assert limits.admit(caller) == 0.0
    assert limits.admit(caller) > 0
    assert limits.admit(Caller("other", "", frozenset(), requests_per_minute=3)) == 0.0


def test_tokens_are_paid_for_afterwards() -> None:
    now = [0.0]
    limits, caller = RateLimits(lambda: now[0]), Caller("id", "", frozenset(), tokens_per_minute=60)
    assert limits.admit(caller) == 0.0
    limits.spend(caller, 100)
    assert limits.admit(caller) == pytest.approx(41)
    now[0] += 41
    assert limits.admit(caller) == 0.0


async def test_who_showed_a_key_before_is_known_by_its_id_while_it_is_in_use() -> None:
    key, kept = new_key("app", [ALL_MODELS], user="ada", valid_days=1, clock=fixed_clock(NOW))
    shelf = Shelf(kept)
    ring = KeyRing(shelf.load, fresh_s=0.0, clock=fixed_clock(NOW))
    assert await ring.caller_of(kept.id) == await ring.check(key)
    assert await ring.caller_of("nobody") is None
    late = KeyRing(shelf.load, clock=fixed_clock(NOW + timedelta(days=1)))
    assert await late.caller_of(kept.id) is None
    shelf.keys = [replace(kept, revoked_at=NOW)]
    assert await ring.caller_of(kept.id) is None


def test_whose_words_a_caller_may_read() -> None:
    def caller(*scopes: str, user: str | None = None) -> Caller:
        return Caller("k1", "app", frozenset(scopes), user)

    assert caller("*", user="ada").own_user == "ada"
    assert caller("*").own_user == "key:k1"
    assert LOCAL_CALLER.own_user == "me"
    assert LOCAL_CALLER.may_read("anybody")
    assert caller("*", user="ada").may_read("ada")
    assert not caller("*", user="ada").may_read("bob")
    assert not caller(ADMIN).may_read("ada")
    assert caller(ADMIN, "reads-user:ada").may_read("ada")
    assert not caller(ADMIN, "reads-user:ada").may_read("bob")
    assert caller("reads-user:*").may_read("bob")
    assert not caller("reads-user:*").may_use("team", "coaching")
