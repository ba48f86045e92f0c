/** The part of Markdown that replies use, as data. Everything else stays the text that it is. */

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong"; parts: Inline[] }
  | { kind: "emphasis"; parts: Inline[] }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph"; text: string }
  | { kind: "heading"; text: string }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; ordered: boolean; start: number; items: string[] };

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}\s+(.*?)\s*#*$/;
const QUOTE = /^ {0,3}>\s?/;
const BULLET = /^ {0,3}[-*+]\s+(.*)$/;
const NUMBER = /^ {0,3}(\d{1,9})[.)]\s+(.*)$/;
/** Deeper nesting is shown as text: no model needs it, and a hostile text must not exhaust the stack. */
const DEEPEST = 8;

export function parseBlocks(text: string, depth = 0): Block[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const fence = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      const end = lines.findIndex((other, index) => index > at && other.trim().startsWith(fence));
      const until = end < 0 ? lines.length : end;
      blocks.push({ kind: "code", text: lines.slice(at + 1, until).join("\n") });
      at = until + 1;
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading !== null) {
      blocks.push({ kind: "heading", text: heading[1] ?? "" });
      at += 1;
      continue;
    }
    if (QUOTE.test(line) && depth < DEEPEST) {
      const quoted: string[] = [];
      while (at < lines.length && QUOTE.test(lines[at] ?? "")) {
        quoted.push((lines[at] ?? "").replace(QUOTE, ""));
        at += 1;
      }
      blocks.push({ kind: "quote", blocks: parseBlocks(quoted.join("\n"), depth + 1) });
      continue;
    }
    const matcher = BULLET.test(line) ? BULLET : NUMBER.test(line) ? NUMBER : null;
    if (matcher !== null) {
      const items: string[] = [];
      const start = Number(NUMBER.exec(line)?.[1] ?? 1);
      while (at < lines.length) {
        const found = matcher.exec(lines[at] ?? "");
        if (found === null) {
          // An indented line goes on with the item above it.
          if (!/^\s+\S/.test(lines[at] ?? "") || items.length === 0) break;
          items[items.length - 1] += ` ${(lines[at] ?? "").trim()}`;
        } else {
          items.push(found[matcher === NUMBER ? 2 : 1] ?? "");
        }
        at += 1;
      }
      blocks.push({ kind: "list", ordered: matcher === NUMBER, start, items });
      continue;
    }
    const paragraph: string[] = [];
    while (
      at < lines.length &&
      (lines[at] ?? "").trim() !== "" &&
      (paragraph.length === 0 || !startsBlock(lines[at] ?? "", depth))
    ) {
      paragraph.push(lines[at] ?? "");
      at += 1;
    }
    blocks.push({ kind: "paragraph", text: paragraph.join("\n") });
  }
  return blocks;
}

function startsBlock(line: string, depth: number): boolean {
  return (
    FENCE.test(line) ||
    HEADING.test(line) ||
    (QUOTE.test(line) && depth < DEEPEST) ||
    BULLET.test(line) ||
    NUMBER.test(line)
  );
}

export function parseInline(text: string, depth = 0): Inline[] {
  const parts: Inline[] = [];
  let plain = "";
  const flush = () => {
    if (plain !== "") parts.push({ kind: "text", text: plain });
    plain = "";
  };
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? "";
    if (char === "\\" && /[\\`*_#>[\]()!.-]/.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
      continue;
    }
    if (char === "\n") {
      flush();
      parts.push({ kind: "break" });
      at += 1;
      continue;
    }
    if (char === "`") {
      const end = text.indexOf("`", at + 1);
      if (end > at + 1) {
        flush();
        parts.push({ kind: "code", text: text.slice(at + 1, end) });
        at = end + 1;
        continue;
      }
    }
    const emphasis = depth < DEEPEST ? emphasisAt(text, at) : null;
    if (emphasis !== null) {
      flush();
      parts.push({ kind: emphasis.kind, parts: parseInline(emphasis.inner, depth + 1) });
      at = emphasis.end;
      continue;
    }
    plain += char;
    at += 1;
  }
  flush();
  return parts;
}

function emphasisAt(text: string, at: number): { kind: "strong" | "emphasis"; inner: string; end: number } | null {
  for (const [mark, kind] of [
    ["**", "strong"],
    ["__", "strong"],
    ["*", "emphasis"],
    ["_", "emphasis"],
  ] as const) {
    if (!text.startsWith(mark, at)) continue;
    const from = at + mark.length;
    // snake_case and 2 * 3 are no emphasis.
    if (/\s/.test(text[from] ?? " ") || (mark.startsWith("_") && /\w/.test(text[at - 1] ?? ""))) continue;
    let end = text.indexOf(mark, from);
    while (end > 0 && /\s/.test(text[end - 1] ?? "")) end = text.indexOf(mark, end + 1);
    if (end <= from) continue;
    if (mark.startsWith("_") && /\w/.test(text[end + mark.length] ?? "")) continue;
    return { kind, inner: text.slice(from, end), end: end + mark.length };
  }
  return null;
}
