"""The `config.json` of a repository of the Hugging Face hub."""

from pathlib import Path

import httpx2
from huggingface_hub import (
    get_hf_file_metadata,  # pyright: ignore[reportUnknownVariableType] - the hub's types
    hf_hub_download,  # pyright: ignore[reportUnknownVariableType] - as above
    hf_hub_url,
)
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

from repertory.errors import ModelStoreError, UsageError

__all__ = ("fetch_config",)

_FILE = "config.json"
_ASK_TIMEOUT_S = 5.0


def fetch_config(repository: str) -> Path:
    """Download a model's `config.json` into the hub's own cache; without a network, take it from there.

    Raises:
        UsageError: The name is not `organisation/name`.
        ModelStoreError: The hub did not give it, and it is not in the cache.
    """
    if repository.count("/") != 1:
        raise UsageError("A hub model is named organisation/name.", where=repository)
    try:
        return Path(hf_hub_download(repository, _FILE, local_files_only=not _is_reachable(repository)))
    except HFValidationError as error:
        raise UsageError("This is not a name of a hub repository.", where=repository) from error
    except (HfHubHTTPError, httpx2.HTTPError, OSError, ValueError) as error:
        raise ModelStoreError(
            "The hub did not give the model's config.json.",
            where=repository,
            hint="Check the name and the network, or download it and name the file.",
        ) from error


def _is_reachable(repository: str) -> bool:
    """Ask once: a download asks six times, for half a minute, before it says that there is no network."""
    try:
        get_hf_file_metadata(hf_hub_url(repository, _FILE), timeout=_ASK_TIMEOUT_S)
    except (httpx2.TransportError, OfflineModeIsEnabled):
        return False
    except (HfHubHTTPError, httpx2.HTTPError, OSError):
        pass  # it answered; the download says what is wrong
    return True
