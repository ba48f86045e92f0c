"""Proves a profile against the live server and model: what does this engine really do?

Servers differ from their documentation, versions from each other, and models on one server too. The probe asks for
little (a few hundred tokens) and is bounded in time; what it can not settle stays as the profile says.
"""

from pydantic import BaseModel, ConfigDict

from repertory.engines.deadline import Deadline
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.probe_tries import ProbeCheck, ProbeTries
from repertory.engines.profile import EngineProfile

__all__ = ("ProbeCheck", "ProbeResult", "probe_engine")


class ProbeResult(BaseModel):
    """What was found, and the profile corrected by it. Made to be stored as JSON.

    `findings` has the settings of the profile that were proven, whether they differ from what it claimed or not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    context_tokens: int
    profile: EngineProfile
    findings: dict[str, bool | str]
    checks: tuple[ProbeCheck, ...]
    seconds: float
    prompt_tokens: int
    output_tokens: int


async def probe_engine(engine: OpenAIEngine, *, within_s: float = 120.0) -> ProbeResult:
    """Try what the profile claims, and return the profile as proven. The engine's own profile is not changed.

    Args:
        engine: A connected engine.
        within_s: Bound of the whole probe; what was not tried by then stays as the profile says.
    """
    deadline = Deadline(within_s)
    probe = ProbeTries(engine, deadline)
    await probe.run()
    return ProbeResult(
        model=engine.model,
        context_tokens=engine.context_tokens,
        profile=engine.profile.model_copy(update=probe.changes),
        findings=probe.changes,
        checks=tuple(probe.checks),
        seconds=deadline.elapsed_s,
        prompt_tokens=probe.prompt_tokens,
        output_tokens=probe.output_tokens,
    )
