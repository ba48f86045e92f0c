"""Agents run by programs: what the engine is asked, what is written, and what a failure costs."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil
import pytest
from tests.runtime.harness.place import fake, opened, team_of

from repertory.engines.profile import EngineKind
from repertory.runtime.events import AgentDelta, AgentFinished, AgentFirstToken, SectionWritten
from repertory.runtime.harness.native import NativeHarness
from repertory.runtime.harness.settings import HarnessSettings
from repertory.testing import Hang, Pause, Reply, Script, ScriptedEngine, ScriptedRequest

ANSWERS = {"reader": '{"mood": "glad"}', "speaker": "Good day to you.", "clerk": "A memo."}


def by_role(request: ScriptedRequest) -> Reply:
    return next(answer for name, answer in ANSWERS.items() if f"# Your role: {name}" in request.text)


def scripted(**options: object) -> ScriptedEngine:
    return ScriptedEngine(by_role, **options)  # pyright: ignore[reportArgumentType] - as given


@pytest.mark.parametrize("kind", [EngineKind.LLAMACPP, EngineKind.VLLM, EngineKind.OPENAI])
async def test_the_engine_is_asked_what_our_own_harness_would_ask(kind: EngineKind) -> None:
    async with opened(scripted(kind=kind)) as place:
        native = await place.run(team_of(HarnessSettings()), user="ada")
        program = await place.run(team_of(fake("answer")), user="bob")
    own, its = place.asked_by_reader
    assert program.status == native.status == "complete"
    assert program.sections["mood"].value == {"mood": "glad"}
    assert its["messages"] == own["messages"]
    assert its["response_format"] == own["response_format"]
    streaming = {"stream", "stream_options", "return_progress", "request_id"}
    assert {name: its[name] for name in its.keys() - streaming} == {name: own[name] for name in own.keys() - streaming}
    (call,) = place.calls
    assert (call.status, call.requests, call.shared_prefix, call.added_sent) == ("answered", 1, True, False)
    assert call.added_tokens > 10  # the program's own instructions, its date
    assert call.output_tokens > 0
    ended = [event for event in place.events if isinstance(event, AgentFinished) and event.agent == "reader"]
    assert ended[0].prompt_tokens == ended[1].prompt_tokens == call.prompt_tokens


async def test_the_words_of_a_program_stream_to_the_person() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(HarnessSettings(), other=fake("slowly")))
    assert result.reply == "One two three."
    pieces = [event.text for event in place.events if isinstance(event, AgentDelta) and event.agent == "speaker"]
    assert len(pieces) > 1
    assert "".join(pieces).strip() == "One two three."
    assert any(isinstance(event, AgentFirstToken) and event.agent == "speaker" for event in place.events)


async def test_a_program_that_works_with_tools_gets_them_and_its_own_words_stand_last() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(fake("tools", tools=True)))
    (asked,) = place.asked_by_reader
    assert result.status == "complete"
    assert asked["tools"][0]["function"]["name"] == "shell"
    assert "response_format" not in asked
    assert asked["messages"][0]["content"] == "You are a pair."
    last = asked["messages"][-1]["content"]
    assert last.startswith("<message ")
    assert last.index("# Your role: reader") < last.index("You are FakeAgent") < last.index("Today is 2026-12-01.")
    assert place.calls[0].added_sent
    assert place.calls[0].added_tokens > 100


async def test_an_answer_that_does_not_fit_the_schema_is_repaired_by_an_answer_that_must() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(fake("say", "I think the mood is fine.")))
    assert result.status == "partial"
    assert "reader" in (result.reason or "")
    assert [call.status for call in place.calls] == ["answered", "answered"]
    assert place.asked_by_reader == []  # this program asks nobody, and says the same again


async def test_a_crash_costs_the_section_and_says_why() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(fake("crash")))
    assert (result.status, result.reply) == ("partial", "Good day to you.")
    assert "exit code 3" in (result.reason or "")
    assert "the disk is on fire" in (result.reason or "")
    assert [call.status for call in place.calls] == ["failed", "failed"]


async def test_kill_9_of_a_program_in_the_middle_costs_its_section_only() -> None:
    async with opened(scripted()) as place:
        turn = asyncio.create_task(place.run(team_of(fake("hang"))))
        for _ in range(2):  # the first, and the one that is started in its place
            await _kill_when_there("fake_program.py", "hang")
        result = await turn
    assert (result.status, result.reply) == ("partial", "Good day to you.")
    assert result.sections["mood"].value is None
    assert result.sections["memo"].value == "A memo."
    assert "killed" in (result.reason or "") or "exit code 137" in (result.reason or "")


async def _kill_when_there(*words: str) -> None:
    for _ in range(1000):
        # Other tests run the same program at the same time.
        for process in _with(*words, among=psutil.Process().children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):  # or only its remains are left
                # The program itself, not the walls around it.
                if process.name().startswith("python") and "relay.py" not in " ".join(process.cmdline()):
                    process.kill()
                    process.wait(10)
                    return
        await asyncio.sleep(0.01)
    pytest.fail(f"no process {words} came up")


def _with(*words: str, among: Iterable[psutil.Process] | None = None) -> list[psutil.Process]:
    """Processes whose command has all words; of the whole machine, as orphans have another parent."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter() if among is None else among:
        try:
            if all(any(word in part for part in process.cmdline()) for word in words):
                found.append(process)
        except psutil.Error:
            continue
    return found


async def test_the_deadline_ends_all_that_a_program_started_and_frees_the_engine() -> None:
    marker = "613.7"

    def hanging(request: ScriptedRequest) -> Reply:
        return Script([Hang()]) if "# Your role: reader" in request.text else by_role(request)

    async with opened(ScriptedEngine(hanging, slots=2)) as place:
        result = await place.run(team_of(fake("children", marker), deadline_s=4.0))
        assert result.sections["mood"].value is None
        assert result.reply == "Good day to you."
        assert _with("sleep", marker) == []
        assert _with("fake_program.py", marker) == []
        assert await _comes(lambda: place.scripted.open_streams == 0)
    assert place.calls[0].status == "stopped"


async def test_cancelling_the_turn_ends_the_program_and_its_generation() -> None:
    marker = "614.7"

    def hanging(request: ScriptedRequest) -> Reply:
        return Script([Hang()]) if "# Your role: reader" in request.text else by_role(request)

    async with opened(ScriptedEngine(hanging)) as place:
        turn = asyncio.create_task(place.run(team_of(fake("children", marker))))
        assert await _comes(lambda: bool(place.asked_by_reader))
        began = time.monotonic()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert time.monotonic() - began < 60
        assert _with("sleep", marker) == []
        assert await _comes(lambda: place.scripted.open_streams == 0)


async def _comes(met: Callable[[], bool]) -> bool:
    """Whether a condition is met within a while."""
    for _ in range(1000):
        if met():
            return True
        await asyncio.sleep(0.01)
    return False


async def test_a_call_longer_than_its_settings_allow_is_ended() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(fake("hang", timeout_s=0.5)))
    assert result.status == "partial"
    assert "0.5 s" in (result.reason or "")


async def test_requests_are_counted_and_no_more_than_allowed() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(fake("many", "2", max_requests=3)))
        assert result.status == "complete"
        assert place.calls[0].requests == 3
        place.events.clear()
        refused = await place.run(team_of(fake("many", "3", max_requests=3)))
    assert refused.status == "partial"
    assert {call.requests for call in place.calls} == {3}
    ended = next(event for event in place.events if isinstance(event, AgentFinished) and event.agent == "reader")
    assert ended.status == "failed"


async def test_only_the_token_of_the_call_is_good() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(HarnessSettings(), other=fake("another token")))
    assert result.reply == "refused: 401"


async def test_an_answer_left_in_a_file_counts() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(fake("file", "answer.json", '{"mood": "odd"}')))
    assert result.sections["mood"].value == {"mood": "odd"}
    assert place.asked_by_reader == []


async def test_a_link_is_no_answer(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"mood": "secret"}')
    async with opened(scripted()) as place:
        result = await place.run(team_of(fake("link", str(secret))))
    assert result.sections["mood"].value is None


async def test_a_program_that_writes_without_end_is_stopped() -> None:
    async with opened(scripted()) as place:
        result = await place.run(team_of(HarnessSettings(), other=fake("flood")))
    assert result.status in {"failed", "partial"}
    assert _with("fake_program.py", "flood") == []


async def test_the_context_as_json_has_prompt_reads_and_schema() -> None:
    async with opened(scripted()) as place:
        await place.run(team_of(HarnessSettings()))
        result = await place.run(team_of(HarnessSettings(), other=fake("echo", context="json")))
    document = json.loads(result.reply)
    assert document["agent"] == "speaker"
    assert [message["role"] for message in document["messages"]] == ["system", "user"]
    assert document["schema"] is None
    assert "ada" not in json.dumps(document)  # who the person is to us is not the program's to know


async def test_the_working_folder_stays_in_a_session_and_goes_with_the_person() -> None:
    async with opened(scripted()) as place:
        team = team_of(HarnessSettings(), other=fake("plant", tools=True))
        first = await place.run(team, session="s1")
        second = await place.run(team, session="s1")
        other = await place.run(team, session="s2")
        assert list(place.home.harness.rglob("kept"))
        place.store.erase("ada")
        assert not list(place.home.harness.rglob("*"))
    files = "['blackboard', 'prompt.md']"
    assert [turn.reply for turn in (first, second, other)] == [f"x {files}", f"xx {files}", f"x {files}"]


async def test_without_a_place_for_programs_nothing_is_run() -> None:
    async with opened(scripted()) as place:
        place.harness = NativeHarness()
        result = await place.run(team_of(fake("say", '{"mood": "odd"}')))
    assert result.status == "partial"
    assert "no place for programs" in (result.reason or "")
    assert result.sections["mood"].value is None


async def test_a_turn_that_is_taken_up_again_does_not_run_a_finished_program_twice() -> None:
    down = asyncio.Event()

    def reply(request: ScriptedRequest) -> Reply:
        speaks = "# Your role: speaker" in request.text and not down.is_set()
        return Script([Pause(30)]) if speaks else by_role(request)

    async with opened(ScriptedEngine(reply)) as place:
        runner = place.runner(team_of(fake("answer")))
        turn = asyncio.create_task(runner.run("Hello.", user="ada", sinks=[place.events.append]))
        assert await _comes(lambda: any(isinstance(e, SectionWritten) and e.agent == "reader" for e in place.events))
        down.set()
        await place.scripted.stop()
        cut_off = await turn
        await place.scripted.start()
        resumed = await runner.resume(cut_off.turn)
        calls = len(place.asked_by_reader)
    assert cut_off.status == "failed"
    assert resumed.status == "complete", resumed.reason
    assert resumed.sections["mood"].value == {"mood": "glad"}
    assert calls == 1
