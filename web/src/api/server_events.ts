/** Server-sent events over `fetch`: resumed with `Last-Event-ID`, with back-off, and with HTTP errors told apart. */

export interface ServerEvent {
  id: string | null;
  event: string;
  data: string;
}

/** Takes the text of a stream as it comes, in any pieces, and gives whole events. */
export class EventParser {
  private rest = "";
  private id: string | null = null;
  private event = "";
  private data: string[] = [];

  /** The milliseconds that the server asks to wait before the next connection, if it asked. */
  retryMs: number | null = null;

  push(text: string): ServerEvent[] {
    const found: ServerEvent[] = [];
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.line(line);
      if (event !== null) found.push(event);
    }
    return found;
  }

  private line(line: string): ServerEvent | null {
    if (line === "") {
      const event = { id: this.id, event: this.event || "message", data: this.data.join("\n") };
      const complete = this.data.length > 0;
      this.event = "";
      this.data = [];
      return complete ? event : null;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    else if (field === "event") this.event = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return null;
  }
}

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 10_000;

/**
 * How long to wait before the next try: doubled each time up to a bound, with jitter so that pages do not come at once.
 * The first wait is what the server asked for, if it asked.
 */
export function backOffMs(attempt: number, firstMs: number | null, random: () => number = Math.random): number {
  return Math.min(LONGEST_WAIT_MS, (firstMs ?? FIRST_WAIT_MS) * 2 ** Math.min(attempt, 8)) * (0.5 + random() / 2);
}

export interface Subscription {
  close: () => void;
}

export interface StreamHandlers {
  onEvent: (event: ServerEvent) => void;
  /** True with the first byte of an answer, false when the connection is gone. */
  onConnected: (connected: boolean) => void;
  /** The server refuses: no further try is made. */
  onRefused: (status: number) => void;
}

/** Nothing for so long, heartbeats included, and the connection counts as dead. */
const SILENCE_MS = 45_000;

/** Follow a stream until it is closed. */
export function subscribe(url: string, handlers: StreamHandlers): Subscription {
  const closed = new AbortController();
  let lastId: string | null = null;
  let attempt = 0;
  let firstMs: number | null = null;

  const readOnce = async (): Promise<void> => {
    const connection = new AbortController();
    const end = () => connection.abort();
    closed.signal.addEventListener("abort", end);
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE_MS);
    };
    try {
      heard();
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (lastId !== null) headers["Last-Event-ID"] = lastId;
      const response = await fetch(url, { headers, signal: connection.signal, cache: "no-store" });
      if (!response.ok || response.body === null) {
        if (response.status >= 400 && response.status < 500 && response.status !== 429) {
          handlers.onRefused(response.status);
          closed.abort();
        }
        return;
      }
      handlers.onConnected(true);
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        heard();
        attempt = 0;
        for (const event of parser.push(value)) {
          if (event.id !== null) lastId = event.id;
          handlers.onEvent(event);
        }
        firstMs = parser.retryMs ?? firstMs;
      }
    } catch (error) {
      // A connection that breaks is what the next try is for; anything else is a mistake of ours.
      if (!(error instanceof TypeError) && !(error instanceof DOMException)) throw error;
    } finally {
      clearTimeout(silence);
      closed.signal.removeEventListener("abort", end);
    }
  };

  const follow = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      await readOnce();
      if (closed.signal.aborted) return;
      handlers.onConnected(false);
      await pause(backOffMs(attempt, firstMs), closed.signal);
      attempt += 1;
    }
  };
  void follow();
  return { close: () => closed.abort() };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
