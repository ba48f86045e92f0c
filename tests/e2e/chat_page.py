"""A chat page that others made, in front of `repertory serve`: Gradio's, for any OpenAI-compatible address."""

import os
import socket
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect
from tests.front_end_environment import front_end_python

__all__ = ("ChatPage", "open_chat_page")

_START_S = 120
_PROGRAM = """
import os, sys
import gradio
url, model, port = sys.argv[1:]
page = gradio.load_chat(url, model=model, token=os.environ["CHAT_TOKEN"])
page.launch(server_name="127.0.0.1", server_port=int(port), show_error=True, quiet=True)
"""
_WATCH = """
() => {
  window.seen = [];
  const note = () => {
    const messages = document.querySelectorAll('[data-testid="bot"]');
    const text = messages.length ? messages[messages.length - 1].innerText : "";
    if (text && text !== window.seen[window.seen.length - 1]) window.seen.push(text);
  };
  new MutationObserver(note).observe(document.body, {childList: true, subtree: true, characterData: true});
}
"""
"""Keeps every text that the newest answer has had on the page."""


class ChatPage:
    """The page as a person uses it.

    Args:
        page: Where it is open.
    """

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, url: str) -> None:
        """Go there, and wait until one can write."""
        self.page.goto(url)
        expect(self._box).to_be_visible()
        self.page.evaluate(_WATCH)

    def say(self, text: str) -> None:
        """Write a message and send it."""
        self._box.fill(text)
        self._box.press("Enter")

    @property
    def answers(self) -> Locator:
        """What was answered, one after the other."""
        return self.page.get_by_test_id("bot")

    def settle(self, *, timeout_s: float = 20) -> None:
        """Wait until the answer that has begun is complete: then one can send again."""
        expect(self.page.get_by_test_id("submit-button")).to_be_visible(timeout=timeout_s * 1000)

    def seen(self) -> Sequence[str]:
        """Every text that the newest answers have had while they grew."""
        return self.page.evaluate("window.seen")

    @property
    def _box(self) -> Locator:
        return self.page.get_by_role("textbox").first


@contextmanager
def open_chat_page(gateway: str, model: str, token: str, log: Path) -> Generator[str]:
    """Start the front end before a gateway; gives its address.

    Args:
        gateway: Root of the gateway.
        model: What to choose as the model.
        token: The gateway's key.
        log: Where it writes what happens.
    """
    folder = Path(os.environ.get("REPERTORY_TEST_FRONT_END") or Path.home() / ".cache" / "repertory" / "front-end")
    python = front_end_python(folder)
    if python is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing(f"no chat front end in {folder}; `make front-end` installs it")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    settings = {"CHAT_TOKEN": token, "GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
    with log.open("wb") as file:
        server = subprocess.Popen(
            [str(python), "-c", _PROGRAM, f"{gateway}/v1", model, str(port)],
            stdout=file, stderr=subprocess.STDOUT, env=os.environ | settings, cwd=log.parent,
        )  # fmt: skip
    try:
        _wait_until_it_listens(url, server, log)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_until_it_listens(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until and server.poll() is None:
        try:
            if httpx2.get(url, timeout=5, trust_env=False).is_success:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.3)
    pytest.fail(f"the chat front end did not start:\n{log.read_text(errors='replace')[-2000:]}")
