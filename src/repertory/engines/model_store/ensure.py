"""The one call that turns a model's name into a file: what `run`, `chat` and `demo` use."""

from pathlib import Path

from repertory.catalog.checkpoint_files import find_checkpoint_file
from repertory.engines.model_store.manifest import looks_like_file
from repertory.engines.model_store.progress import Progress, silent
from repertory.engines.model_store.store import ModelStore
from repertory.errors import UsageError

__all__ = ("ensure_model",)


def ensure_model(what: str, progress: Progress = silent, *, store: ModelStore | None = None) -> Path:
    """The file of a model: the user's own GGUF file as it is, else one of the store, pulled if it is missing.

    Blocks while it downloads: from async code, call it in a thread. Makes no network call when the model is here.

    Raises:
        UsageError: No such model or file.
        ModelStoreError: It can not be had.
    """
    store = store or ModelStore()
    if find_checkpoint_file(what) is None and not what.startswith("hf:") and looks_like_file(what):
        path = Path(what).expanduser()
        if not path.is_file():
            raise UsageError("there is no such model file", where=what)
        return path
    return store.layout.blob(store.pull(what, progress=progress).sha256)
