"""What a pull tells whoever watches it."""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ("Progress", "PullProgress", "Reporter", "silent")


@dataclass(frozen=True)
class PullProgress:
    """One report of a pull.

    Attributes:
        model: Name of the model.
        done_bytes: Bytes of the file that are here.
        total_bytes: Size of the file; 0 while it is not known.
        source: What is being done, in a few words, such as `from the package index`.
        message: A sentence for the screen, when there is something to say.
    """

    model: str
    done_bytes: int
    total_bytes: int
    source: str = ""
    message: str | None = None


Progress = Callable[[PullProgress], None]
"""Gets the reports of a pull, always from the thread that called it."""


def silent(_report: PullProgress) -> None:
    """A `Progress` that shows nothing."""


@dataclass
class Reporter:
    """Makes the reports of one pull."""

    model: str
    total_bytes: int
    progress: Progress
    source: str = ""
    done_bytes: int = 0

    def at(self, done_bytes: int) -> None:
        """Report bytes that are here."""
        self.done_bytes = done_bytes
        self.progress(PullProgress(self.model, done_bytes, self.total_bytes, self.source))

    def say(self, message: str) -> None:
        """Report a sentence."""
        self.progress(PullProgress(self.model, self.done_bytes, self.total_bytes, self.source, message))
