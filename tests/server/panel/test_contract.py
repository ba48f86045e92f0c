"""Requests made up from the description: none brings the server down, and every answer is what it promises."""
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false, reportMissingTypeArgument=false
# Schemathesis leaves its generic classes open.

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from tests.registry.temperature import temperature
from tests.server.panel.conftest import MakePanel

from repertory.clock import system_clock
from repertory.errors import ModelStoreError
from repertory.registry.registry import Registry
from repertory.server.app import create_app
from repertory.server.listen import GatewayServer, listening_socket
from repertory.server.openapi_document import openapi_document
from repertory.server.panel.mount import mount_panel
from repertory.server.panel.panel import Panel
from repertory.server.panel.visitor import csrf_of
from repertory.serving.api_keys import new_key
from repertory.storage.store import Store
from repertory.teams.coaching.person_acts import answer_questionnaire

EXAMPLES = 12
UNHURRIED = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


class Running:
    """A panel that listens, on a thread with an event loop of its own."""

    def __init__(self, panel: Panel) -> None:
        self._listening = listening_socket("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.csrf = csrf_of(panel, None)
        app = create_app(panel.gateway)
        mount_panel(app, panel)
        self._server = GatewayServer(app, panel.gateway, drain_s=0.2, at_stop=panel.stop)
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        asyncio.run(self._server._serve(sockets=[self._listening]))

    def __enter__(self) -> "Running":
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        self._listening.close()


def no_hub(*_: object, **__: object) -> None:
    raise ModelStoreError("no test fetches models")


@pytest.fixture
def running(make_panel: MakePanel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr("repertory.engines.model_store.ModelStore.pull", no_hub)
    with Running(make_panel()) as running:
        yield running


def api_schema() -> schemathesis.BaseSchema:
    document = openapi_document()
    paths = {path: item for path, item in document["paths"].items() if path.startswith("/api/")}
    del document["security"]  # nobody needs a key here
    return schemathesis.openapi.from_dict({**document, "paths": paths})


@pytest.mark.timeout(500)
@pytest.mark.parametrize("mode", [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE])
def test_made_up_requests_get_answers_of_the_description(running: Running, mode: schemathesis.GenerationMode) -> None:
    seen = try_all(running, mode, {})
    assert len({operation for operation, _ in seen}) > 20
    assert not {status for _, status in seen} - {200, 201, 202, 204, 400, 404, 409, 413, 422}


@pytest.mark.timeout(500)
def test_so_do_requests_for_what_is_there(running: Running, store: Store) -> None:
    now = system_clock()
    answer_questionnaire(store, "me", [3] * 20, now)
    registry = Registry(store)
    registry.deploy(temperature("counter", instructions="Convert what you are asked."))
    registry.promote("counter", 1)
    store.keys.add(new_key("kept", ["*"])[1])
    with httpx2.Client(base_url=running.url, headers={"x-csrf-token": running.csrf}, trust_env=False) as http:
        turn = http.post("/api/chat/duo", json={"message": "Hi!"}).json()["turn"]
        build = http.post("/api/builds", json={"request": "Double a number."}).json()["build"]
    names = {
        "team": "coaching", "user": "me", "turn": turn, "build": build, "name": "counter", "commitment": "k1",
        "model": "smollm2-135m", "key": store.keys.all()[0].id,
    }  # fmt: skip
    seen = try_all(running, schemathesis.GenerationMode.POSITIVE, names)
    missing = {operation for operation, _ in seen} - {operation for operation, status in seen if status < 300}
    # Bodies that name what is not there (plans, commitments, files), what has ended, what was not confirmed, and talks
    # in which the person does not have the last word.
    assert missing <= {
        "cancel_turn", "cancel_build", "get_agent_file", "make_plan", "settle_commitment", "pull_model", "remove_model",
        "roll_back_agent", "start_plan", "forget", "call_agent", "erase_blackboard", "talk_to_agent",
    }  # fmt: skip


def try_all(running: Running, mode: schemathesis.GenerationMode, names: dict[str, str]) -> Counter[tuple[str, int]]:
    """Try every operation (those that delete, last) with made-up requests, in which these names stand in the path."""
    seen: Counter[tuple[str, int]] = Counter()
    operations = [found.ok() for found in api_schema().get_all_operations() if isinstance(found, Ok)]
    assert len(operations) > 40
    for operation in sorted(operations, key=lambda operation: operation.method == "delete"):
        with suppress(Unsatisfiable):  # nothing can be wrong with a request that has no parts
            try_one(running, operation, mode, names, seen)
    return seen


def try_one(
    running: Running,
    operation: schemathesis.APIOperation,
    mode: schemathesis.GenerationMode,
    names: dict[str, str],
    seen: Counter[tuple[str, int]],
) -> None:
    """Try one operation."""

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=UNHURRIED)
    @given(case=operation.as_strategy(generation_mode=mode))
    def try_it(case: schemathesis.Case) -> None:
        case.path_parameters = {part: names.get(part, value) for part, value in case.path_parameters.items()}
        answer = case.call(base_url=running.url, headers={"X-CSRF-Token": running.csrf})
        # 413 is a refusal too, which this check does not know.
        checks = [check for check in CHECKS if answer.status_code != 413 or check is not negative_data_rejection]
        case.validate_response(answer, checks=checks)
        seen[(operation.definition.raw["operationId"], answer.status_code)] += 1

    try_it()
