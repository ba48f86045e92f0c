"""The prefixes that one engine has computed, kept on disk for the sessions that come back.

What a slot holds is lost as soon as another session uses it. The state that the fan-out copies from slot to slot is a
file anyway, so it is kept instead of overwritten, and restored when the same person's session goes on.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from repertory.storage.prefix_states import KeptPrefix, PrefixStates

__all__ = ("FoundPrefix", "KeptPrefixes")

_CLOSE_S = 30.0


@dataclass(frozen=True)
class FoundPrefix:
    """What is on disk for a prompt that is about to be computed.

    Attributes:
        owner: Whose prompt.
        prefix: The rendered prompt's beginning, in bytes.
        erasures: The folder's count of erasures when the prompt was made.
        kept: The longest state of that person that the prompt begins with.
    """

    owner: str
    prefix: bytes
    erasures: int
    kept: KeptPrefix | None


@dataclass(frozen=True)
class _Aside:
    part: Path
    found: FoundPrefix
    tokens: int


class KeptPrefixes:
    """Finds and keeps the states of one engine.

    Args:
        states: The folder of kept states.
        engine: Digest of what a state depends on: engine build, checkpoint and type of the KV cache.
        slot_folder: Where the engine writes and reads states; ours alone.
    """

    def __init__(self, states: PrefixStates, *, engine: str, slot_folder: Path) -> None:
        self._states = states
        self._engine = engine
        self._slot_folder = slot_folder
        self._asides: dict[str, _Aside] = {}
        self._at_work: set[asyncio.Task[bool]] = set()

    @asynccontextmanager
    async def looking_up(self, owner: str, prefix: str) -> AsyncGenerator[FoundPrefix]:
        """Look up a prompt's beginning; what is found is not evicted inside the block."""
        text = prefix.encode("utf-8", "surrogatepass")

        def look_up() -> FoundPrefix:
            erasures = self._states.erasures()
            return FoundPrefix(owner, text, erasures, self._states.find(engine=self._engine, owner=owner, prefix=text))

        found = await anyio.to_thread.run_sync(look_up)
        if found.kept is None:
            yield found
            return
        with self._states.holding(found.kept):
            yield found

    async def lay_out(self, kept: KeptPrefix) -> str | None:
        """Put a state into the engine's folder; its file name there, or None when it was not whole."""
        name = f"repertory-kept-{secrets.token_hex(8)}.bin"
        target = self._slot_folder / name
        return name if await anyio.to_thread.run_sync(self._states.hand_out, kept, target) else None

    def take_back(self, name: str) -> None:
        """Remove what `lay_out` made."""
        with contextlib.suppress(OSError):
            (self._slot_folder / name).unlink(missing_ok=True)

    async def drop(self, kept: KeptPrefix) -> None:
        """Forget a state that the engine could not use."""
        await anyio.to_thread.run_sync(self._states.drop, kept)

    def set_aside(self, name: str, found: FoundPrefix, *, tokens: int, written: int | None) -> bool:
        """Take the state that the engine has just written out of its way, under its name; `keep` decides later.

        Args:
            name: The file's name in the engine's folder.
            found: What was looked up for this prompt.
            tokens: How many tokens the state holds.
            written: How many bytes the engine says it wrote.

        Returns:
            Whether it was set aside.
        """
        path = self._slot_folder / name
        with contextlib.suppress(OSError):
            if written is None or path.stat().st_size == written:
                part = self._states.set_aside(path)
                if part is not None:
                    earlier = self._asides.get(name)  # names come again: so many turns at once are too many to keep
                    if earlier is not None:
                        self._states.throw_away(earlier.part)
                    self._asides[name] = _Aside(part, found, tokens)
                    return True
        return False

    def keep(self, name: str) -> None:
        """Keep what was set aside under a name, beside whatever else goes on; harmless when there is nothing."""
        aside = self._asides.pop(name, None)
        if aside is not None:
            task = asyncio.create_task(asyncio.to_thread(self._take_in, aside), name="keep a computed prefix")
            self._at_work.add(task)
            task.add_done_callback(self._at_work.discard)

    async def settle(self) -> None:
        """Wait until all that is being kept is on disk, and throw away what was only set aside."""
        for aside in self._asides.values():
            self._states.throw_away(aside.part)
        self._asides.clear()
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=_CLOSE_S)

    def _take_in(self, aside: _Aside) -> bool:
        found = aside.found
        return self._states.take_in(
            aside.part,
            engine=self._engine,
            owner=found.owner,
            prefix=found.prefix,
            tokens=aside.tokens,
            erasures=found.erasures,
        )
