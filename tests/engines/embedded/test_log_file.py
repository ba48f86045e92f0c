import subprocess
import sys
from pathlib import Path

from repertory.engines.embedded.log_file import new_log, reasons, tail

LOADING = """0.00.004.260 I srv          init: loading model
0.00.016.651 E gguf_init_from_reader: failed to read key-value pairs
0.00.026.906 E cmn  common_init_: failed to load model 'broken.gguf'
0.00.026.912 I srv    operator(): operator(): cleaning up before exit...
"""


def test_the_marked_lines_are_the_reason(tmp_path: Path) -> None:
    log = tmp_path / "e.log"
    log.write_text(LOADING)
    found = reasons(log)
    assert len(found) == 2
    assert "failed to load model 'broken.gguf'" in found[-1]
    assert not any(line.startswith("0.00") for line in found)


def test_an_abort_without_marks_is_found_and_plain_progress_is_not(tmp_path: Path) -> None:
    log = tmp_path / "e.log"
    log.write_text(
        "0.01.000.000 I slot launch_slot_: id 0 | no error\nterminate called after throwing 'std::bad_alloc'\n"
    )
    assert reasons(log) == ["terminate called after throwing 'std::bad_alloc'"]


def test_no_log_no_reason(tmp_path: Path) -> None:
    assert reasons(tmp_path / "nix.log") == []
    assert tail(tmp_path / "nix.log") == []


def test_a_log_is_private_and_old_ones_go(tmp_path: Path) -> None:
    logs = [new_log(tmp_path / "logs", "engine") for _ in range(25)]
    assert logs[-1].stat().st_mode & 0o777 == 0o600
    assert len(list((tmp_path / "logs").iterdir())) == 20


ROTATING = """
import os, sys
from pathlib import Path
from repertory.engines.embedded import server
server._LOG_LIMIT_BYTES = 1000
log = Path(sys.argv[1])
os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
for part in (b"a" * 900, b"b" * 200, b"c" * 10):
    os.write(2, part)
    server._rotate(log)
"""


def test_the_engine_keeps_its_log_bounded(tmp_path: Path) -> None:
    log = tmp_path / "engine-1.log"
    subprocess.run([sys.executable, "-c", ROTATING, str(log)], check=True)
    assert log.read_bytes() == b"c" * 10
    assert (tmp_path / "engine-1.old.log").read_bytes() == b"a" * 900 + b"b" * 200
