"""What the launcher tells the child process to serve, and what the child answers once it listens."""

import json
from dataclasses import asdict, dataclass
from typing import Self

__all__ = ("Listening", "ServerConfig")


@dataclass(frozen=True)
class ServerConfig:
    """The child's whole configuration. It goes over standard input, so that the key is in no process list.

    Attributes:
        model_path: The GGUF file.
        model_name: The name under which the model is served.
        slots: Requests served at the same time, each with its own KV cache.
        context_tokens: Context of one slot, in tokens.
        threads: CPU threads for decoding and for prompts.
        api_key: The key that every request must carry.
        slot_folder: Where slot states are saved; removed by the child when it ends.
        log_path: The log file, which the child rotates.
        parent_pid: The process whose end is the child's end.
        port: The port of the loopback interface; 0 lets the system choose.
        kv_unified: One KV cache for all slots: any of them may take all of the context, but none can be copied.
    """

    model_path: str
    model_name: str
    slots: int
    context_tokens: int
    threads: int
    api_key: str
    slot_folder: str
    log_path: str
    parent_pid: int
    port: int = 0
    kv_unified: bool = False

    def to_line(self) -> bytes:
        """The configuration as one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read what `to_line` wrote."""
        return cls(**json.loads(line))


@dataclass(frozen=True)
class Listening:
    """The child's one answer: where it listens."""

    url: str
    version: str

    def to_line(self) -> bytes:
        """The answer as one line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read what `to_line` wrote."""
        return cls(**json.loads(line))
