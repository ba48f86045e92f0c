"""The kept description of the HTTP interface is what the code answers."""

from pathlib import Path

from repertory.server.openapi_document import document_text, openapi_document

KEPT = Path(__file__).parents[2] / "web" / "openapi.json"


def test_the_kept_document_is_the_codes() -> None:
    now = document_text()
    assert KEPT.read_text("utf-8") == now, "python -m repertory.server.openapi_document > web/openapi.json"


def test_every_answer_of_the_panel_has_a_model_and_every_error_the_one_shape() -> None:
    document = openapi_document()
    names: set[str] = set()
    for path, operations in document["paths"].items():
        if not path.startswith("/api/"):
            continue
        for operation in operations.values():
            names.add(operation["operationId"])
            answers = operation["responses"]
            error = answers["default"]["content"]["application/json"]["schema"]
            assert error == {"$ref": "#/components/schemas/ErrorAnswer"}, path
            good = next(answer for status, answer in answers.items() if status.startswith("2"))
            if "204" not in answers:
                (kind, content), *_ = good["content"].items()
                assert kind in ("application/json", "text/event-stream"), path
                schema = content["schema"]
                assert "$ref" in schema or path.endswith("/export"), path
            assert operation["description"], path
    assert len(names) == sum(len(operations) for path, operations in document["paths"].items() if "/api/" in path)


def test_every_field_that_goes_out_is_always_there() -> None:
    for name, schema in openapi_document()["components"]["schemas"].items():
        if name.endswith(("Load", "Summary", "Detail", "Overview", "Info", "AgentDelta")):
            assert set(schema["required"]) == set(schema["properties"]), name
