"""What `repertory run` refuses before it looks for a model."""

import pytest
from tests.cli.test_serve_command import repertory


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [("--user", "", "the user id is empty"), ("--session", "x" * 300, "the session id has 300 characters")],
)
def test_what_is_no_id_is_refused_before_a_model_is_loaded(option: str, value: str, words: str) -> None:
    ended = repertory("run", "coaching", "--message", "Hi!", option, value)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert "loading" not in ended.stderr
