/** Arguments to begin with: every property of an object schema, with the simplest value that it may have. */
export function exampleOf(schema: Record<string, unknown>): Record<string, unknown> {
  const properties = schema["properties"];
  if (typeof properties !== "object" || properties === null) return {};
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, valueOf(property)]));
}

function valueOf(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return null;
  const { type, default: preset, enum: choices, minimum } = schema as Record<string, unknown>;
  if (preset !== undefined) return preset;
  if (Array.isArray(choices)) return choices[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return "";
    case "integer":
    case "number":
      return typeof minimum === "number" ? minimum : 0;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return exampleOf(schema as Record<string, unknown>);
    default:
      return null;
  }
}
