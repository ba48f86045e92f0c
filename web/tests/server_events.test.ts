import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { backOffMs, EventParser, subscribe, type ServerEvent } from "../src/api/server_events";

const STREAM =
  'retry: 900\nid: 7\nevent: agent_delta\ndata: {"a":\ndata: 1}\n\n: heartbeat\n\nid: 8\r\ndata: x\r\n\r\n';

describe("the parser", () => {
  it.each([1, 2, 3, 7, 1000])("gives the same events for pieces of %d characters", (size) => {
    const parser = new EventParser();
    const found: ServerEvent[] = [];
    for (let at = 0; at < STREAM.length; at += size) found.push(...parser.push(STREAM.slice(at, at + size)));
    expect(found).toEqual([
      { id: "7", event: "agent_delta", data: '{"a":\n1}' },
      { id: "8", event: "message", data: "x" },
    ]);
    expect(parser.retryMs).toBe(900);
  });

  it("gives no event without data, and none that is not ended", () => {
    expect(new EventParser().push("event: overview\n\ndata: half")).toEqual([]);
  });
});

describe("the back-off", () => {
  it("grows, is bounded, and is not the same for all", () => {
    expect(backOffMs(0, null, () => 1)).toBe(400);
    expect(backOffMs(3, null, () => 1)).toBe(3200);
    expect(backOffMs(50, null, () => 1)).toBe(10_000);
    expect(backOffMs(0, null, () => 0)).toBe(200);
    expect(backOffMs(1, 2000, () => 1)).toBe(4000);
  });
});

describe("a subscription", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const answer = (text: string, status = 200) => new Response(text, { status });
  const handlers = () => ({
    onEvent: vi.fn<(event: ServerEvent) => void>(),
    onConnected: vi.fn<(connected: boolean) => void>(),
    onRefused: vi.fn<(status: number) => void>(),
  });

  it("goes on where it was cut off", async () => {
    const asked: (string | undefined)[] = [];
    const answers = [
      () => answer("id: 41\ndata: a\n\n"),
      () => Promise.reject(new TypeError("gone")),
      () => answer("data: b\n\n"),
    ];
    vi.stubGlobal("fetch", (_: string, init: { headers: Record<string, string> }) => {
      asked.push(init.headers["Last-Event-ID"]);
      const next = answers.shift();
      return next === undefined ? new Promise(() => {}) : Promise.resolve(next());
    });
    const on = handlers();
    const subscription = subscribe("/v1/events", on);
    await vi.advanceTimersByTimeAsync(30_000);
    subscription.close();
    expect(asked.slice(0, 3)).toEqual([undefined, "41", "41"]);
    expect(on.onEvent.mock.calls.map(([event]) => event.data)).toEqual(["a", "b"]);
    expect(on.onConnected.mock.calls.map(([connected]) => connected)).toEqual([true, false, false, true, false]);
  });

  it("does not ask again when it is refused", async () => {
    const fetched = vi.fn(() => Promise.resolve(answer("{}", 401)));
    vi.stubGlobal("fetch", fetched);
    const on = handlers();
    subscribe("/v1/events", on);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(on.onRefused).toHaveBeenCalledWith(401);
    expect(fetched).toHaveBeenCalledTimes(1);
  });

  it("asks again when the server is only busy", async () => {
    const fetched = vi.fn(() => Promise.resolve(answer("{}", 503)));
    vi.stubGlobal("fetch", fetched);
    const on = handlers();
    const subscription = subscribe("/v1/events", on);
    await vi.advanceTimersByTimeAsync(5000);
    subscription.close();
    expect(fetched.mock.calls.length).toBeGreaterThan(1);
    expect(on.onRefused).not.toHaveBeenCalled();
  });

  it("takes a silent connection for a dead one", async () => {
    const fetched = vi.fn(
      (_: string, init: { signal: AbortSignal }) =>
        new Promise<Response>((_resolve, reject) => {
          init.signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
        }),
    );
    vi.stubGlobal("fetch", fetched);
    const subscription = subscribe("/v1/events", handlers());
    await vi.advanceTimersByTimeAsync(46_000);
    subscription.close();
    expect(fetched.mock.calls.length).toBe(2);
  });
});
