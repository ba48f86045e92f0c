"""One launch of an engine: its shim is started, found again after our own restart, watched, and ended."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
import psutil

from repertory.errors import EngineUnavailableError
from repertory.serving.instances.launch_command import shim_order, slot_states
from repertory.serving.instances.process_identity import (
    end_processes,
    is_process,
    launch_environment,
    processes_of,
)
from repertory.serving.instances.records import InstanceSpec
from repertory.serving.instances.restart_policy import LoadProgress
from repertory.serving.instances.rotating_log import read_tail
from repertory.serving.instances.shim import ENGINE_LOG, PROCESS_RECORD
from repertory.serving.instances.state_file import ServingFolder, read_json_object, write_privately

__all__ = ("EngineProcess", "ProcessRecord")

_LAUNCH_FILE = "launch.json"
_LOG_LINES = 400


@dataclass(frozen=True)
class ProcessRecord:
    """What the shim wrote down."""

    launch: str
    shim_pid: int
    shim_started: float
    engine_pid: int
    url: str | None
    log_bytes: int
    ended: bool
    exit_code: int | None
    error: str
    version: str = ""

    @classmethod
    def read(cls, folder: Path) -> "ProcessRecord | None":
        """The record in an instance's folder; None when there is none that can be read."""
        try:
            return cls(**read_json_object(folder / PROCESS_RECORD))  # pyright: ignore[reportArgumentType] - checked by use
        except TypeError:
            return None


class EngineProcess:
    """The engine of one instance, as long as one launch lasts.

    Attributes:
        launch: The name of the launch.
        port: The port that it was told; 0 when it is not known.
        api_key: Its key.
    """

    def __init__(self, spec: InstanceSpec, files: ServingFolder, launch: str, port: int, api_key: str) -> None:
        self.spec = spec
        self.launch = launch
        self.port = port
        self.api_key = api_key
        self._files = files
        self._folder = files.instance(spec.id)
        self._shim: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(cls, spec: InstanceSpec, files: ServingFolder, *, port: int, api_key: str) -> "EngineProcess":
        """Start the shim and hand it its order. Blocks for a moment.

        Raises:
            EngineUnavailableError: No process could be started.
        """
        process = cls(spec, files, secrets.token_hex(8), port, api_key)
        process._start()
        return process

    @classmethod
    def find(cls, spec: InstanceSpec, files: ServingFolder) -> "EngineProcess | None":
        """The launch that still runs, if it was started from the same spec; None otherwise."""
        folder = files.instance(spec.id)
        noted = read_json_object(folder / _LAUNCH_FILE)
        record = ProcessRecord.read(folder)
        if record is None or noted.get("launch") != record.launch or noted.get("spec") != spec.model_dump(mode="json"):
            return None
        process = cls(spec, files, record.launch, int(str(noted.get("port", 0))), str(noted.get("api_key", "")))
        return process if process.alive else None

    @property
    def record(self) -> ProcessRecord | None:
        """The shim's record of this launch; None before it is written."""
        record = ProcessRecord.read(self._folder)
        return record if record is not None and record.launch == self.launch else None

    @property
    def alive(self) -> bool:
        """Whether shim and engine live, as those that were started: number, start time and mark are compared."""
        if self._shim is not None:
            return self._shim.poll() is None
        record = self.record
        if record is None or record.ended or not is_process(record.shim_pid, record.shim_started):
            return False
        try:
            environment = psutil.Process(record.shim_pid).environ()
        except psutil.Error:
            return False
        marks = launch_environment(self._files.root, self.spec.id, self.launch)
        return all(environment.get(name) == value for name, value in marks.items())

    @property
    def processes(self) -> list[psutil.Process]:
        """The engine's processes, without the shim."""
        record = self.record
        shim = record.shim_pid if record is not None else 0
        return [process for process in processes_of(self._files.root, self.spec.id, self.launch) if process.pid != shim]

    def progress(self) -> LoadProgress:
        """Signs of work so far."""
        record = self.record
        cpu, read = 0.0, 0
        for process in self.processes:
            try:
                times = process.cpu_times()
                cpu += times.user + times.system
                read += process.io_counters().read_bytes if hasattr(process, "io_counters") else 0
            except psutil.Error:
                continue
        return LoadProgress(record.log_bytes if record else 0, cpu, read)

    def log_tail(self) -> list[str]:
        """The last lines that this launch printed."""
        lines = read_tail(self._folder / ENGINE_LOG, _LOG_LINES)
        first = next((i for i, line in reversed(list(enumerate(lines))) if line == f"--- launch {self.launch}"), -1)
        return lines[first + 1 :]

    async def end(self, *, at_once: bool = False) -> None:
        """End the engine and everything that it started.

        Args:
            at_once: Do not ask: the engine hangs, or does not answer.
        """
        if at_once:
            await anyio.to_thread.run_sync(lambda: end_processes(self.processes, grace_s=0.0))
        await anyio.to_thread.run_sync(self._end)

    def _start(self) -> None:
        folder = self._folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        states = slot_states(folder)
        shutil.rmtree(states, ignore_errors=True)
        states.mkdir(mode=0o700)
        (folder / PROCESS_RECORD).unlink(missing_ok=True)
        noted = {
            "launch": self.launch,
            "port": self.port,
            "api_key": self.api_key,
            "spec": self.spec.model_dump(mode="json"),
        }
        write_privately(folder / _LAUNCH_FILE, json.dumps(noted))
        order = shim_order(
            self.spec, root=self._files.root, folder=folder, launch=self.launch, port=self.port, api_key=self.api_key
        )
        marks = launch_environment(self._files.root, self.spec.id, self.launch)
        command = [sys.executable, "-P", "-m", "repertory.serving.instances.shim"]
        try:
            with (folder / "shim.log").open("wb") as log:
                self._shim = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    env=os.environ | marks,
                    start_new_session=True,
                )
            if self._shim.stdin is not None:
                with self._shim.stdin as pipe:
                    pipe.write(order.to_line())
        except OSError as error:
            message = f"the engine's process could not be started: {error.strerror or error}"
            raise EngineUnavailableError(message, where=self.spec.id) from error

    def _end(self) -> None:
        record = self.record
        if self._shim is not None:
            if self._shim.poll() is None:
                self._shim.terminate()
        elif record is not None and self.alive:
            end_processes([psutil.Process(record.shim_pid)], grace_s=30.0)
        if self._shim is not None:
            try:
                self._shim.wait(30.0)
            except subprocess.TimeoutExpired:
                self._shim.kill()
                self._shim.wait(5.0)
        # The shim has ended all that it could see; this is for what it could not, or when it was killed itself.
        end_processes(processes_of(self._files.root, self.spec.id))
        shutil.rmtree(slot_states(self._folder), ignore_errors=True)
