"""How other processes talk to the supervisor: lines of JSON over a loopback connection.

The port and a token stand in the state file, which only its owner can read. A request to use an instance holds as long
as its connection: whoever asked and died gives the instance back without a word.
"""

import contextlib
import hmac
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from repertory.errors import EngineUnavailableError, RepertoryError, UsageError
from repertory.serving.instances.process_identity import is_process
from repertory.serving.instances.records import InstanceState, SupervisorRecord, WantedInstances
from repertory.serving.instances.supervisor import Supervisor

__all__ = ("ControlServer", "Order", "send_order", "use_instance")

_MAX_LINE = 16 * 1024 * 1024
_GREETING_S = 10.0
_ORDER_S = 120.0

Order = dict[str, object]


class ControlServer:
    """The supervisor's side.

    Args:
        supervisor: Who carries the orders out.
    """

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self.down = anyio.Event()

    async def serve(self, *, task_status: anyio.abc.TaskStatus[int] = anyio.TASK_STATUS_IGNORED) -> None:
        """Take connections; tells the port when it listens."""
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 - no Django
        task_status.started(port)
        await listener.serve(self._handle)

    async def _handle(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            try:
                buffered = BufferedByteReceiveStream(stream)
                with anyio.fail_after(_GREETING_S):
                    order = _object(await buffered.receive_until(b"\n", _MAX_LINE))
                token = order.get("token")
                if not isinstance(token, str) or not hmac.compare_digest(token, self._supervisor.token):
                    return  # a stranger learns nothing, not even what this is
                await self._carry_out(order, stream)
            except (anyio.IncompleteRead, anyio.EndOfStream, anyio.DelimiterNotFound, ValueError, TimeoutError):
                return
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return

    async def _carry_out(self, order: Order, stream: anyio.abc.SocketStream) -> None:
        try:
            match order.get("do"):
                case "apply":
                    await self._supervisor.apply(WantedInstances.model_validate(order.get("wanted")))
                    await _send(stream, {"ok": True})
                case "down":
                    await self._supervisor.stop_all()
                    await _send(stream, {"ok": True})
                    self.down.set()
                case "use":
                    await self._lend(str(order.get("instance")), stream)
                case "ping":
                    await _send(stream, {"ok": True})
                case _:
                    await _send(stream, {"error": "the order is not known", "kind": "usage"})
        except RepertoryError as error:
            kind = "usage" if isinstance(error, UsageError) else "unavailable"
            await _send(stream, {"error": error.message, "hint": error.hint, "kind": kind})

    async def _lend(self, name: str, stream: anyio.abc.SocketStream) -> None:
        """Lend an instance until the other side closes the connection, also while it still waits."""
        failure: RepertoryError | None = None
        async with anyio.create_task_group() as group:

            async def until_closed() -> None:
                with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await stream.receive(1)
                group.cancel_scope.cancel()

            group.start_soon(until_closed)
            try:
                async with self._supervisor.use(name) as state:
                    await _send(stream, {"ok": True, "state": state.model_dump(mode="json")})
                    await anyio.sleep_forever()
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # gone before it was told
            except RepertoryError as error:
                failure = error
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure


async def send_order(supervisor: SupervisorRecord, order: Order) -> Order:
    """Give an order and wait until it is carried out.

    Raises:
        EngineUnavailableError: The supervisor does not answer, or could not do it.
        UsageError: The order asks for something that does not exist.
    """
    with anyio.move_on_after(_ORDER_S):
        async with _connection(supervisor, order) as stream:
            return _answer(await BufferedByteReceiveStream(stream).receive_until(b"\n", _MAX_LINE))
    message = f"the supervisor (process {supervisor.pid}) did not carry out the order within {_ORDER_S:.0f} s"
    raise EngineUnavailableError(message)


@asynccontextmanager
async def use_instance(supervisor: SupervisorRecord, name: str) -> AsyncGenerator[InstanceState]:
    """Hold an instance awake inside the block; waits for its turn as long as that takes.

    Raises:
        EngineUnavailableError: The supervisor does not answer, or the instance can not serve.
        UsageError: There is no such instance.
    """
    async with _connection(supervisor, {"do": "use", "instance": name}) as stream:
        answer = _answer(await BufferedByteReceiveStream(stream).receive_until(b"\n", _MAX_LINE))
        yield InstanceState.model_validate(answer["state"])


@asynccontextmanager
async def _connection(supervisor: SupervisorRecord, order: Order) -> AsyncGenerator[anyio.abc.SocketStream]:
    if not is_process(supervisor.pid, supervisor.started):
        raise EngineUnavailableError("the supervisor does not run", hint="`repertory up` starts it again")
    try:
        stream = await anyio.connect_tcp("127.0.0.1", supervisor.port)
    except OSError as error:
        message = f"the supervisor (process {supervisor.pid}) does not answer: {error}"
        raise EngineUnavailableError(message, hint="`repertory up` starts another") from error
    async with stream:
        try:
            await _send(stream, order | {"token": supervisor.token})
            yield stream
        except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError) as error:
            raise EngineUnavailableError("the supervisor ended before it answered") from error


async def _send(stream: anyio.abc.ByteStream, document: Order) -> None:
    await stream.send(json.dumps(document).encode() + b"\n")


def _object(line: bytes) -> Order:
    value: object = json.loads(line)
    if not isinstance(value, dict):
        message = "not an object"
        raise ValueError(message)
    return {str(key): item for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - JSON


def _answer(line: bytes) -> Order:
    answer = _object(line)
    if "error" in answer:
        hint = answer.get("hint")
        kind = UsageError if answer.get("kind") == "usage" else EngineUnavailableError
        raise kind(str(answer["error"]), hint=hint if isinstance(hint, str) else None)
    return answer
