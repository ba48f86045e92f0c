"""kill -9 of everything: the supervisor, an engine, the shim, `up` itself. Nothing is lost, doubled or left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import psutil
import pytest
from tests.serving.instances.conftest import FakeEngines, kill, wait_until, wanted

from repertory.errors import EngineUnavailableError, RepertoryError
from repertory.home import Home
from repertory.serving.instances.commands import (
    bring_down,
    bring_up,
    current_state,
    supervisor_runs,
    watch_until_settled,
)
from repertory.serving.instances.directory import InstanceDirectory
from repertory.serving.instances.process_identity import is_process, launch_environment, processes_of
from repertory.serving.instances.records import InstanceStatus, ServingState, WantedInstances
from repertory.serving.instances.state_file import ServingFolder


def up(home: Home, what: WantedInstances | None) -> ServingState:
    async def start() -> ServingState:
        await bring_up(what, home)
        return await watch_until_settled(home, lambda _: None, within_s=60)

    return anyio.run(start)


def down(home: Home) -> list[str]:
    return anyio.run(bring_down, home)


def only(state: ServingState) -> tuple[int, str]:
    """Process and address of the only instance."""
    (item,) = state.instances
    assert item.status is InstanceStatus.READY, item
    assert item.pid is not None
    assert item.url is not None
    return item.pid, item.url


def supervisor_pid(home: Home) -> int:
    record = ServingFolder.of(home).read_state().supervisor
    assert record is not None
    return record.pid


def test_a_supervisor_that_is_killed_leaves_the_engines_serving_and_the_next_takes_them_over(
    home: Home, engines: FakeEngines
) -> None:
    before = only(up(home, wanted(engines.spec("a"))))
    kill(supervisor_pid(home))
    wait_until(lambda: not supervisor_runs(ServingFolder.of(home)), "it did not end")
    state = current_state(home)
    assert state.supervisor is None
    assert only(state) == before
    assert "without its supervisor" in state.instances[0].message
    assert only(up(home, None)) == before
    assert engines.count("a", "start") == 1
    # The one that took it over restarts it as well.
    kill(before[0])
    wait_until(lambda: engines.count("a", "start") == 2, "it was not restarted")


def test_down_leaves_nothing_also_when_the_supervisor_was_killed(
    home: Home, files: ServingFolder, engines: FakeEngines
) -> None:
    up(home, wanted(engines.spec("a", {"child": True}), engines.spec("b")))
    kill(supervisor_pid(home))
    assert len(processes_of(files.root)) == 5
    assert down(home) == ["a", "b"]
    assert processes_of(files.root) == []
    assert {item.status for item in current_state(home).instances} == {InstanceStatus.STOPPED}
    assert down(home) == []


def test_an_engine_killed_in_the_middle_of_its_start_is_started_again(home: Home, engines: FakeEngines) -> None:
    spec = engines.spec("a", {"loads_for_tenths": 600})
    anyio.run(bring_up, wanted(spec), home)
    wait_until(lambda: engines.count("a", "start") == 1, "it was not started")
    engines.behave("a", {})
    kill(engines.events("a")[0]["pid"])
    state = anyio.run(lambda: watch_until_settled(home, lambda _: None, within_s=60))
    only(state)
    assert state.instances[0].restarts == 1


def test_down_in_the_middle_of_a_start(home: Home, files: ServingFolder, engines: FakeEngines) -> None:
    anyio.run(bring_up, wanted(engines.spec("a", {"loads_for_tenths": 600, "child": True})), home)
    wait_until(lambda: engines.count("a", "start") == 1, "it was not started")
    down(home)
    assert processes_of(files.root) == []
    wait_until(lambda: not supervisor_runs(files), "it did not end")


def test_a_supervisor_killed_in_the_middle_of_a_start_does_not_lose_the_engine(
    home: Home, files: ServingFolder, engines: FakeEngines
) -> None:
    anyio.run(bring_up, wanted(engines.spec("a", {"loads_for_tenths": 30})), home)
    wait_until(lambda: engines.count("a", "start") == 1, "it was not started")
    kill(supervisor_pid(home))
    only(up(home, None))
    assert engines.count("a", "start") == 1
    assert len(processes_of(files.root)) == 2


def test_a_shim_that_is_killed_takes_its_engine_along_and_both_are_started_again(
    home: Home, files: ServingFolder, engines: FakeEngines
) -> None:
    pid, _ = only(up(home, wanted(engines.spec("a", {"child": True}))))
    kill(psutil.Process(pid).ppid())
    wait_until(lambda: engines.count("a", "ready") == 2, "it was not started again")
    wait_until(lambda: current_state(home).instances[0].status is InstanceStatus.READY, "it is not ready again")
    assert len(processes_of(files.root)) == 3, "something of the first launch was left"


UP = """
import sys, anyio
from pathlib import Path
from repertory.home import Home
from repertory.serving.instances.commands import bring_up
from repertory.serving.instances.records import WantedInstances
home = Home(root=Path(sys.argv[1]), models=Path(sys.argv[1]))
anyio.run(bring_up, WantedInstances.model_validate_json(sys.argv[2]), home)
"""


def test_several_up_at_once_make_one_supervisor_and_start_everything_once(
    home: Home, files: ServingFolder, engines: FakeEngines
) -> None:
    what = wanted(engines.spec("a"), engines.spec("b")).model_dump_json()
    commands = [subprocess.Popen([sys.executable, "-c", UP, str(home.root), what]) for _ in range(4)]
    assert [command.wait(90) for command in commands] == [0] * 4
    anyio.run(lambda: watch_until_settled(home, lambda _: None, within_s=60))
    assert [engines.count(name, "start") for name in ("a", "b")] == [1, 1]
    assert len(processes_of(files.root)) == 4


def test_an_up_that_is_killed_anywhere_leaves_a_state_from_which_up_and_down_work(
    home: Home, files: ServingFolder, engines: FakeEngines
) -> None:
    what = wanted(engines.spec("a")).model_dump_json()
    for pause in (0.3, 0.6, 0.9, 1.2):
        command = subprocess.Popen([sys.executable, "-c", UP, str(home.root), what])
        time.sleep(pause)  # the moment of the kill is what varies
        kill(command.pid)
        command.wait()
    only(up(home, WantedInstances.model_validate_json(what)))
    assert len(processes_of(files.root)) == 2


def test_a_strangers_process_under_an_old_number_is_neither_taken_nor_ended(
    home: Home, files: ServingFolder, engines: FakeEngines
) -> None:
    """The record names a process that lives but is not ours: as after a reboot, when numbers are given out again."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as stranger:
        up(home, wanted(engines.spec("a")))
        kill(supervisor_pid(home))
        record_path = files.instance("a") / "process.json"
        record = json.loads(record_path.read_text())
        kill(record["engine_pid"])
        wait_until(lambda: not processes_of(files.root), "the shim did not end")
        record |= {
            "shim_pid": stranger.pid,
            "shim_started": psutil.Process(stranger.pid).create_time(),
            "ended": False,
        }
        record_path.write_text(json.dumps(record))
        only(up(home, None))
        assert engines.count("a", "start") == 2
        down(home)
        assert stranger.poll() is None
        stranger.kill()


def test_a_process_with_anothers_start_time_is_another_process() -> None:
    me = psutil.Process()
    assert is_process(me.pid, me.create_time())
    assert not is_process(me.pid, me.create_time() - 60)


def test_processes_of_another_home_are_left_alone(home: Home, files: ServingFolder, tmp_path: Path) -> None:
    other = ServingFolder(tmp_path / "other" / "serving")
    marks = launch_environment(other.root, "a", "L")
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=os.environ | marks) as process:
        down(home)
        assert process.poll() is None
        process.kill()


def test_sigterm_of_the_supervisor_leaves_the_engines_running(home: Home, engines: FakeEngines) -> None:
    before = only(up(home, wanted(engines.spec("a"))))
    pid = supervisor_pid(home)
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not supervisor_runs(ServingFolder.of(home)), "it did not end")
    assert only(up(home, None)) == before


def test_a_state_of_another_version_stops_up_with_words_and_down_still_works(
    home: Home, files: ServingFolder, engines: FakeEngines
) -> None:
    up(home, wanted(engines.spec("a")))
    kill(supervisor_pid(home))
    (files.root / "state.json").write_text('{"version": 99}')
    with pytest.raises(RepertoryError, match="was not written by this version"):
        current_state(home)
    down(home)
    assert processes_of(files.root) == []


def test_nothing_to_start_again_is_said(home: Home) -> None:
    with pytest.raises(RepertoryError, match="nothing was started before"):
        anyio.run(bring_up, None, home)


def test_keys_and_orders_are_for_the_owner_alone(home: Home, files: ServingFolder, engines: FakeEngines) -> None:
    up(home, wanted(engines.spec("a")))
    for path in files.root.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0 or path.is_dir(), path
    assert files.root.stat().st_mode & 0o077 == 0

    async def as_a_stranger() -> None:
        record = files.read_state().supervisor
        assert record is not None
        for line in (b'{"do": "down"}\n', b'{"do": "down", "token": "guess"}\n', b"x" * 100_000 + b"\n"):
            async with await anyio.connect_tcp("127.0.0.1", record.port) as stream:
                await stream.send(line)
                with pytest.raises(anyio.EndOfStream):
                    await stream.receive()

    anyio.run(as_a_stranger)
    assert supervisor_runs(files)


async def test_who_uses_an_instance_and_dies_gives_it_back(home: Home, engines: FakeEngines) -> None:
    specs = [engines.spec(name, resident=False, agents=(name,)) for name in ("a", "b")]
    await bring_up(wanted(*specs), home)
    await watch_until_settled(home, lambda _: None, within_s=60)
    directory = InstanceDirectory(home)
    assert [(item.id, item.ready, item.takes_turns, item.url) for item in directory.instances()] == [
        ("a", True, True, None),
        ("b", True, True, None),
    ]
    code = (
        "import sys, anyio\nfrom pathlib import Path\nfrom repertory.home import Home\n"
        "from repertory.serving.instances.directory import InstanceDirectory\n"
        "async def main():\n"
        "    async with InstanceDirectory(Home(root=Path(sys.argv[1]), models=Path(sys.argv[1]))).use('a') as held:\n"
        "        print(held.url, flush=True)\n        await anyio.sleep_forever()\n"
        "anyio.run(main)\n"
    )
    holder = await anyio.open_process([sys.executable, "-c", code, str(home.root)])
    assert holder.stdout is not None
    assert b"http://127.0.0.1:" in await holder.stdout.receive()
    with anyio.move_on_after(1.0) as waiting:
        async with directory.use("b"):
            pytest.fail("it was lent beside the other")
    assert waiting.cancelled_caught
    holder.kill()
    await holder.wait()
    await holder.aclose()
    with anyio.fail_after(60):
        async with directory.use("b") as held:
            assert held.url is not None


async def test_without_a_supervisor_nobody_is_woken_and_it_is_said(home: Home, engines: FakeEngines) -> None:
    await bring_up(wanted(engines.spec("a", resident=False)), home)
    await watch_until_settled(home, lambda _: None, within_s=60)
    await anyio.to_thread.run_sync(kill, supervisor_pid(home))
    directory = InstanceDirectory(home)
    assert not directory.supervised
    with pytest.raises(EngineUnavailableError, match="supervisor does not run"):
        async with directory.use("a"):
            pytest.fail("it was lent")
