import pytest

from repertory.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """The sandbox of this host. Where it can not isolate, its tests fail: they have not been passed."""
    found = Sandbox()
    found.isolation()
    return found
