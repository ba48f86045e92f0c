"""A deployment is killed at any moment; what was told is there, and what is there is whole."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.storage.store import Store

_WRITER = """
import itertools, sys
from pathlib import Path
from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.storage.store import Store
sys.path.insert(0, sys.argv[2])
from tests.registry.packages import edition
home = Home(root=Path(sys.argv[1]), models=Path(sys.argv[1]))
registry = Registry(Store.open(home.database), home)
start = int(sys.argv[3])
for number in itertools.count(start):
    version = registry.deploy(edition(number)).version
    registry.promote("counter", version.version)
    print(version.version, flush=True)
    if number % 3 == 0:
        registry.roll_back("counter") if version.version > 1 else None
"""


@pytest.mark.timeout(300)
def test_a_killed_deployment_leaves_whole_versions(tmp_path: Path) -> None:
    home = Home(root=tmp_path / "home", models=tmp_path)
    root = str(Path(__file__).parents[2])
    chance = random.Random(5)
    told: set[int] = set()
    for round_number in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(home.root), root, str(round_number * 1_000)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        told.add(int(process.stdout.readline()))
        time.sleep(chance.uniform(0, 0.4))
        process.kill()
        told.update(int(line) for line in process.stdout.read().split())
        process.wait()
        process.stdout.close()
        with Store.open(home.database) as store:
            registry = Registry(store, home)
            versions = registry.versions("counter")
            assert [one.version for one in versions] == list(range(len(versions), 0, -1))
            assert told <= {one.version for one in versions}
            assert [one.state for one in versions].count("live") == 1
            for version in versions:
                registry.load(version)
            events = registry.history("counter")
            assert [event.number for event in events] == list(range(1, len(events) + 1))
            assert sum(event.what == "deployed" for event in events) == len(versions)
