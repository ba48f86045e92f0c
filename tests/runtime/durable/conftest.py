"""Turns are tested on the same databases as the storage."""

from tests.storage.conftest import address

__all__ = ("address",)
