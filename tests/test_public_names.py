"""The public names are a promise: this list changes only on purpose, with an entry in CHANGELOG.md."""

import subprocess
import sys

import pytest

import repertory

PUBLIC = {"Agent", "Read", "RepertoryError", "Section", "Team", "TeamRules", "TurnEvent", "load_team"}

HEAVY = (
    "alembic", "fastapi", "httpx2", "huggingface_hub", "jsonschema", "numpy", "ortools", "psycopg", "pydantic", "ray",
    "rich", "ruamel", "sqlalchemy", "torch", "typer", "uvicorn", "vllm", "xllamacpp",
)  # fmt: skip


def test_public_names() -> None:
    assert set(repertory.__all__) == PUBLIC
    assert set(dir(repertory)) >= PUBLIC
    for name in PUBLIC:
        assert getattr(repertory, name) is vars(repertory)[name]


def test_import_loads_no_engine_web_database_or_solver() -> None:
    code = f"import sys, repertory; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = repertory.nonsense
