"""Test doubles for your own tests: an engine that answers from a script, byte for byte."""

from repertory.testing.asking import ask, ask_parts
from repertory.testing.dialects import Answer, sse
from repertory.testing.faults import (
    Broken,
    broken_json,
    chaotic,
    cut,
    failing,
    in_band_error,
    looping,
    silent,
    stalled,
    without_end,
)
from repertory.testing.script import Cut, Hang, Pause, Script, Send, Step
from repertory.testing.scripted_engine import Reply, ScriptedEngine, in_order
from repertory.testing.scripted_request import ScriptedRequest

__all__ = (
    "Answer",
    "Broken",
    "Cut",
    "Hang",
    "Pause",
    "Reply",
    "Script",
    "ScriptedEngine",
    "ScriptedRequest",
    "Send",
    "Step",
    "ask",
    "ask_parts",
    "broken_json",
    "chaotic",
    "cut",
    "failing",
    "in_band_error",
    "in_order",
    "looping",
    "silent",
    "sse",
    "stalled",
    "without_end",
)
