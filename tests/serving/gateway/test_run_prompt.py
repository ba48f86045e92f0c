"""What a harness sends, put back into the turn's own layout."""

from typing import Any

from repertory.serving.gateway.harness_runs import RunTerms
from repertory.serving.gateway.run_prompt import lay_out

MESSAGES = (("system", "You are a team."), ("user", "<message>Hi.</message>\n\n# Your role: reader"))
MEMBERS = {"max_tokens": 60, "temperature": 0.2, "response_format": {"type": "json_schema"}, "id_slot": 2}
ASKED = "You are a team.\n\n<message>Hi.</message>\n\n# Your role: reader"
PROMPT = [{"role": role, "content": text} for role, text in MESSAGES]
TOOL = {"type": "function", "function": {"name": "shell"}}


def terms(**changes: Any) -> RunTerms:
    values: dict[str, Any] = {
        "team": "t", "agent": "reader", "turn": "t1", "user": "ada", "instance": "one", "priority": 0,
        "messages": MESSAGES, "asked": ASKED, "system": "Fixed words.", "members": MEMBERS,
    }  # fmt: skip
    return RunTerms(**values | changes)


def request(*messages: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": role, "content": content} for role, content in messages], **more}


def test_the_prompt_is_the_turns_own_whatever_the_program_wraps_it_in() -> None:
    parts = [{"type": "text", "text": "Today is Monday."}, {"type": "text", "text": ASKED}]
    sent = request(("system", "I am a coding agent. Fixed words."), ("user", parts), tools=[TOOL], temperature=1)
    laid_out = lay_out(sent | {"max_tokens": 32000, "logit_bias": {"1": 100}}, terms())
    assert laid_out.body == {"model": "m", "messages": PROMPT, **MEMBERS}
    assert laid_out.shared
    assert all(words in laid_out.added for words in ("I am a coding agent.", "Today is Monday.", "shell"))
    assert "Fixed words." not in laid_out.added
    assert "# Your role" not in laid_out.added


def test_with_tools_what_the_program_adds_stands_behind_the_shared_part() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}
    result = {"role": "tool", "tool_call_id": "1", "content": "42"}
    sent = request(("system", "I am a coding agent."), ("user", ASKED), tools=[TOOL], tool_choice="auto")
    sent["messages"] += [call, result]
    body = lay_out(sent, terms(tools=True)).body
    assert body["messages"][0] == PROMPT[0]
    assert body["messages"][1]["content"].startswith(PROMPT[1]["content"])
    assert body["messages"][1]["content"].endswith("I am a coding agent.")
    assert body["messages"][2:] == [call, result]
    assert (body["tools"], body["tool_choice"]) == ([TOOL], "auto")
    assert "response_format" not in body  # engines can not do both
    assert (body["max_tokens"], body["temperature"], body["id_slot"]) == (60, 0.2, 2)


def test_without_tools_in_a_request_its_answer_is_held_to_the_schema() -> None:
    body = lay_out(request(("user", ASKED)), terms(tools=True)).body
    assert body["response_format"] == MEMBERS["response_format"]


def test_a_programs_further_questions_follow_the_prompt() -> None:
    sent = request(*MESSAGES, ("assistant", "A draft."), ("user", "Shorter."))
    laid_out = lay_out(sent, terms())
    assert laid_out.body["messages"] == sent["messages"]
    assert laid_out.added == ""


def test_a_request_without_the_task_gets_the_prompt_or_is_the_programs_own_affair() -> None:
    title = request(("system", "You make titles."), ("user", "Make a title."))
    assert lay_out(title, terms()).body["messages"] == PROMPT
    own = lay_out(title, terms(tools=True))
    assert own.body["messages"] == title["messages"]
    assert not own.shared


def test_messages_that_are_none_do_no_harm() -> None:
    for messages in (None, "text", [1, None, {"role": "user"}, {"role": "user", "content": [7, {"text": 7}]}]):
        assert lay_out({"messages": messages}, terms()).body["messages"] == PROMPT
