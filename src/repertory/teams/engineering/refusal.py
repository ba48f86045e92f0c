"""Requests that are not built: what would do harm whatever the code looks like.

Words alone decide here, before any model is asked, and only what is plainly meant.
What slips through still runs in a sandbox without network, files or secrets.
"""

import re

__all__ = ("refusal_of",)

_KINDS: dict[str, tuple[str, ...]] = {
    "malicious software": (
        r"ransomware|malware|spyware|rootkit|keylogg\w*|botnet|trojan|exploit kit|reverse shell|backdoor",
        r"(?:computer |self.replicating )(?:virus|worm)",
    ),
    "theft of accounts or identities": (
        r"phishing|credential (?:stuffing|harvest\w*)|skimm\w+ (?:card|credit)\w*",
        r"steal\w*\b.{0,40}\b(?:password|cookie|credential|identit|card|token)(?:s|y|ies)?",
        r"crack\w*\b.{0,30}\bpasswords?",
        r"bypass\w*\b.{0,30}\b(?:2fa|two.factor|login|paywall|captcha)s?",
    ),
    "attacks on computers of others": (
        r"ddos|denial.of.service|sql injection (?:attack|tool)|hack (?:into|someone|my)",
        r"brute.?forc\w+\b.{0,40}\b(?:login|password|ssh|account)s?",
    ),
    "deception of people at scale": (
        r"fake (?:reviews|invoices|news articles|ids?|passports)|(?:fake|bot) (?:followers|accounts) in bulk",
        r"mass.?spam\w*|spam (?:bot|email)s?|astroturf\w*",
    ),
    "watching people without their knowledge": (
        r"(?:track|spy on|monitor|follow|stalk)\w*\b.{0,40}\bwithout \w+ (?:knowing|knowledge|consent)",
        r"my (?:ex|wife|husband|girlfriend|boyfriend)\b.{0,30}\b(?:location|phone|messages)",
    ),
    "weapons or drugs": (
        r"(?:build|make|synthesi[sz]e|produce)\w*\b.{0,40}\b(?:bomb|explosive|nerve agent|bioweapon|chemical weapon)s?",
        r"(?:make|synthesi[sz]e|produce)\w*\b.{0,40}\b(?:methamphetamine|fentanyl)",
    ),
    "harm to children": (r"(?:child|minor|underage)\w*\b.{0,30}\b(?:porn\w*|sexual\w*|grooming)",),
}
_DEFENCE = re.compile(
    r"\b(?:detect|block|filter|prevent|protect|defend|flag|classif|teach|train|explain|quiz|report|warn|against)",
    re.IGNORECASE,
)
_PATTERNS = {
    kind: re.compile("|".join(rf"\b(?:{pattern})\b" for pattern in patterns), re.IGNORECASE | re.DOTALL)
    for kind, patterns in _KINDS.items()
}


def refusal_of(request: str) -> str | None:
    """Why a request is refused, in words for the person; None when nothing speaks against it.

    A sentence that is about finding or stopping the thing is no request for it.
    """
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", request):
        for kind, pattern in _PATTERNS.items():
            if pattern.search(sentence) and not _DEFENCE.search(sentence):
                return f"this asks for {kind}, which this team does not build"
    return None
