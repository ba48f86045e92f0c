"""What the scripted engine answers in the browser tests of building: an agent that counts letters, and its talk."""

import json
import re
from typing import Any

from repertory.testing import ScriptedEngine
from repertory.testing.obliging import obliging
from repertory.testing.scripted_engine import Reply
from repertory.testing.scripted_request import ScriptedRequest

__all__ = ("CONTRACT", "REQUEST", "SAID", "building_engine")

REQUEST = "Count the letters of a word, and nothing else."
CONTRACT = "tool: count_letters(word: string) -> int"
SAID = "That word has seven letters, **if** you spell it so."
"""What a talking agent says."""

_CODE = "```python\ndef count_letters(word):\n    return sum(letter.isalpha() for letter in word)\n```"
_TESTS = """\
```python
assert count_letters("seven") == 5
assert count_letters("") == 0
assert count_letters("a b") == 2
```
"""
_ANSWERS: dict[str, str | dict[str, Any]] = {
    "requirements_analyst": {
        "summary": "Counts the letters of a word.",
        "criteria": ["seven has 5"],
        "edge_cases": ["an empty word"],
        "assumptions": ["digits are no letters"],
    },
    "researcher": {"modules": []},
    "architect": {"steps": ["Look at each character."], "difficulty": "trivial", "keeps_state": False},
    "prompt_engineer": {
        "description": "Counts letters.",
        "tools": [{"name": "count_letters", "description": "how many letters a word has"}],
    },
    "builder": _CODE,
    "tester": _TESTS,
    "critic": {"wrong": []},
    "security_auditor": {"concerns": []},
    "orchestrator": {"why": "", "decision": "stop"},
}
_ROLE = re.compile(r"^# Your role: (\w+)$", re.MULTILINE)


def building_engine() -> ScriptedEngine:
    """An engine on which the engineering team builds an agent at its first try."""
    return ScriptedEngine(_answer, token_delay_s=0.005, model="scripted")


def _answer(request: ScriptedRequest) -> Reply:
    role = _ROLE.findall(request.text)
    answer = _ANSWERS.get(role[-1]) if role else None
    if answer is None:
        return obliging(SAID)(request)
    return answer if isinstance(answer, str) or request.json_schema is not None else json.dumps(answer)
