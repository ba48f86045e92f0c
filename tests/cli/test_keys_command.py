"""`repertory keys create --reads-user`."""

import json

from tests.cli.test_serve_command import repertory


def test_a_key_may_be_allowed_to_read_what_somebody_wrote() -> None:
    made = json.loads(repertory("keys", "create", "carer", "--admin", "--reads-user", "ada", "--json").stdout)
    assert made["scopes"] == ["admin", "reads-user:ada"]
    made = json.loads(repertory("keys", "create", "reader", "--reads-user", "*", "--json").stdout)
    assert made["scopes"] == ["*", "reads-user:*"]
