"""The command that starts an instance, with the address, key and name that the supervisor gives it."""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from repertory.engines.embedded.config import ServerConfig
from repertory.engines.embedded.machine import usable_cores
from repertory.errors import RepertoryError
from repertory.serving.instances.process_identity import launch_environment
from repertory.serving.instances.records import InstanceSpec
from repertory.serving.instances.shim import ShimOrder

__all__ = ("HOST", "shim_order", "slot_states")

HOST = "127.0.0.1"
_OWN_NAMES = "REPERTORY_"
"""Our own settings (keys, addresses of databases) are no business of an engine."""


def slot_states(folder: Path) -> Path:
    """Where llama.cpp keeps slot states; emptied with each launch, because they hold what people wrote."""
    return folder / "slots"


def shim_order(spec: InstanceSpec, *, root: Path, folder: Path, launch: str, port: int, api_key: str) -> ShimOrder:
    """What the shim is told for one launch.

    Args:
        spec: The instance.
        root: The supervisor's folder, which marks the processes.
        folder: The instance's folder.
        launch: The name of the launch.
        port: The port that was leased for it.
        api_key: The key that requests must carry.
    """
    marks = launch_environment(root, spec.id, launch)
    ours = {name: value for name, value in os.environ.items() if not name.startswith(_OWN_NAMES)}
    environment = ours | spec.environment | marks
    url = f"http://{HOST}:{port}"
    if spec.engine == "vllm":
        return ShimOrder(
            launch=launch,
            folder=str(folder),
            arguments=_vllm(spec, port),
            environment=environment | _vllm_environment(spec, api_key),
            url=url,
            grace_s=20.0,
        )
    if spec.program is not None:
        return ShimOrder(
            launch=launch,
            folder=str(folder),
            arguments=_llama_server(spec, port, slot_states(folder)),
            environment=environment | {"LLAMA_API_KEY": api_key},
            url=url,
        )
    return ShimOrder(
        launch=launch,
        folder=str(folder),
        # -P: the current folder must not be searched for modules.
        arguments=[sys.executable, "-P", "-m", "repertory.engines.embedded.server"],
        environment=environment,
        embedded=_embedded(spec, port, api_key, slot_states(folder)),
    )


def _vllm(spec: InstanceSpec, port: int) -> list[str]:
    command = [_program(spec), "serve", spec.checkpoint, "--host", HOST, "--port", str(port)]
    command += ["--served-model-name", spec.served_name, *spec.arguments]
    if not spec.resident and "--enable-sleep-mode" not in command and not _on_processor(spec):
        command.append("--enable-sleep-mode")
    return command


def _vllm_environment(spec: InstanceSpec, api_key: str) -> dict[str, str]:
    environment = {"VLLM_API_KEY": api_key, "VLLM_NO_USAGE_STATS": "1"}
    # The folder of the program first: vLLM starts other programs of its environment by name.
    environment["PATH"] = f"{Path(_program(spec)).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    if not spec.resident and not _on_processor(spec):
        environment["VLLM_SERVER_DEV_MODE"] = "1"  # the endpoints for sleeping exist only then
    return environment


def _llama_server(spec: InstanceSpec, port: int, slots: Path) -> list[str]:
    context = spec.context_tokens if spec.kv_unified else spec.context_tokens * spec.slots
    command = [_program(spec), "-m", spec.checkpoint, "--host", HOST, "--port", str(port), "--alias", spec.served_name]
    command += ["-np", str(spec.slots), "-c", str(context), "--no-webui", *spec.arguments]
    if "--jinja" not in command:
        command.append("--jinja")
    # With one KV cache for all slots, no slot can be copied into another.
    return [*command, "--kv-unified"] if spec.kv_unified else [*command, "--slot-save-path", f"{slots}{os.sep}"]


def _embedded(spec: InstanceSpec, port: int, api_key: str, slots: Path) -> dict[str, object]:
    per_slot = -(-spec.context_tokens // spec.slots) if spec.kv_unified else spec.context_tokens
    config = ServerConfig(
        model_path=spec.checkpoint,
        model_name=spec.served_name,
        slots=spec.slots,
        context_tokens=per_slot,
        threads=usable_cores(),
        api_key=api_key,
        slot_folder=str(slots),
        log_path=os.devnull,  # the shim keeps the log
        parent_pid=0,  # the shim puts in its own
        port=port,
        kv_unified=spec.kv_unified,
    )
    fields: dict[str, object] = json.loads(json.dumps(asdict(config)))
    del fields["parent_pid"]
    return fields


def _program(spec: InstanceSpec) -> str:
    if spec.program is None:
        message = f"no program is known for the engine {spec.engine}"
        raise RepertoryError(message, where=spec.id)
    return spec.program


def _on_processor(spec: InstanceSpec) -> bool:
    return all(name == "cpu" for name in spec.devices)
