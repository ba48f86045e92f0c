import { vi } from "vitest";

export interface Asked {
  method: string;
  path: string;
  body: unknown;
  csrf: string | null;
  idempotency: string | null;
}

type Answers = Record<string, unknown | ((asked: Asked) => Response)>;

/** Answers `METHOD /path` with JSON in place of a server, and keeps what was asked; other paths fail the test. */
export function serve(answers: Answers): Asked[] {
  const all: Asked[] = [];
  vi.stubGlobal("fetch", async (input: Request | string, init?: RequestInit) => {
    const request = input instanceof Request ? input : new Request(new URL(input, location.origin), init);
    const url = new URL(request.url);
    const text = await request.clone().text();
    const asked = {
      method: request.method,
      path: url.pathname,
      body: text === "" ? null : (JSON.parse(text) as unknown),
      csrf: request.headers.get("X-CSRF-Token"),
      idempotency: request.headers.get("Idempotency-Key"),
    };
    all.push(asked);
    const answer = answers[`${asked.method} ${asked.path}`];
    if (answer === undefined) throw new Error(`nobody answers ${asked.method} ${asked.path}`);
    return typeof answer === "function" ? (answer as (asked: Asked) => Response)(asked) : Response.json(answer);
  });
  return all;
}

export const SESSION = {
  signed_in: true,
  needs_keys: false,
  version: "1",
  csrf: "token",
  user: "me",
  name: null,
  is_admin: true,
  reads_users: [],
  teams: ["coaching"],
  expires_at: null,
};
