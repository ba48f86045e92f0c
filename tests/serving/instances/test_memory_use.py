import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from repertory.serving.instances import memory_use
from repertory.serving.instances.memory_use import (
    free_gib,
    host_memory_gib,
    measure,
    parse_compute_apps,
    remember_measurement,
)
from repertory.serving.instances.records import InstanceSpec, MemoryUse
from repertory.serving.instances.state_file import read_json_object


def spec(**changes: object) -> InstanceSpec:
    facts: dict[str, object] = {
        "id": "a", "engine": "vllm", "model": "m", "checkpoint": "org/m", "served_name": "m", "devices": ("cpu",),
        "predicted_gib": 2.5,
    }  # fmt: skip
    return InstanceSpec.model_validate(facts | changes)


def test_on_a_processor_the_pages_of_all_processes_are_measured_against_the_plan() -> None:
    me = psutil.Process()
    use = measure(spec(), [me])
    assert use.predicted_gib == 2.5
    assert use.measured_gib is not None
    assert 0.01 < use.measured_gib <= me.memory_info().rss / 2**30 + 0.01
    assert use.how in ("pss", "rss")
    assert free_gib(spec()) is not None


def test_processes_that_ended_meanwhile_are_left_out() -> None:
    assert host_memory_gib([]) == (None, "pss")


def test_on_a_gpu_the_driver_is_asked_for_the_engines_processes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    me = psutil.Process()
    apps = [[(me.pid, 8 * 2**30), (1, 5 * 2**30)], [(me.pid, 4 * 2**30)]]

    def running(index: int) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in apps[index]]

    def handle(index: int) -> int:
        return index

    nvml = SimpleNamespace(
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetHandleByIndex=handle,
        nvmlDeviceGetComputeRunningProcesses=running,
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    use = measure(spec(devices=("gpu0", "gpu1")), [me])
    assert (use.measured_gib, use.how) == (6.0, "nvml")
    assert use.host_gib is not None


def test_the_table_of_nvidia_smi_is_read_and_what_is_not_told_is_not_invented() -> None:
    text = "101, 2048\n102, 1024\n103, [N/A]\nNo running processes found\n"
    assert parse_compute_apps(text, {101, 102, 103}) == 3.0
    assert parse_compute_apps(text, {7}) is None
    assert parse_compute_apps("", {101}) is None


def test_without_a_driver_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setenv("PATH", "/nowhere")
    assert measure(spec(devices=("gpu0",)), [psutil.Process()]).measured_gib is None


def test_measurements_are_kept_by_checkpoint_and_settings_and_do_not_grow_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "measurements.json"
    for number in range(memory_use._KEPT + 20):
        use = MemoryUse(predicted_gib=2.5, measured_gib=float(number))
        remember_measurement(path, spec(context_tokens=1000 + number), use, "2026-12-01")
    remember_measurement(path, spec(context_tokens=1219), MemoryUse(measured_gib=99.0), "2026-12-02")
    rows = read_json_object(path)
    assert len(rows) == memory_use._KEPT
    last = rows[list(rows)[-1]]
    assert isinstance(last, dict)
    assert (last["measured_gib"], last["when"]) == (99.0, "2026-12-02")
