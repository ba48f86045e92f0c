import pytest
from pydantic import ValidationError

from repertory.catalog.checkpoint_files import CheckpointFile, checkpoint_files, find_checkpoint_file, unknown_model


def test_every_name_leads_to_one_file() -> None:
    names = [name for entry in checkpoint_files() for name in (entry.name, entry.file.lower(), *entry.aliases)]
    assert len(names) == len(set(names))
    for entry in checkpoint_files():
        for name in (entry.name, entry.name.upper(), f" {entry.file} ", entry.sha256, *entry.aliases):
            assert find_checkpoint_file(name) is entry
        assert entry.hub or entry.carriers


@pytest.mark.parametrize(
    ("name", "size", "sha256"),
    [
        ("qwen2.5-coder-1.5b", 1_117_320_768, "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"),
        ("qwen2.5-coder-0.5b", 491_400_064, "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"),
        ("smollm2-135m", 98_362_432, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),
    ],
)
def test_the_publishers_size_and_checksum(name: str, size: int, sha256: str) -> None:
    entry = find_checkpoint_file(name)
    assert entry is not None
    assert (entry.bytes, entry.sha256, entry.licence) == (size, sha256, "Apache-2.0")
    assert entry.memory_bytes > entry.bytes


def test_parts_that_do_not_make_the_file_are_refused() -> None:
    entry = checkpoint_files()[0].model_dump()
    entry["carriers"] = entry["carriers"][:-1]
    with pytest.raises(ValidationError, match="do not add up"):
        CheckpointFile.model_validate(entry)


def test_an_unknown_name_is_told_with_the_nearest_and_the_list() -> None:
    assert find_checkpoint_file("smolm2-135m") is None
    error = unknown_model("smolm2-135m", others=("my-own",))
    assert error.hint is not None
    assert "Did you mean smollm2-135m?" in error.hint
    assert "my-own" in error.hint
    assert error.exit_code == 2
