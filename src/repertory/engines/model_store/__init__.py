"""The model store: model files by checksum, fetched once, verified, and used without the network from then on."""

from repertory.engines.model_store.ensure import ensure_model
from repertory.engines.model_store.manifest import StoredModel
from repertory.engines.model_store.progress import Progress, PullProgress
from repertory.engines.model_store.store import ModelEntry, ModelState, ModelStore, VerifyResult

__all__ = (
    "ModelEntry",
    "ModelState",
    "ModelStore",
    "Progress",
    "PullProgress",
    "StoredModel",
    "VerifyResult",
    "ensure_model",
)
