import pytest

from repertory.serving.host_check import HostCheck, host_name


@pytest.mark.parametrize(
    ("host", "origin", "allowed"),
    [
        ("127.0.0.1:8700", None, True),
        ("localhost", None, True),
        ("LOCALHOST:1", "http://localhost:5173", True),
        ("[::1]:8700", "http://[::1]:8700", True),
        ("127.0.0.1.evil.example", None, False),
        ("localhost.evil.example:8700", None, False),
        ("evil.example", None, False),
        ("evil@127.0.0.1", None, True),
        ("127.0.0.1@evil.example", None, False),
        ("", None, False),
        ("[::1", None, False),
        ("127.0.0.1:8700", "null", False),
        ("127.0.0.1:8700", "https://evil.example", False),
        ("127.0.0.1:8700", "file://", False),
        ("127.0.0.1:8700", "chrome-extension://localhost", False),
        ("box.lan:8700", "http://box.lan", True),
    ],
)
def test_hosts_and_origins(host: str, origin: str | None, allowed: bool) -> None:
    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin is not None else [])
    assert (HostCheck(["box.lan"]).refusal(headers) is None) is allowed


@pytest.mark.parametrize(
    ("site", "mode", "origin", "allowed"),
    [
        ("cross-site", "no-cors", None, False),
        ("cross-site", "cors", None, False),
        ("cross-site", "navigate", None, True),
        ("cross-site", "no-cors", "http://box.lan", True),
        ("same-origin", "no-cors", None, True),
        ("same-site", "no-cors", None, True),
        ("none", "navigate", None, True),
    ],
)
def test_what_another_site_includes_is_refused(site: str, mode: str, origin: str | None, allowed: bool) -> None:
    headers = [(b"host", b"localhost"), (b"sec-fetch-site", site.encode()), (b"sec-fetch-mode", mode.encode())]
    headers += [(b"origin", origin.encode())] if origin is not None else []
    assert (HostCheck(["box.lan"]).refusal(headers) is None) is allowed


def test_a_request_without_a_host_is_refused() -> None:
    assert HostCheck().refusal([]) is not None


def test_a_star_allows_every_host() -> None:
    assert HostCheck(["*"]).refusal([(b"host", b"any.example"), (b"origin", b"https://any.example")]) is None


def test_a_host_name_has_no_port_and_no_brackets() -> None:
    assert host_name("[::1]:80") == "::1"
    assert host_name("A.b:9") == "a.b"
