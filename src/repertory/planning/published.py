"""The published nine-agent plan, checked as given: six models that were said to need 211 GB."""

from dataclasses import dataclass

from repertory.catalog.formats import FORMATS, weight_bytes
from repertory.catalog.loader import Catalog

__all__ = ("PublishedModel", "check_published_plan")

_PLAN = (
    ("Qwen/Qwen3.5-397B-A17B", ("orchestrator", "researcher", "prompt_engineer"), 50),
    ("deepseek-ai/DeepSeek-V3.2", ("architect", "security_auditor"), 85),
    ("zai-org/GLM-4.7", ("critic",), 44),
    ("Qwen/Qwen2.5-Coder-32B-Instruct", ("builder",), 16),
    ("mistralai/Devstral-Small-2-24B-Instruct-2512", ("tester",), 12),
    ("Qwen/Qwen3-8B", ("requirements_analyst",), 4),
)
BUDGET_GB = 211.0


@dataclass(frozen=True)
class PublishedModel:
    """One of the six.

    Attributes:
        claimed_gb: Memory that the publication counts for it.
        flat_gb: Its published parameter count at exactly four bits.
        real_gb: Its AWQ checkpoint: four bits with scales, embeddings and the output matrix at 16 bits.
    """

    model: str
    agents: tuple[str, ...]
    claimed_gb: float
    flat_gb: float
    real_gb: float
    bits_claimed: float


def check_published_plan(catalog: Catalog) -> list[PublishedModel]:
    """The six models with what was claimed and what they take; the sum is what the 211 GB must be compared with."""
    rows: list[PublishedModel] = []
    for name, agents, claimed in _PLAN:
        model = catalog.find_model(name)
        real = weight_bytes(model.arch, FORMATS["awq-int4"]).text / 1e9
        rows.append(PublishedModel(model.id, agents, claimed, model.total_b / 2, real, claimed * 8 / model.total_b))
    return rows
