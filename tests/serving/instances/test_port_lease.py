import multiprocessing
import socket
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from repertory.errors import RepertoryError
from repertory.serving.instances import port_lease
from repertory.serving.instances.port_lease import lease_port


def test_a_leased_port_is_free_below_the_ephemeral_range_and_leased_once() -> None:
    leases = [lease_port() for _ in range(20)]
    try:
        ports = [lease.port for lease in leases]
        assert len(set(ports)) == 20
        assert max(ports) < port_lease._first_ephemeral() or port_lease._first_ephemeral() < 21_000
        for port in ports:
            with socket.socket() as server:
                server.bind(("127.0.0.1", port))
    finally:
        for lease in leases:
            lease.release()


def _lease_and_tell(pipe: Connection) -> None:
    leases = [lease_port() for _ in range(10)]
    pipe.send([lease.port for lease in leases])
    pipe.recv()


def test_processes_that_lease_at_once_get_different_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    context = multiprocessing.get_context("spawn")
    pairs = [context.Pipe() for _ in range(3)]
    workers = [context.Process(target=_lease_and_tell, args=(there,)) for _, there in pairs]
    for worker in workers:
        worker.start()
    ports = [port for here, _ in pairs for port in here.recv()]
    for here, _ in pairs:
        here.send("done")
    for worker in workers:
        worker.join(20)
    assert len(set(ports)) == 30


def test_the_lease_of_a_process_that_was_killed_is_free_again() -> None:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    worker = context.Process(target=_lease_and_tell, args=(there,))
    worker.start()
    (port, *_) = here.recv()
    worker.kill()
    worker.join(20)
    lease = lease_port(port)
    assert lease.port == port
    lease.release()


def test_a_port_that_somebody_listens_on_is_not_leased(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        taken = server.getsockname()[1]

        def always(*_: object) -> int:
            return taken

        monkeypatch.setattr(port_lease.random.SystemRandom, "randrange", always)
        with pytest.raises(RepertoryError, match="no free port"):
            lease_port()


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(port_lease.tempfile, "gettempdir", lambda: str(tmp_path))
    other = tmp_path / "elsewhere"
    other.mkdir()
    (tmp_path / f"repertory-ports-{port_lease.os.getuid()}").symlink_to(other)
    with pytest.raises(RepertoryError, match="belongs to somebody else"):
        lease_port()
