import pytest

from repertory.catalog.checkpoint_files import find_checkpoint_file
from repertory.engines.embedded import choose_default_model, machine_size

GB = 1_000_000_000


@pytest.mark.parametrize(
    ("memory", "cores", "model"),
    [
        (24 * GB, 2, "qwen2.5-coder-1.5b"),
        (4 * GB, 2, "qwen2.5-coder-1.5b"),
        (3 * GB, 8, "qwen2.5-coder-0.5b"),
        (24 * GB, 1, "qwen2.5-coder-0.5b"),
    ],
)
def test_memory_and_cores_decide(memory: int, cores: int, model: str) -> None:
    choice = choose_default_model(memory, cores)
    assert choice.model == model
    assert f"{memory / 1e9:.0f} GB of memory and {cores} core" in choice.reason
    assert find_checkpoint_file(choice.model) is not None


def test_this_machine_gets_one() -> None:
    size = machine_size()
    assert size.cores >= 1
    assert size.memory_bytes > 0
    assert choose_default_model(*size).reason.endswith(".")
