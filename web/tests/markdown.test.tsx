import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";

import { Markdown } from "../src/components/markdown";
import { parseBlocks, parseInline } from "../src/components/markdown_text";
import { sentencesOf } from "../src/components/sentences";
import { LanguageProvider } from "../src/i18n/language";

const show = (text: string, onSentence: ((sentence: string) => void) | null = null) =>
  render(
    <LanguageProvider>
      <Markdown text={text} onSentence={onSentence} />
    </LanguageProvider>,
  ).container;

describe("Markdown of a model", () => {
  it.each([
    '<script>alert(1)</script><img src=x onerror="alert(1)">',
    "[click](javascript:alert(1))",
    "![x](https://example.com/track.png)",
    '<a href="https://example.com">x</a>',
    "<iframe src=//example.com></iframe>",
  ])("shows %s as the text that it is", (hostile) => {
    const container = show(hostile);
    expect(container.querySelector("script, img, a, iframe, [onerror], [style]")).toBeNull();
    expect(container.textContent).toBe(hostile);
  });

  it("renders lists, code, emphasis and headings", () => {
    const container = show("# Plan\n\n1. **Tuesday**\n2. *Thursday*\n\n- `a_b_c`\n\n```\n<b>\n```");
    expect(container.querySelector("strong")?.textContent).toBe("Tuesday");
    expect(container.querySelector("em")?.textContent).toBe("Thursday");
    expect(container.querySelectorAll("ol > li")).toHaveLength(2);
    expect(container.querySelector("ul code")?.textContent).toBe("a_b_c");
    expect(container.querySelector("pre")?.textContent).toBe("<b>");
    // A model's heading is no heading of the page.
    expect(container.querySelector("h1, h2, h3")).toBeNull();
  });

  it("takes no emphasis from names and sums", () => {
    expect(parseInline("snake_case_name and 2 * 3 * 4")).toEqual([
      { kind: "text", text: "snake_case_name and 2 * 3 * 4" },
    ]);
  });

  it("ends on hostile nesting and length", () => {
    expect(parseBlocks(">".repeat(5000))).not.toHaveLength(0);
    expect(parseInline("**".repeat(5000)).length).toBeGreaterThan(0);
    expect(parseInline("*a ".repeat(3000)).length).toBeGreaterThan(0);
  });

  it("shows an unclosed code block while it streams", () => {
    expect(parseBlocks("```\nprint(1)")).toEqual([{ kind: "code", text: "print(1)" }]);
  });
});

describe("sentences that can be asked about", () => {
  it("are the paragraph when joined", () => {
    const text = "You wrote. You did **not. Stop** there. What is next?";
    expect(sentencesOf(text, "en")).toEqual(["You wrote. ", "You did **not. Stop** there. ", "What is next?"]);
  });

  it("are buttons that say what was asked", async () => {
    const asked = vi.fn();
    show("You took a rush job. What is next?", asked);
    await userEvent.click(screen.getByRole("button", { name: "What is next?" }));
    expect(asked).toHaveBeenCalledWith("What is next?");
  });
});
