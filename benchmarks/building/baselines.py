"""What a build is measured against: the same model, the same request and contract, no team."""

import time
from dataclasses import dataclass

from repertory.engines.protocol import ChatMessage, Engine, GenerateRequest
from repertory.runtime.structured import text_call
from repertory.teams.engineering.code_text import check_code, read_code
from repertory.teams.engineering.contract_text import read_contract

__all__ = ("Answer", "one_prompt")

_PROMPT = """\
{request}

Contract: {contract}

Write one Python file with exactly these functions, standard library only. Answer with one Python code block."""


@dataclass(frozen=True)
class Answer:
    """Code that one prompt gave: the first of the drafts that has the functions."""

    source: str
    tokens: int
    seconds: float


async def one_prompt(engine: Engine, request: str, contract: str, *, drafts: int) -> Answer:
    """Ask once, or several times and take the first draft that parses and has the contract's functions."""
    began = time.monotonic()
    chosen, tokens = "", 0
    for number in range(drafts):
        sent = GenerateRequest(
            messages=[ChatMessage("user", _PROMPT.format(request=request, contract=contract))],
            max_output_tokens=900,
            temperature=0.0 if drafts == 1 else 0.7,
            seed=number,
        )
        result = await text_call(engine, sent, may_retry=lambda: False, deadline=time.monotonic() + 600)
        tokens += sum(use.prefill + use.output for attempt in result.attempts if (use := attempt.usage))
        source = read_code(result.text or result.partial)
        chosen = chosen or source
        if not check_code(source, read_contract(contract)):
            chosen = source
            break
    return Answer(chosen, tokens, time.monotonic() - began)
