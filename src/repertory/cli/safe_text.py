"""Text that somebody else wrote, made safe to print on a terminal."""

import re

__all__ = ("printable",)

# Control characters (ESC begins terminal commands; C1 holds one-character forms of them), lone surrogates, and the
# controls that change the direction of all text after them. Tab and line feed stay; letters of right-to-left scripts
# need no controls.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029]")


def printable(text: str, *, one_line: bool = False) -> str:
    """Take out what a terminal would act on instead of showing it.

    Args:
        text: Any text.
        one_line: Also fold line ends, tabs and runs of blanks into single blanks.
    """
    clean = _UNSAFE.sub("", _LINE_ENDS.sub("\n", text))
    return " ".join(clean.split()) if one_line else clean
