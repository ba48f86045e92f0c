import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { CATALOGS } from "../src/i18n/catalogs";
import { fill, firstLanguage } from "../src/i18n/language";

const { en, pt } = CATALOGS;
const places = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1]).sort();

describe("the message catalogs", () => {
  it("have the same messages in the same order", () => {
    expect(Object.keys(pt)).toEqual(Object.keys(en));
  });

  it.each(Object.keys(en) as (keyof typeof en)[])("%s has the same places in both", (message) => {
    expect(places(pt[message])).toEqual(places(en[message]));
    expect(pt[message].trim()).not.toBe("");
  });

  it("have no message that nobody shows", () => {
    const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("i18n") && !name.endsWith("schema.ts"))
      .map((name) => readFileSync(join("src", name), "utf8"))
      .join("\n");
    // Some names are put together, such as `plan.${plan.status}`.
    const prefixes = [...sources.matchAll(/t\(`(\w+\.)\$\{/g)].map((found) => found[1] ?? "");
    const unused = Object.keys(en).filter(
      (message) => !sources.includes(`"${message}"`) && !prefixes.some((prefix) => message.startsWith(prefix)),
    );
    expect(unused).toEqual([]);
  });
});

describe("filling a message", () => {
  it("puts values in their places, as they are", () => {
    expect(fill("{count} of {what}", { count: 3, what: "$& {count}" })).toBe("3 of $& {count}");
  });

  it("leaves a place without a value to be seen", () => {
    expect(fill("{count} left")).toBe("{count} left");
  });
});

describe("the first language", () => {
  it("is the one that was chosen, then the browser's, then English", () => {
    expect(firstLanguage("pt", ["en-US"])).toBe("pt");
    expect(firstLanguage(null, ["fr-FR", "pt-BR", "en"])).toBe("pt");
    expect(firstLanguage("xx", ["fr"])).toBe("en");
  });
});
