"""Safety before everything: the detector of danger, the fixed crisis protocol, and the duty to say that it is an AI."""

from repertory.teams.coaching.safety.detector import Signal, signal_of
from repertory.teams.coaching.safety.protocol import answer, judge, notice_for

__all__ = ("Signal", "answer", "judge", "notice_for", "signal_of")
