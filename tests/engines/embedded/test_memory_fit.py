from collections.abc import Callable
from pathlib import Path

import pytest

from repertory.engines.embedded.gguf_header import GgufHeader, read_gguf_header
from repertory.engines.embedded.memory_fit import fit_to_memory
from repertory.errors import EngineRejectedError

GB = 1_000_000_000


@pytest.fixture
def header(tmp_path: Path, make_gguf: Callable[..., bytes]) -> GgufHeader:
    path = tmp_path / "m.gguf"
    path.write_bytes(make_gguf())
    return GgufHeader(metadata=read_gguf_header(path).metadata, file_bytes=491_400_064)


def test_with_memory_enough_nothing_is_changed(header: GgufHeader) -> None:
    size = fit_to_memory(header, slots=6, context_tokens=4096, available_bytes=8 * GB)
    assert (size.slots, size.context_tokens, size.notes) == (6, 4096, ())
    assert size.kv_bytes == 6 * 4096 * 12288
    assert size.needed_bytes > size.kv_bytes + header.file_bytes


@pytest.mark.parametrize("available", [1_060_000_000, 1_150_000_000, 1_250_000_000, 1_300_000_000])
def test_what_was_fitted_really_fits_and_is_told(header: GgufHeader, available: int) -> None:
    size = fit_to_memory(header, slots=6, context_tokens=4096, available_bytes=available)
    assert size.needed_bytes <= available
    assert size.notes
    assert 1 <= size.slots <= 6
    assert 2048 <= size.context_tokens <= 4096


def test_the_context_goes_before_the_slots(header: GgufHeader) -> None:
    available = header.file_bytes + 512 * 1024 * 1024 + 6 * 3000 * 12288
    size = fit_to_memory(header, slots=6, context_tokens=4096, available_bytes=available)
    assert (size.slots, size.context_tokens) == (6, 2816)
    assert size.notes == (f"context lowered from 4,096 to 2,816 tokens: {available / 1e9:.2f} GB are free",)


def test_then_slots_are_given_up(header: GgufHeader) -> None:
    available = header.file_bytes + 512 * 1024 * 1024 + 3 * 2048 * 12288
    size = fit_to_memory(header, slots=6, context_tokens=4096, available_bytes=available)
    assert (size.slots, size.context_tokens) == (3, 2048)
    assert any("slots lowered from 6 to 3" in note for note in size.notes)


def test_a_model_that_can_not_fit_is_refused_in_words(header: GgufHeader, tmp_path: Path) -> None:
    with pytest.raises(
        EngineRejectedError, match=r"needs at least 1\.05 GB of free memory, and 0\.90 GB are free"
    ) as told:
        fit_to_memory(header, slots=6, context_tokens=4096, available_bytes=900_000_000, where=tmp_path)
    assert told.value.hint is not None


@pytest.mark.parametrize(("asked", "given"), [(1, 256), (256, 256), (4000, 4096), (100_000, 32768)])
def test_context_is_padded_as_llamacpp_does_and_never_beyond_the_model(
    header: GgufHeader, asked: int, given: int
) -> None:
    size = fit_to_memory(header, slots=1, context_tokens=asked, available_bytes=64 * GB)
    assert size.context_tokens == given
    assert bool(size.notes) is (asked > 32768)


def test_a_file_that_hides_its_shape_is_counted_on_the_safe_side(header: GgufHeader) -> None:
    unknown = GgufHeader(metadata={}, file_bytes=header.file_bytes)
    size = fit_to_memory(unknown, slots=1, context_tokens=4096, available_bytes=8 * GB)
    assert size.kv_bytes > 4096 * 12288
