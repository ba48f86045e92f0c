import subprocess
import sys
from pathlib import Path

from repertory.engines.embedded.slot_folder import slot_folder

KILLED = """
import os, sys, signal
from pathlib import Path
from repertory.engines.embedded.slot_folder import slot_folder
with slot_folder(Path(sys.argv[1])) as folder:
    (folder / "state.bin").write_bytes(b"private")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_private_and_gone_at_the_end(tmp_path: Path) -> None:
    with slot_folder(tmp_path / "slots") as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "state.bin").write_bytes(b"x")
    assert list((tmp_path / "slots").iterdir()) == []


def test_folders_in_use_stay_and_abandoned_ones_go(tmp_path: Path) -> None:
    slots = tmp_path / "slots"
    with slot_folder(slots) as living:
        subprocess.run([sys.executable, "-c", KILLED, str(slots)], check=False)
        left = [entry for entry in slots.iterdir() if entry.is_dir() and entry != living]
        assert len(left) == 1
        assert (left[0] / "state.bin").exists()
        with slot_folder(slots) as other:
            assert living.is_dir()
            assert other.is_dir()
            assert not left[0].exists()
