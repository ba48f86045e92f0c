"""What the memory of a model depends on, from the metadata at the head of its GGUF file."""

from dataclasses import dataclass
from pathlib import Path

from repertory.catalog.gguf_reader import GgufError, GgufReader, Value
from repertory.errors import ModelStoreError

__all__ = ("GgufHeader", "read_gguf_header")


@dataclass(frozen=True)
class GgufHeader:
    """Metadata of one model file.

    Attributes:
        metadata: Key to value; None for values too long to keep.
        file_bytes: Size of the file.
    """

    metadata: dict[str, Value]
    file_bytes: int

    @property
    def architecture(self) -> str:
        """The name of the model's architecture, such as `qwen2`; empty when the file does not say."""
        value = self.metadata.get("general.architecture")
        return value if isinstance(value, str) else ""

    @property
    def name(self) -> str | None:
        """The name that the file gives its model."""
        value = self.metadata.get("general.name")
        return value if isinstance(value, str) else None

    @property
    def context_tokens(self) -> int | None:
        """The longest context the model was trained for, in tokens."""
        return self._int("context_length")

    def kv_bytes_per_token(self, bytes_per_value: float = 2.0) -> int | None:
        """Bytes of KV cache for one token: the sum over layers of KV heads x (key + value length) x bytes per value.

        An upper bound for models with sliding windows or layers without attention. None when the file does not say.
        """
        layers, heads = self._int("block_count"), self._int("attention.head_count")
        width = self._int("embedding_length")
        kv_heads = self.metadata.get(f"{self.architecture}.attention.head_count_kv", heads)
        head_width = width // heads if heads and width else None
        key = self._int("attention.key_length") or head_width
        value = self._int("attention.value_length") or head_width
        if not layers or key is None or value is None:
            return None
        if isinstance(kv_heads, tuple):
            all_heads = sum(int(count) for count in kv_heads if isinstance(count, int) and count > 0)
        elif isinstance(kv_heads, int) and kv_heads > 0:
            all_heads = layers * kv_heads
        else:
            return None
        return int(all_heads * (key + value) * bytes_per_value)

    def _int(self, key: str) -> int | None:
        value = self.metadata.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def read_gguf_header(path: Path) -> GgufHeader:
    """Read a model file's metadata.

    Raises:
        ModelStoreError: The file can not be read or is not a GGUF file that we know.
    """
    try:
        with path.open("rb") as file:
            reader = GgufReader(file)
            return GgufHeader(metadata=reader.head().metadata, file_bytes=reader.file_bytes)
    except OSError as error:
        message = f"the model file can not be read: {error.strerror or error}"
        raise ModelStoreError(message, where=str(path)) from error
    except GgufError as error:
        message = f"this is not a usable GGUF model file: {error}"
        raise ModelStoreError(message, where=str(path), hint="fetch it again, or name another file") from error
