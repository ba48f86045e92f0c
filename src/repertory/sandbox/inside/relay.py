"""The way out of a program's sandbox: one port inside, one socket of ours outside, nothing else.

Run as a file, with the standard library alone, in one of two ways:

    relay.py serve PORT SOCKET -- PROGRAM ARGUMENT...   hand connections to PORT on to SOCKET while PROGRAM runs
    relay.py join SOCKET                                join standard input and output to SOCKET
"""

import contextlib
import os
import resource
import socket
import subprocess
import sys
import threading

__all__ = ()

_OWN = ("LD_LIBRARY_PATH", "PYTHONHOME")
"""Set for this interpreter, and not for the program."""
_PIECE = 65536


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(_PIECE):
            sink.sendall(piece)
    for end in (sink, source):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_WR if end is sink else socket.SHUT_RD)


def _hand_on(inner: socket.socket, path: str) -> None:
    with inner, socket.socket(socket.AF_UNIX) as outer:
        try:
            outer.connect(path)
        except OSError:
            return
        back = threading.Thread(target=_pump, args=(outer, inner), daemon=True)
        back.start()
        _pump(inner, outer)
        back.join()


def _accept(listening: socket.socket, path: str) -> None:
    while True:
        inner, _ = listening.accept()
        threading.Thread(target=_hand_on, args=(inner, path), daemon=True).start()


def _serve(port: int, path: str, command: list[str]) -> int:
    listening = socket.create_server(("127.0.0.1", port), backlog=64)
    threading.Thread(target=_accept, args=(listening, path), daemon=True).start()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in _OWN}
    try:
        program = subprocess.Popen(command, env=environment)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return 127
    code = program.wait()
    return 128 - code if code < 0 else code


def _join(path: str) -> int:
    with socket.socket(socket.AF_UNIX) as outer:
        outer.connect(path)

        def take() -> None:
            with contextlib.suppress(OSError):
                while piece := outer.recv(_PIECE):
                    os.write(1, piece)
            os._exit(0)

        threading.Thread(target=take, daemon=True).start()
        while piece := os.read(0, _PIECE):
            outer.sendall(piece)
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        sys.exit(_serve(int(sys.argv[2]), sys.argv[3], sys.argv[5:]))
    sys.exit(_join(sys.argv[2]))
