import createClient from "openapi-fetch";

import type { paths } from "./schema";

/** An answer of the API that is no success, in its one shape. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly hint: string | null,
  ) {
    super(message);
    this.name = "ApiFailure";
  }

  /** The server could not be reached at all. */
  get offline(): boolean {
    return this.status === 0;
  }
}

let csrf: string | null = null;

/** Keep the token that every request with an effect must carry. */
export function setCsrf(token: string | null): void {
  csrf = token;
}

export const api = createClient<paths>({
  baseUrl: location.origin,
  credentials: "same-origin",
  // Looked up at each call, so that tests can put their own in its place.
  fetch: (request) => globalThis.fetch(request),
});

/** Told when an answer shows that the server no longer knows who this is, or takes the token for another one's. */
export const SESSION_DOUBTED = "repertory:session-doubted";

api.use({
  async onResponse({ request, response }) {
    if (request.method === "POST" && new URL(request.url).pathname === "/api/session") return;
    const doubted =
      response.status === 401 ||
      (response.status === 403 &&
        failureOf(
          403,
          await response
            .clone()
            .json()
            .catch(() => null),
        ).type === "csrf");
    if (doubted) window.dispatchEvent(new Event(SESSION_DOUBTED));
  },
  onRequest({ request }) {
    if (csrf !== null && !["GET", "HEAD"].includes(request.method)) request.headers.set("X-CSRF-Token", csrf);
    return request;
  },
});

/** The data of an answer; throws an `ApiFailure` for everything that is no success. */
export async function answerOf<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let answer;
  try {
    answer = await call;
  } catch (error) {
    if (error instanceof TypeError) throw new ApiFailure(0, "offline", error.message, null);
    throw error;
  }
  if (answer.response.ok) return answer.data as T;
  throw failureOf(answer.response.status, answer.error);
}

export function failureOf(status: number, body: unknown): ApiFailure {
  const error = field(body, "error");
  const message = field(error, "message");
  const type = field(error, "type");
  const hint = field(error, "hint");
  return new ApiFailure(
    status,
    typeof type === "string" ? type : "unknown",
    typeof message === "string" ? message : `HTTP ${status}`,
    typeof hint === "string" ? hint : null,
  );
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
