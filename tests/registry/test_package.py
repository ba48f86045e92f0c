"""What is a valid package, and what is refused, with the file and place named."""

import hashlib
import json

import pytest
from jsonschema import Draft202012Validator
from tests.registry.packages import MANIFEST, TOOLS, package

from repertory.engines.schema import validate
from repertory.errors import PackageError
from repertory.registry.manifest import manifest_schema, read_manifest
from repertory.registry.package import AgentPackage, digest_of
from repertory.registry.skill_file import check_skill, render_skill
from repertory.registry.tool_schema import check_tool_schema
from repertory.runtime.team_yaml import read_yaml


def refused(files: dict[str, bytes]) -> PackageError:
    with pytest.raises(PackageError) as refusal:
        AgentPackage.of(files)
    return refusal.value


def test_a_valid_package_is_taken() -> None:
    found = AgentPackage.of(package())
    assert [tool.name for tool in found.manifest.tools] == ["count", "misbehave", "remember"]
    assert found.evidence["built_by"] == "a test"
    assert set(found.code) == {"tools.py"}  # the sandbox gets neither tests nor evidence


def test_the_digest_is_what_the_documentation_says() -> None:
    files = {"b.py": b"2", "a/é".replace("é", "e"): b"1", "B.py": b"3"}
    text = "repertory agent package 1\n"
    for path in ("B.py", "a/e", "b.py"):
        text += f"{hashlib.sha256(files[path]).hexdigest()}  {path}\n"
    assert digest_of(files) == hashlib.sha256(text.encode()).hexdigest()
    assert digest_of(dict(reversed(files.items()))) == digest_of(files)


@pytest.mark.parametrize("name", ["agent_yaml", "SKILL_md", "evidence_json", "tools_py", "tests_test_count_py"])
def test_a_missing_file_is_named(name: str) -> None:
    where = refused(package(**{name: None})).where
    assert where is not None
    assert where.replace(".", "_").replace("/", "_") in f"{name}_tests_"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("manifest: 1", "manifest: 2", "agent.yaml:1:1", "manifest"),
        ("name: counter", "name: Counter", "agent.yaml:2:1", "name"),
        ("name: counter", "name: -x", "agent.yaml:2:1", "name"),
        ("  state: true", "  network: true", "agent.yaml:22:3", "network"),
        ("  state: true", "  state: 'yes please'", "agent.yaml:22:3", "state"),
        ("output_schema: {type: integer}", "output_schema: {pattern: '(a+)+$'}", "agent.yaml:12:5", "/pattern"),
        ("output_schema: {type: integer}", "output_schema: {$ref: 'http://x'}", "agent.yaml:12:5", "$ref"),
        ("output_schema: {type: integer}", "output_schema: {type: nothing}", "agent.yaml:12:5", "nothing"),
        ("wall_s: 3", "wall_s: 99999", "agent.yaml:26:10", "wall_s"),
        ("name: misbehave", "name: count", "agent.yaml:1:1", "two tools are called count"),
        ("name: misbehave", "name: __import__", "agent.yaml:13:5", "name"),
        ("path: /words,", "path: 'javascript:x',", "agent.yaml:24:22", "path"),
        ("manifest: 1", "manifest: 1\nmanifest: 1", "agent.yaml:2:1", "twice"),
        ("manifest: 1", "manifest: !!python/object:os.system 1", "agent.yaml:1:11", "tag"),
        ("manifest: 1", "manifest: [", "agent.yaml", ""),
    ],
)  # fmt: skip
def test_a_mistake_in_the_manifest_has_its_place(old: str, new: str, place: str, words: str) -> None:
    assert old in MANIFEST
    error = refused(package(agent_yaml=MANIFEST.replace(old, new, 1)))
    assert error.where is not None
    assert error.where.startswith(place)
    assert words in error.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no front", "does not begin"),
        ("---\nname: counter\n---\n", "description"),
        ("---\nname: other\ndescription: x\n---\n", "must be that of the agent"),
        ("---\nname: counter\ndescription: x\nhooks: y\n---\n", "hooks"),
        ("---\nname: counter\ndescription: [x]\n---\n", "description"),
        (f"---\nname: counter\ndescription: {'x' * 1025}\n---\n", "1024"),
    ],
)
def test_a_skill_file_that_is_none_is_refused(text: str, words: str) -> None:
    error = refused(package(SKILL_md=text))
    assert error.where == "SKILL.md"
    assert words in error.message


def test_the_rendered_skill_file_is_one() -> None:
    text = MANIFEST.replace("Counts words: all of them", 'It \\"counts\\" \\\\ words')
    manifest = read_manifest(text + "instructions: |\n  Be brief.\n", "agent.yaml")
    skill = render_skill(manifest)
    check_skill(skill, manifest)
    tree, _ = read_yaml(skill.split("---\n")[1])
    assert tree is not None
    assert isinstance(tree.content, dict)
    assert tree.content["description"].value.content == manifest.purpose


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def count(:", "not Python"),
        ("count = 1", "does not define count, misbehave"),
        ("(" * 100_000, "not Python"),
        ("-" * 400_000 + "1", "not Python"),
        ("a" + ".b" * 200_000, "not Python"),
    ],
)
def test_tools_are_read_and_not_run(code: str, words: str) -> None:
    error = refused(package(tools_py=code))
    assert (error.where or "").startswith("tools.py")
    assert words in error.message


def test_reading_tools_runs_nothing() -> None:
    AgentPackage.of(package(tools_py="raise SystemExit('it was run')\n" + TOOLS))


@pytest.mark.parametrize("text", ["{", "[]", '{"request": "x"}', "[" * 100_000])
def test_evidence_says_how_it_was_built(text: str) -> None:
    assert refused(package(evidence_json=text)).where == "evidence.json"


@pytest.mark.parametrize(
    "path",
    [
        "../evil.py",
        "/etc/passwd",
        "a//b",
        "a/../b",
        ".hidden",
        "a/.git",
        "con\\x",
        "a\nb",
        "ünïcode",
        "",
        "a/",
        "x" * 300,
    ],
)
def test_a_path_that_is_not_plain_is_refused(path: str) -> None:
    assert "path" in refused({**package(), path: b""}).message


def test_two_paths_must_differ_on_every_system() -> None:
    assert "letter case" in refused({**package(), "TOOLS.py": b""}).message
    assert "folder" in refused({**package(), "tools.py/x.py": b""}).message


def test_too_much_is_refused() -> None:
    assert "bytes" in refused({**package(), "big.txt": b"x" * 1024 * 1024 + b"x"}).message
    assert "files" in refused({**package(), **{f"f{n}.txt": b"" for n in range(300)}}).message
    assert "bytes" in refused({**package(), **{f"f{n}.txt": b"x" * 1024 * 1000 for n in range(10)}}).message
    assert refused({**package(), "logo.png": b"\x89PNG\0"}).where == "logo.png"


def test_the_schema_of_manifests_describes_them() -> None:
    schema = manifest_schema()
    Draft202012Validator.check_schema(schema)
    tree = json.loads(AgentPackage.of(package()).manifest.model_dump_json())
    assert validate(tree, schema) == []


def test_the_cost_of_a_schema_is_bounded() -> None:
    deep: dict[str, object] = {}
    for _ in range(50):
        deep = {"not": deep}
    wide = {"anyOf": [{"type": "string"}] * 1000}
    for schema in (deep, wide):
        assert any("parts" in problem for problem in check_tool_schema(schema, arguments=False))
    assert check_tool_schema({"type": "string"}, arguments=True)
    assert check_tool_schema({"uniqueItems": True}, arguments=False)
    assert check_tool_schema([], arguments=False)
