"""What deployed agents keep: whole calls or nothing, per user, bounded, over versions, gone with the agent."""

import json
import random
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.registry.temperature import temperature

from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.registry.result import CallResult
from repertory.registry.runtime import AgentRuntime
from repertory.storage.store import Store

CODE = """\
import json
from repertory_host import call


def c_to_f(celsius):
    number = int(celsius)
    if number == 1:
        return call("records_append", "log", "x" * 60_000)
    if number == 2:
        call("records_put", "lost", 1)
        raise RuntimeError("after it was put")
    if number == 3:
        call("records_put", "lost", 1)
        return "not a number"
    if number == 4:
        return len(call("records_keys", "n"))
    if number == 5:
        return call("records_schema")
    if number == 6:
        call("records_put", "k" * 300, 1)
    if number == 7:
        call("records_put", "big", "x" * 100_000)
    if number == 9:
        try:
            while True:
                call("records_append", "log", "x" * 60_000)
        except OSError:
            pass
        try:
            call("records_put", "after", 1)
        except OSError:
            return 0
    if number == 8:
        return len(call("records_log", "log")) + call("records_remove", "n")
    value = (call("records_get", "n") or 0) + 1
    call("records_put", "n", value)
    return value


def f_to_c(fahrenheit):
    return 0
"""


def with_records(*, per_user: bool = False, schema: int = 1, mib: int = 1, extra: str = "") -> dict[str, bytes]:
    files = temperature(code=CODE + extra)
    manifest = json.loads(files["agent.yaml"])
    manifest["permissions"]["records"] = {"per_user": per_user, "schema_version": schema}
    manifest["limits"] = {"state_mib": mib}
    return {**files, "agent.yaml": json.dumps(manifest).encode()}


def deploy(registry: Registry, files: dict[str, bytes]) -> None:
    version = registry.deploy(files).version
    registry.promote(version.agent, version.version)


def do(runtime: AgentRuntime, number: int, user: str | None = None) -> CallResult:
    return runtime.call("temperature", "c_to_f", {"celsius": number}, user=user)


def error(result: CallResult) -> str:
    assert result.error is not None
    return result.error.type


def test_a_call_keeps_all_or_nothing(registry: Registry, runtime: AgentRuntime, home: Home) -> None:
    deploy(registry, with_records())
    assert [do(runtime, 0).result for _ in range(3)] == [1, 2, 3]
    assert (error(do(runtime, 2)), error(do(runtime, 3))) == ("RuntimeError", "InvalidResult")
    kept = registry.records(registry.load(registry.resolve("temperature"))).export()
    assert kept == {"schema": 1, "users": {"": {"entries": {"n": 3}, "logs": {}}}}
    assert (error(do(runtime, 6)), error(do(runtime, 7))) == ("ValueError", "ValueError")
    assert stat.S_IMODE((home.agents / "temperature" / "records.sqlite").stat().st_mode) == 0o600


def test_users_do_not_see_each_other_and_one_is_erased(registry: Registry, runtime: AgentRuntime) -> None:
    deploy(registry, with_records(per_user=True))
    assert [do(runtime, 0, user).result for user in ("ada", "bob", "ada")] == [1, 1, 2]
    assert error(do(runtime, 0)) == "UserMissing"
    records = registry.records(registry.load(registry.resolve("temperature")))
    assert records.export("ada")["users"] == {"ada": {"entries": {"n": 2}, "logs": {}}}
    assert records.erase("ada") == 1
    assert list(records.export()["users"]) == ["bob"]
    assert do(runtime, 0, "ada").result == 1


def test_they_are_bounded(registry: Registry, runtime: AgentRuntime) -> None:
    deploy(registry, with_records())
    results = [do(runtime, 1) for _ in range(25)]
    assert results[0].result == 1
    assert error(results[-1]) == "OSError"
    assert "full" in str(results[-1].error)
    assert error(do(runtime, 9)) == "RecordsLost"  # an agent that swallows the error does not pass for one that kept it
    assert do(runtime, 8).result == sum(result.error is None for result in results)


def test_they_stay_over_versions_and_go_with_the_agent(registry: Registry, runtime: AgentRuntime, home: Home) -> None:
    deploy(registry, with_records())
    assert (do(runtime, 0).result, do(runtime, 5).result) == (1, 1)
    deploy(registry, with_records(schema=3, extra="\n# second\n"))
    assert do(runtime, 5).result == 1  # the code sees which form it finds, and can convert it
    assert (do(runtime, 0).result, do(runtime, 5).result) == (2, 3)
    registry.roll_back("temperature")
    assert (do(runtime, 0).result, do(runtime, 5).result) == (3, 3)
    registry.remove("temperature")
    assert not (home.agents / "temperature").exists()


def test_calls_at_once_lose_nothing(registry: Registry, runtime: AgentRuntime) -> None:
    deploy(registry, with_records())
    threads = [threading.Thread(target=lambda: [do(runtime, 0) for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert do(runtime, 0).result == 21


def test_an_agent_without_the_grant_reaches_nothing(registry: Registry, runtime: AgentRuntime) -> None:
    deploy(registry, temperature(code=CODE))
    assert error(do(runtime, 0)) == "NotImplementedError"


_WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.storage.store import Store
home = Home(root=Path(sys.argv[1]), models=Path(sys.argv[1]))
with AgentRuntime(Registry(Store.open(home.database), home)) as runtime:
    while True:
        print(runtime.call("temperature", "c_to_f", {"celsius": 0}).result, flush=True)
"""


@pytest.mark.timeout(300)
def test_killed_at_any_moment_what_was_told_is_kept(tmp_path: Path) -> None:
    home = Home(root=tmp_path / "home", models=tmp_path)
    with Store.open(home.database) as store:
        deploy(Registry(store, home), with_records())
    chance, told = random.Random(3), 0
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(home.root), str(Path(__file__).parents[2])],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        told = max(told, int(process.stdout.readline()))
        time.sleep(chance.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        told = max([told, *map(int, process.stdout.read().split())])
        process.wait()
        process.stdout.close()
        with Store.open(home.database) as store:
            registry = Registry(store, home)
            kept = registry.records(registry.load(registry.resolve("temperature"))).export()
            assert told <= kept["users"][""]["entries"]["n"] <= told + 1
            told = kept["users"][""]["entries"]["n"]
