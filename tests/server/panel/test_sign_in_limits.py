"""Signing in has a limit for who tries wrong keys, and for nobody else."""

from collections.abc import Callable

import httpx2
import pytest
from tests.server.panel.conftest import MakePanel, serving

from repertory.server.panel import sign_in_limits
from repertory.server.panel.sign_in_limits import OF_AN_ACCOUNT, OF_AN_ADDRESS, SignInLimits
from repertory.serving.gateway.wire_errors import GatewayError

MakeKey = Callable[..., str]
ADA, BOB = f"rep_{'a' * 10}_{'x' * 43}", f"rep_{'b' * 10}_{'x' * 43}"


class Limits(SignInLimits):
    """The limits with a clock that the test moves."""

    def __init__(self) -> None:
        self.at = 1000.0
        self.told: tuple[int, str, float | None] | None = None
        super().__init__(lambda: self.at)

    def refused(self, address: str | None, key: str) -> bool:
        """Try a wrong key; whether the limit refused it."""
        try:
            self.admit(address, key)
        except GatewayError as error:
            self.told = (error.status, error.code, error.retry_after_s)
            return True
        return False


def wrong(limits: Limits, address: str | None, key: str, times: int) -> int:
    """How many of so many wrong tries the limit let through."""
    return sum(not limits.refused(address, key) for _ in range(times))


def test_an_address_is_refused_after_its_wrong_tries_and_no_other_is() -> None:
    limits = Limits()
    tried = [f"rep_{number:010d}_{'x' * 43}" for number in range(OF_AN_ADDRESS + 5)]
    assert sum(not limits.refused("192.0.2.1", key) for key in tried) == OF_AN_ADDRESS
    assert limits.refused("192.0.2.1", "nonsense")
    assert limits.told == (429, "too_many_sign_ins", 60 / OF_AN_ADDRESS)
    assert not limits.refused("192.0.2.2", ADA)
    limits.at += 60 / OF_AN_ADDRESS
    assert wrong(limits, "192.0.2.1", "nonsense", 3) == 1
    limits.at += 3600
    assert wrong(limits, "192.0.2.1", "nonsense", 100) == OF_AN_ADDRESS


def test_right_tries_cost_nothing() -> None:
    limits = Limits()
    for _ in range(10 * OF_AN_ADDRESS):
        limits.admit("192.0.2.1", ADA)()
    assert wrong(limits, "192.0.2.1", ADA, 100) == OF_AN_ADDRESS


def test_an_account_is_kept_from_many_addresses_but_not_from_its_owner() -> None:
    limits = Limits()
    limits.admit("192.0.2.1", ADA)()
    attackers = [f"198.51.100.{number}" for number in range(OF_AN_ACCOUNT + 5)]
    assert sum(not limits.refused(address, ADA) for address in attackers) == OF_AN_ACCOUNT
    assert limits.refused("203.0.113.1", ADA)
    assert not limits.refused("203.0.113.1", BOB)
    limits.admit("192.0.2.1", ADA)()
    # What is known of an address holds for the account that it signed in to, and is no free way to others.
    assert wrong(limits, "192.0.2.1", ADA, 100) == OF_AN_ADDRESS


def test_tries_at_the_same_moment_do_not_pass_together() -> None:
    limits = Limits()
    pending = [limits.admit("192.0.2.1", ADA) for _ in range(OF_AN_ADDRESS)]
    assert limits.refused("192.0.2.1", ADA)
    pending[0]()
    assert not limits.refused("192.0.2.1", ADA)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        (None, "not an address", True),
        (None, "192.0.2.1", False),
    ],
)
def test_what_is_one_address(one: str | None, other: str | None, same: bool) -> None:
    limits = Limits()
    assert wrong(limits, one, "nonsense", 100) == OF_AN_ADDRESS
    assert limits.refused(other, "nonsense") == same


def test_memory_has_an_end_and_a_full_one_lets_nobody_try_without_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_limits, "_MOST_COUNTED", 5)
    limits = Limits()
    assert all(not limits.refused(f"192.0.2.{number}", "nonsense") for number in range(5))
    newcomers = [f"198.51.100.{number}" for number in range(50)]
    assert sum(not limits.refused(address, "nonsense") for address in newcomers) == OF_AN_ADDRESS
    limits.at += 60
    assert wrong(limits, "203.0.113.1", "nonsense", 100) == OF_AN_ADDRESS
    assert len(limits._addresses._left) <= 6


async def test_the_server_refuses_one_address_and_lets_others_in(make_panel: MakePanel, make_key: MakeKey) -> None:
    key = make_key("ada", user="ada")
    false = key[:-1] + ("x" if key[-1] != "x" else "y")
    async with serving(make_panel(keys=True)) as http:
        elsewhere = httpx2.AsyncHTTPTransport(local_address="127.0.0.2")
        async with httpx2.AsyncClient(base_url=http.base_url, transport=elsewhere, timeout=20) as other:
            for _ in range(OF_AN_ADDRESS):
                assert (await http.post("/api/session", json={"key": false})).status_code == 401
            refused = await http.post("/api/session", json={"key": key})
            assert (refused.status_code, refused.json()["error"]["type"]) == (429, "too_many_sign_ins")
            assert refused.json()["error"]["hint"]
            assert 1 <= int(refused.headers["retry-after"]) <= 60
            assert "set-cookie" not in refused.headers
            assert (await other.post("/api/session", json={"key": key})).json()["user"] == "ada"
            # A program with the key is no browser that signs in.
            headers = {"authorization": f"Bearer {key}"}
            assert (await http.get("/api/overview", headers=headers)).status_code == 200
