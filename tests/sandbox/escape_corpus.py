"""Programs that try to get out of the sandbox, to harm the host, or to fool whoever reads the result.

Each has `attempt(host)`, which gets what there is to reach: a file with a secret, a port and a socket on which somebody
listens, a process. It returns what it got hold of. What that may be is in `Attack.gets`; the rest is checked for all:
the secret is not in it, the file is as it was, nobody was called, the process lives, nothing is left running.
"""

from dataclasses import dataclass
from textwrap import dedent
from typing import Any

NOTHING = object()
"""It must not return at all: it is refused (an exception) or stopped."""


@dataclass(frozen=True)
class Attack:
    """One program.

    Attributes:
        name: What it tries.
        source: The module.
        gets: What it returns when it is kept in; `NOTHING` when it must fail.
        ends: The ways in which it may end.
    """

    name: str
    source: str
    gets: Any = NOTHING
    ends: tuple[str, ...] = ("raised",)


_HEAD = """
import ctypes, os, socket, sys, threading, time
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)

def attempt(host):
"""


def _attack(name: str, body: str, gets: Any = NOTHING, ends: str = "raised") -> Attack:
    lines = dedent(body).strip("\n").splitlines()
    return Attack(name, _HEAD + "\n".join(f"    {line}" for line in lines) + "\n", gets, tuple(ends.split()))


READING = [
    _attack("read a file of the host", "return Path(host['file']).read_text()"),
    _attack("read the password file", "return Path('/etc/passwd').read_text()"),
    _attack("read keys", "return [Path(p).expanduser().read_text() for p in ('~/.ssh/id_rsa', '/root/.ssh/id_rsa')]"),
    _attack("list the home folders", "return [os.listdir(p) for p in ('/root', '/home')]"),
    _attack("climb with dots", "return Path('/package/' + '../' * 40 + host['file'].lstrip('/')).read_text()"),
    _attack("follow a link that it makes", """
        os.symlink(host['file'], '/tmp/link')
        return Path('/tmp/link').read_text()
        """),
    _attack("follow a link over a descriptor", """
        os.symlink('/', '/tmp/root')
        folder = os.open('/tmp/root', os.O_RDONLY | os.O_DIRECTORY)
        return os.read(os.open(host['file'].lstrip('/'), os.O_RDONLY, dir_fd=folder), 100).decode()
        """),
    _attack("leave by a folder that it holds", """
        folder = os.open('/package', os.O_RDONLY)
        os.fchdir(folder)
        os.chdir('../../../../../../../..')
        return Path(host['file'].lstrip('/')).read_text()
        """),
    _attack("see the environment", "return dict(os.environ)", gets={}, ends="returned"),
    _attack("see the environment that the process was started with", """
        environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, 'environ')
        return [] if not environ else [environ[0] and environ[0].decode()]
        """, gets=[None], ends="returned"),
    _attack("read the process table", "return [p for p in os.listdir('/proc')]"),
    _attack("read memory by its file", "return os.open('/proc/self/mem', os.O_RDONLY)"),
    _attack("reach the root by another process", "return os.listdir('/proc/1/root')"),
    _attack("read the kernel's log", "return 1 / (1 + libc.klogctl(3, ctypes.create_string_buffer(99), 99))"),
    _attack("find descriptors of the host", """
        found = []
        for fd in range(3, 4096):
            try:
                os.fstat(fd); found.append(fd)
            except OSError:
                pass
        return found
        """, gets=[3, 4], ends="returned"),
    _attack("read what is under a device", "return [os.open(f'/dev/{n}', 0) for n in ('vda', 'mem', 'kmsg')][0]"),
    _attack("make a device", "os.mknod('/tmp/disk', 0o60666, os.makedev(8, 0))"),
    _attack("open a file by its handle", """
        handle = ctypes.create_string_buffer(b'\\x08\\0\\0\\0\\1\\0\\0\\0\\2\\0\\0\\0\\0\\0\\0\\0', 64)
        if libc.open_by_handle_at(os.open('/package', 0), handle, 0) < 0: raise OSError(ctypes.get_errno())
        """),
]  # fmt: skip

WRITING = [
    _attack("write into a file of the host", "Path(host['file']).write_text('changed')"),
    _attack("delete a file of the host", "os.unlink(host['file'])"),
    _attack("write its own package", "Path('/package/attack.py').write_text('changed')"),
    _attack("add to its package", "Path('/package/sitecustomize.py').write_text('')"),
    _attack("move its package away", "os.rename('/package', '/tmp/package')"),
    _attack("open up its package", "os.chmod('/package', 0o777); Path('/package/new').write_text('')"),
    _attack("write the runtime", "Path(os.__file__).write_text('')"),
    _attack("write the sandbox's own code", "Path('/inside/repertory/sandbox/inside/main.py').write_text('')"),
    _attack("write into the root", "Path('/new').write_text('')"),
    _attack(
        "write through a link",
        """
        os.link('/inside/repertory/sandbox/inside/main.py', '/tmp/own')
        """,
    ),
    _attack(
        "leave a program with another's rights",
        """
        fd = os.open('/tmp/program', os.O_CREAT | os.O_WRONLY, 0o4755)
        """,
    ),
    _attack(
        "give a program another's rights",
        """
        Path('/tmp/program').write_text('')
        os.chmod('/tmp/program', 0o2755)
        """,
    ),
    _attack("set the clock", "return time.clock_settime(time.CLOCK_REALTIME, 0)"),
    _attack("rename the host", "socket.sethostname('gotcha')"),
]

PROCESSES = [
    _attack("start a program", "import subprocess; return subprocess.check_output(['/bin/sh', '-c', 'id'])"),
    _attack("start the interpreter again", "os.execv('/python/bin/python3.11', ['python', '-c', ''])"),
    _attack("start a shell", "return os.system('id')", gets=127 << 8, ends="returned"),
    _attack("fork bomb", "while True: os.fork()"),
    _attack("fork bomb that does not mind refusals", """
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """, ends="cpu_limit wall_limit"),
    _attack("fork bomb by bare calls", """
        for flags in (17, 0x11, 0x4111, 0x900):
            for number in (56, 57, 58, 220, 435):
                if libc.syscall(number, flags, 0, 0, 0, 0) > 0: return 'forked'
        raise PermissionError
        """),
    _attack("use another calling convention", """
        import mmap
        # mov eax, 2; int 0x80; ret: fork, by the 32-bit table
        code = b'\\xb8\\x02\\x00\\x00\\x00\\xcd\\x80\\xc3'
        page = mmap.mmap(-1, 4096, prot=7)
        page.write(code)
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
        """, ends="crashed raised"),
    _attack("thread bomb", """
        threading.stack_size(32768)
        while True: threading.Thread(target=time.sleep, args=(60,)).start()
        """),
    _attack("leave a process behind", """
        if os.fork() == 0:
            os.setsid()
            time.sleep(300)
        """),
    _attack("leave a thread behind", """
        threading.Thread(target=time.sleep, args=(300,)).start()
        return 'done'
        """, gets="done", ends="returned"),
    _attack("leave a thread that answers later", """
        def later():
            time.sleep(1)
            os.write(3, b'R\\0\\0\\0\\x0e{"value": "x"}')
        threading.Thread(target=later).start()
        return 'done'
        """, gets="done", ends="returned"),
    _attack("run at exit", """
        import atexit
        atexit.register(lambda: time.sleep(300))
        return 'done'
        """, gets="done", ends="returned"),
    _attack("signal the sandbox's own process", "os.kill(os.getppid(), 9)"),
    _attack("stop the sandbox's own process", "os.kill(os.getppid(), 19)"),
    _attack("signal the first process", "os.kill(1, 9)"),
    _attack("signal everybody", "os.kill(-1, 9)"),
    _attack("signal its group", "os.killpg(0, 9)"),
    _attack("signal a process of the host", "os.kill(host['pid'], 9)"),
    _attack("let the kernel signal the parent", """
        import fcntl
        fcntl.fcntl(3, 8, os.getppid())
        """),
    _attack("ignore all signals and go on", """
        import signal
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True: pass
        """, ends="cpu_limit wall_limit"),
    _attack("kill itself", "os.kill(os.getpid(), 9)", ends="crashed"),
    _attack("crash", "ctypes.string_at(0)", ends="crashed"),
    _attack("trace the parent", "return libc.ptrace(16, os.getppid(), 0, 0) == 0", gets=False, ends="returned"),
    _attack("read the parent's memory", """
        vector = (ctypes.c_size_t * 2)(ctypes.addressof(ctypes.create_string_buffer(8)), 8)
        return libc.process_vm_readv(os.getppid(), vector, 1, vector, 1, 0)
        """, gets=-1, ends="returned"),
    _attack("lower its niceness", "return os.nice(-10)"),
    _attack("take every core for itself", "os.sched_setaffinity(0, {0})"),
]  # fmt: skip

KERNEL = [
    _attack("make a user namespace", "return libc.unshare(0x10000000)", gets=-1, ends="returned"),
    _attack(
        "make a user namespace by clone",
        """
        return libc.syscall(56 if os.uname().machine == 'x86_64' else 220, 0x10000011, 0, 0, 0, 0)
        """,
        gets=-1,
        ends="returned",
    ),
    _attack(
        "make a user namespace by clone3",
        """
        arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
        return libc.syscall(435, arguments, 88)
        """,
        gets=-1,
        ends="returned",
    ),
    _attack("enter another namespace", "return libc.setns(3, 0)", gets=-1, ends="returned"),
    _attack("mount", "return libc.mount(b'none', b'/tmp', b'proc', 0, None)", gets=-1, ends="returned"),
    _attack("become root", "os.setresuid(0, 0, 0)"),
    _attack(
        "take back capabilities",
        """
        header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
        return libc.capset(header, data)
        """,
        gets=-1,
        ends="returned",
    ),
    _attack("use io_uring", "return libc.syscall(425, 8, ctypes.create_string_buffer(120))", gets=-1, ends="returned"),
    _attack(
        "load a BPF program",
        """
        return libc.syscall(321 if os.uname().machine == 'x86_64' else 280, 0, ctypes.create_string_buffer(99), 99)
        """,
        gets=-1,
        ends="returned",
    ),
    _attack(
        "handle page faults itself",
        """
        return libc.syscall(323 if os.uname().machine == 'x86_64' else 282, 1)
        """,
        gets=-1,
        ends="returned",
    ),
    _attack(
        "look into the keyring",
        """
        return libc.syscall(250 if os.uname().machine == 'x86_64' else 219, 0, -3, 1)
        """,
        gets=-1,
        ends="returned",
    ),
    _attack(
        "type into the terminal",
        """
        import fcntl
        for fd in (0, 1, 2): fcntl.ioctl(fd, 0x5412, b'x')
        """,
    ),
    _attack("loosen the filter", "return libc.prctl(22, 0, 0, 0, 0)", gets=-1, ends="returned"),
    _attack("make itself dumpable", "return libc.prctl(4, 1, 0, 0, 0)", gets=-1, ends="returned"),
    _attack(
        "run a program from memory",
        """
        fd = libc.memfd_create(b'x', 0)
        if fd < 0: raise PermissionError
        """,
    ),
    _attack(
        "lift its limits",
        """
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        """,
    ),
]

NETWORK = [
    _attack("call the host over loopback", "socket.create_connection(('127.0.0.1', host['port']), 2)"),
    _attack("call out", "socket.create_connection(('192.0.2.1', 80), 2)"),
    _attack("resolve a name", "return socket.getaddrinfo('localhost', 80)"),
    _attack(
        "ask a name server",
        """
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.sendto(b'x', ('192.0.2.1', 53))
        """,
    ),
    _attack("listen", "socket.create_server(('127.0.0.1', 0))"),
    _attack("open a web page", "import urllib.request; return urllib.request.urlopen('http://127.0.0.1', timeout=2)"),
    _attack("call a socket file", "s = socket.socket(socket.AF_UNIX); s.connect(host['socket'])"),
    _attack("call an abstract socket", "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + host['abstract'])"),
    _attack("use netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    _attack("use raw packets", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    _attack(
        "use a pair of sockets to reach others",
        """
        a, b = socket.socketpair()
        a.connect(host['socket'])
        """,
    ),
]

SIZE = [
    _attack("take all memory", "x = []\nwhile True: x.append(bytearray(10_000_000))", ends="memory_limit"),
    _attack("take all memory at once", "return len(bytearray(10 ** 12))", ends="memory_limit"),
    _attack("take memory outside of Python", """
        libc.malloc.restype = ctypes.c_void_p
        while libc.malloc(10_000_000): pass
        raise MemoryError
        """, ends="memory_limit"),
    _attack("a power that never ends", "return len(str(9 ** 9 ** 9 ** 9))", ends="cpu_limit wall_limit"),
    _attack("a pattern that never ends", """
        import re
        re.match('(a+)+$', 'a' * 60 + 'b')
        """, ends="cpu_limit wall_limit"),
    _attack("wait forever", "threading.Event().wait()", ends="wall_limit"),
    _attack("print forever", "while True: print('x' * 10_000)", ends="cpu_limit wall_limit"),
    _attack("write forever without the interpreter's files", "while True: os.write(1, b'x' * 65536)",
            ends="cpu_limit wall_limit"),
    _attack("a huge result", "return 'x' * 50_000_000", ends="result_limit"),
    _attack("a huge file", "Path('/tmp/big').write_bytes(bytes(500_000_000))", ends="raised crashed memory_limit"),
    _attack("a huge file with holes", "f = open('/tmp/big', 'wb'); f.truncate(10 ** 12)", ends="raised crashed"),
    _attack("many big files", """
        for n in range(1000): Path(f'/tmp/{n}').write_bytes(bytes(4_000_000))
        """),
    _attack("endless empty files", """
        n = 0
        while True:
            open(f'/tmp/{n}', 'w').close()
            n += 1
        """, ends="files_limit"),
    _attack("endlessly deep folders", """
        while True:
            os.mkdir('d'); os.chdir('d')
        """, ends="files_limit"),
    _attack("all descriptors", "return [os.dup(0) for _ in range(100_000)]"),
    _attack("endless recursion", "def f(): f()\nf()"),
    _attack("endless recursion without a limit", """
        sys.setrecursionlimit(10 ** 9)
        def f(x): return f([x])
        f(0)
        """, ends="crashed raised memory_limit wall_limit cpu_limit"),
]  # fmt: skip

RESULTS = [
    _attack("a result that is no JSON", "return object()", ends="not_json"),
    _attack("NaN", "return float('nan')", ends="not_json"),
    _attack("infinity", "return [float('inf')]", ends="not_json"),
    _attack("half a surrogate pair", "return '\\ud800'", ends="not_json"),
    _attack(
        "a deep result",
        """
        x = []
        for _ in range(100_000): x = [x]
        return x
        """,
        ends="not_json",
    ),
    _attack("a result that contains itself", "x = []; x.append(x); return x", ends="not_json"),
    _attack(
        "a result somewhat too deep",
        """
        x = 1
        for _ in range(200): x = [x]
        return x
        """,
        ends="not_json",
    ),
    _attack("a number with a million digits", "return 10 ** 1_000_000", ends="not_json"),
    _attack(
        "an object that pickles into a command",
        """
        class Bomb:
            def __reduce__(self): return (os.system, ('id',))
        return Bomb()
        """,
        ends="not_json",
    ),
    _attack(
        "bytes of a pickle as the answer",
        """
        import pickle
        body = pickle.dumps({'value': 1})
        os.write(3, b'R' + len(body).to_bytes(4, 'big') + body)
        """,
        ends="not_json",
    ),
    _attack("forge NaN", "os.write(3, b'R\\0\\0\\0\\x0e{\"value\": NaN}'); time.sleep(60)", ends="not_json"),
    _attack("forge an infinity", "os.write(3, b'R\\0\\0\\0\\x10{\"value\": 1e999}'); time.sleep(60)", ends="not_json"),
    _attack(
        "forge two answers",
        """
        one = b'R\\0\\0\\0\\x0c{"value": 1}'
        os.write(3, one + one.replace(b'1}', b'2}'))
        time.sleep(60)
        """,
        gets=1,
        ends="returned",
    ),
    _attack("forge an end of the call", "os.write(3, b'E\\0\\0\\0\\x02{}'); time.sleep(60)", ends="crashed"),
    _attack(
        "forge a message without an end", "os.write(3, b'R\\xff\\xff\\xff\\xff'); time.sleep(60)", ends="result_limit"
    ),
    _attack("write half a message", "os.write(3, b'R\\0\\0'); os._exit(0)", ends="crashed"),
    _attack("write no message", "os.write(3, b'\\0' * 100_000)", ends="crashed"),
    _attack("close the channel and go on", "os.close(3)\nwhile True: pass", ends="crashed"),
    _attack("an answer of another shape", "os.write(3, b'R\\0\\0\\0\\x02[]'); time.sleep(60)", ends="crashed"),
    _attack("a forged success of the process", "os._exit(0)", ends="crashed"),
    _attack("ask for a function that is not there", "import repertory_host; repertory_host.call('system', 'id')"),
    _attack("ask for an attribute of a function", "import repertory_host; repertory_host.call('double.__globals__')"),
    _attack("ask the host with wrong arguments", "import repertory_host; repertory_host.call('double', 1, 2, 3)"),
    _attack(
        "ask the host with a forged question",
        """
        os.write(3, b'C\\0\\0\\0\\x0a{"name":1}')
        return 1
        """,
        gets=1,
        ends="returned crashed",
    ),
    _attack(
        "ask and not listen",
        """
        import repertory_host
        body = b'{"name": "double", "args": ["' + b'x' * 40_000 + b'"], "kwargs": {}}'
        for _ in range(1000): os.write(3, b'C' + len(body).to_bytes(4, 'big') + body)
        """,
        ends="wall_limit",
    ),
    _attack(
        "an error whose text fails",
        """
        class E(Exception):
            def __str__(self): raise SystemExit
        raise E
        """,
    ),
    _attack("an error with a huge text", "raise ValueError('x' * 50_000_000)"),
    _attack(
        "an error that pretends",
        """
        class MemoryError(Exception): pass
        raise MemoryError('no memory')
        """,
        ends="memory_limit",
    ),
    _attack("leave by SystemExit", "sys.exit(0)"),
    _attack("leave by KeyboardInterrupt", "raise KeyboardInterrupt"),
]

PYTHON = [
    _attack("walk from an object to a module", """
        for kind in ().__class__.__base__.__subclasses__():
            function = getattr(kind, '__init__', None)
            for name, module in getattr(function, '__globals__', {}).items():
                if getattr(module, '__name__', '') == 'os':
                    return module.popen('cat ' + host['file']).read()
        raise LookupError
        """, gets="", ends="raised returned"),
    _attack("find the caller's frames", """
        frame, names = sys._getframe(), []
        while frame:
            names.append(frame.f_code.co_name); frame = frame.f_back
        return any('secret' in name for name in names)
        """, gets=False, ends="returned"),
    _attack("change the code that answers for it", """
        import repertory.sandbox.inside.call as call
        call.json.dumps = lambda *a, **k: '{"value": "forged"}'
        return 1
        """, gets="forged", ends="returned"),
    _attack("replace the end", """
        os._exit = lambda code: None
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass
        """, ends="wall_limit"),
    _attack("import what is installed on the host", "import pydantic, sqlalchemy"),
    _attack("install a package", "import ensurepip; ensurepip.bootstrap(root='/tmp')",
            ends="raised memory_limit files_limit wall_limit cpu_limit"),
    _attack("load a library of its own", """
        Path('/tmp/own.so').write_bytes(b'\\x7fELF')
        ctypes.CDLL('/tmp/own.so')
        """),
    _attack("collect everything there is in memory", """
        import gc
        return host['secret_marker'] in str([o for o in gc.get_objects() if isinstance(o, (str, bytes))])
        """, gets=False, ends="returned"),
]  # fmt: skip

CORPUS = [*READING, *WRITING, *PROCESSES, *KERNEL, *NETWORK, *SIZE, *RESULTS, *PYTHON]
