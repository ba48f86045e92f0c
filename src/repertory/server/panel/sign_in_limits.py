"""How often somebody may try to sign in with a key that is not valid.

Nobody guesses 256 random bits, but trying costs work and fills logs, so that it has a limit: for the address that it
comes from, and for the account (the key's public id) that it is aimed at. Wrong tries of strangers must not keep an
account's owner out: an address from which the account was signed in to before has an allowance of its own for it.

Every try is counted before the key is looked at and given back when it was right. Tries at the same moment can
therefore not get past the limit together, and one that ends in an error stays counted.
"""

import ipaddress
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable

from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("SignInLimits",)

OF_AN_ADDRESS = 10
"""Wrong tries per minute from one address."""
OF_AN_ACCOUNT = 20
"""Wrong tries per minute for one account from all addresses that never signed in to it."""
_MOST_COUNTED = 10_000
_MOST_KNOWN = 10_000
_ACCOUNT = re.compile(r"rep_([0-9a-z]{10})_")
_THE_REST = "the rest"


class _Allowances:
    """What is left of the tries of many: each refills steadily up to one minute's worth.

    Memory has an end: when too many are being counted, those that come then share one allowance.
    """

    def __init__(self, per_minute: int, now: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._now = now
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, name: str) -> float:
        """Seconds until one more try is allowed; 0 when it is."""
        return max(0.0, (1.0 - self._level(self._place(name))) * 60 / self._per_minute)

    def take(self, name: str) -> str:
        """Count a try; what to give back when it was right."""
        place = self._place(name)
        self._keep(place, self._level(place) - 1.0)
        return place

    def give_back(self, place: str) -> None:
        """The try was right."""
        self._keep(place, min(float(self._per_minute), self._level(place) + 1.0))

    def _place(self, name: str) -> str:
        if name in self._left:
            return name
        while self._left and len(self._left) >= _MOST_COUNTED:
            oldest = next(iter(self._left))
            if self._level(oldest) < self._per_minute:
                return _THE_REST  # all of them are still being counted
            del self._left[oldest]
        return name

    def _level(self, place: str) -> float:
        level, at = self._left.get(place, (float(self._per_minute), self._now()))
        return min(float(self._per_minute), level + (self._now() - at) * self._per_minute / 60)

    def _keep(self, place: str, level: float) -> None:
        self._left[place] = (level, self._now())
        self._left.move_to_end(place)


class SignInLimits:
    """The limits of one server. They are kept in its memory.

    Args:
        now: A clock in seconds that never goes back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._addresses = _Allowances(OF_AN_ADDRESS, now)
        self._accounts = _Allowances(OF_AN_ACCOUNT, now)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def admit(self, address: str | None, key: str) -> Callable[[], None]:
        """Count a try in.

        Args:
            address: Where it comes from; those of which it is not known share one allowance.
            key: What is tried.

        Returns:
            To be called when the key was right.

        Raises:
            GatewayError: Too many wrong ones came before.
        """
        network, account = _network(address), _account(key)
        known = (network, account) in self._known
        limits = [(self._addresses, network)]
        if account and not known:
            limits.append((self._accounts, account))
        wait_s = max(allowances.wait_s(name) for allowances, name in limits)
        if wait_s > 0:
            message = "too many keys that are not valid were tried"
            hint = f"try again in {math.ceil(wait_s)} s with a valid key; who is signed in already stays so"
            raise GatewayError(message, status=429, code="too_many_sign_ins", hint=hint, retry_after_s=wait_s)
        taken = [(allowances, allowances.take(name)) for allowances, name in limits]

        def was_right() -> None:
            for allowances, place in taken:
                allowances.give_back(place)
            self._known[network, account] = None
            self._known.move_to_end((network, account))
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)

        return was_right


def _account(key: str) -> str:
    found = _ACCOUNT.match(key)
    return found[1] if found else ""


def _network(address: str | None) -> str:
    """What counts as one address: of IPv6 the /64, which one subscriber has all of."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed.packed[:8] + bytes(8), 64)))
    return str(parsed)
