"""The JSON Schema of a team file, for editors that complete and check YAML while one types."""

from typing import Any

from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.team import ReadMode, Team

__all__ = ("team_file_schema",)


def team_file_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a team file, its short forms included.

    It knows the shape alone; the rules between the parts are what `repertory team check` adds.
    """
    schema = Team.model_json_schema(by_alias=True)
    read: dict[str, Any] = {"anyOf": [{"enum": [str(mode) for mode in ReadMode]}, {"$ref": "#/$defs/Read"}]}
    reads = schema["$defs"]["Agent"]["properties"]["reads"]
    for key in ("additionalProperties", "patternProperties"):
        if isinstance(reads.get(key), dict):
            reads[key] = read if key == "additionalProperties" else dict.fromkeys(reads[key], read)
    harness = schema["$defs"]["Agent"]["properties"]["harness"]
    word = {"enum": [kind.value for kind in HarnessKind]}
    schema["$defs"]["Agent"]["properties"]["harness"] = {
        "anyOf": [word, {"$ref": harness["$ref"]}],
        "default": HarnessKind.NATIVE.value,
        "description": "What runs the agent: a word, or a mapping with `kind` and settings.",
    }
    reply = {"description": "The one text section that the person sees.", "type": "string"}
    schema["properties"]["reply"] = reply
    required = [name for name in schema["required"] if name != "replies"]
    schema["required"] = required
    schema["oneOf"] = [{"required": ["reply"]}, {"required": ["replies"]}]
    schema["title"] = "Repertory team file"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
