"""The schema compiler: from a JSON Schema to an engine's grammar, our own checks, and words for the prompt."""

from repertory.engines.schema.compile import CompiledSchema, compile_schema, normal_form
from repertory.engines.schema.guide import field_guide
from repertory.engines.schema.limits import DEFAULT_LIMITS, SchemaLimits
from repertory.engines.schema.lint import lint_schema
from repertory.engines.schema.model_schema import section_schema
from repertory.engines.schema.patterns import PatternCheck, check_pattern
from repertory.engines.schema.problems import JsonSchema, Problem, SchemaProblem, Severity
from repertory.engines.schema.validation import validate

__all__ = (
    "DEFAULT_LIMITS",
    "CompiledSchema",
    "JsonSchema",
    "PatternCheck",
    "Problem",
    "SchemaLimits",
    "SchemaProblem",
    "Severity",
    "check_pattern",
    "compile_schema",
    "field_guide",
    "lint_schema",
    "normal_form",
    "section_schema",
    "validate",
)
