"""The `config.json` of a repository of the Hugging Face hub."""

from pathlib import Path

from huggingface_hub import hf_hub_download  # pyright: ignore[reportUnknownVariableType] - the hub's types
from huggingface_hub.errors import HfHubHTTPError, HFValidationError

from repertory.errors import ModelStoreError, UsageError

__all__ = ("fetch_config",)


def fetch_config(repository: str) -> Path:
    """Download a model's `config.json` into the hub's own cache.

    Raises:
        UsageError: The name is not `organisation/name`.
        ModelStoreError: The hub did not give it.
    """
    if repository.count("/") != 1:
        raise UsageError("A hub model is named organisation/name.", where=repository)
    try:
        return Path(hf_hub_download(repository, "config.json"))
    except HFValidationError as error:
        raise UsageError("This is not a name of a hub repository.", where=repository) from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise ModelStoreError(
            "The hub did not give the model's config.json.",
            where=repository,
            hint="Check the name and the network, or download it and name the file.",
        ) from error
