"""Messages that are tool calls already: which are, and that no text breaks the reading."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.registry.temperature import temperature

from repertory.errors import UsageError
from repertory.registry.conversation import WrittenCall, read_written_call
from repertory.registry.manifest import AgentManifest, read_manifest

TWO = read_manifest(temperature()["agent.yaml"].decode(), "agent.yaml")
ONE = TWO.model_copy(update={"tools": TWO.tools[:1]})
NONE = TWO.model_copy(update={"tools": ()})
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["tool", "arguments", "celsius"]) | st.text(), inner)
    ),
)


@pytest.mark.parametrize(
    ("manifest", "text", "call"),
    [
        (TWO, '{"tool": "f_to_c", "arguments": {"fahrenheit": 1}}', WrittenCall("f_to_c", {"fahrenheit": 1})),
        (TWO, '{"tool": "f_to_c"}', WrittenCall("f_to_c", {})),
        (TWO, ' ```\n{"tool": "f_to_c"}\n``` ', WrittenCall("f_to_c", {})),
        (ONE, '{"celsius": 3}', WrittenCall("c_to_f", {"celsius": 3})),
        (ONE, "{}", WrittenCall("c_to_f", {})),
        (TWO, '{"celsius": 3}', None),
        (TWO, '{"tool": "f_to_c", "arguments": {}, "more": 1}', None),
        (TWO, '{"tool": "f_to_c", "arguments": [1]}', None),
        (TWO, 'Please do {"tool": "f_to_c"}', None),
        (ONE, '{"celsius": NaN}', None),
        (NONE, '{"tool": "f_to_c"}', None),
    ],
)
def test_what_is_a_call(manifest: AgentManifest, text: str, call: WrittenCall | None) -> None:
    assert read_written_call(text, manifest) == call


@given(st.text() | JSON.map(json.dumps))
def test_no_text_breaks_it(text: str) -> None:
    for manifest in (ONE, TWO):
        try:
            call = read_written_call(text, manifest)
        except UsageError:
            continue
        assert call is None or manifest.tool(call.tool) is not None


def test_deep_json_is_no_call() -> None:
    assert read_written_call('{"a":' * 50_000, TWO) is None
    assert read_written_call("[" * 50_000, TWO) is None
