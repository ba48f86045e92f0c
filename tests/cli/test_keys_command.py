"""`repertory keys create --reads-user`."""

import json

from tests.cli.test_serve_command import repertory


def test_a_key_may_be_allowed_to_read_what_somebody_wrote() -> None:
    made = json.loads(repertory("keys", "create", "carer", "--admin", "--reads-user", "ada", "--json").stdout)
    assert made["scopes"] == ["admin", "reads-user:ada"]
    made = json.loads(repertory("keys", "create", "reader", "--reads-user", "*", "--json").stdout)
    assert made["scopes"] == ["*", "reads-user:*"]


def test_a_team_that_is_not_built_in_is_told() -> None:
    assert "'duo' is no built-in team" in repertory("keys", "create", "me", "--team", "duo").stderr
    assert "built-in" not in repertory("keys", "create", "me", "--team", "coaching").stderr
