"""A small deployed agent for the tests: it converts temperatures."""

import json

from repertory.registry.manifest import read_manifest
from repertory.registry.skill_file import render_skill

_TOOLS = [
    ("c_to_f", "Convert degrees Celsius to degrees Fahrenheit.", "celsius"),
    ("f_to_c", "Convert degrees Fahrenheit to degrees Celsius.", "fahrenheit"),
]
CODE = """\
def c_to_f(celsius):
    if celsius < -273.15:
        raise ValueError("below absolute zero")
    return round(celsius * 9 / 5 + 32, 2)


def f_to_c(fahrenheit):
    return round((fahrenheit - 32) * 5 / 9, 2)


def convert(request):
    value = float(request["params"]["celsius"])
    return {"status": 200, "body": {"fahrenheit": c_to_f(value)}}


def fails(request):
    raise RuntimeError("no")
"""
ROUTES = [
    {"method": "GET", "path": "/celsius/{celsius}", "function": "convert"},
    {"method": "POST", "path": "/fails", "function": "fails"},
]


def temperature(
    name: str = "temperature", *, instructions: str = "", code: str = CODE, routes: bool = False, tools: bool = True
) -> dict[str, bytes]:
    """A valid package: an agent of tools alone, or, with instructions, one that people talk to."""
    declared = [
        {
            "name": tool,
            "description": description,
            "input_schema": {
                "type": "object",
                "properties": {argument: {"type": "number"}},
                "required": [argument],
                "additionalProperties": False,
            },
            "output_schema": {"type": "number"},
        }
        for tool, description, argument in _TOOLS
    ]
    manifest = {
        "manifest": 1,
        "name": name,
        "purpose": "Converts temperatures between Celsius and Fahrenheit.",
        "instructions": instructions,
        "conversation": bool(instructions),
        "tools": declared if tools else [],
        "permissions": {"state": False, "http": ROUTES if routes else []},
    }
    text = json.dumps(manifest)
    files = {
        "agent.yaml": text,
        "SKILL.md": render_skill(read_manifest(text, "agent.yaml")),
        "evidence.json": json.dumps({"request": "convert temperatures", "built_by": "a test"}),
    }
    if tools or routes:
        files |= {"tools.py": code, "tests/test_tools.py": "from tools import c_to_f\n"}
    return {path: content.encode() for path, content in files.items()}
