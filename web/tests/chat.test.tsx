import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";

import { App } from "../src/app/app";
import type { StreamEvent, TalkEvent } from "../src/api/types";
import { serve, SESSION, type Asked } from "./server";

/** The server's stream of events, in the test's hands. */
class Stream {
  private sink: ReadableStreamDefaultController<Uint8Array> | null = null;
  opened = 0;

  answer = (): Response => {
    this.opened += 1;
    const body = new ReadableStream<Uint8Array>({ start: (sink) => void (this.sink = sink) });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  };

  async send(event: StreamEvent): Promise<void> {
    await act(async () => {
      this.sink?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
      await new Promise((resolve) => setTimeout(resolve, 10));
    });
  }

  breakOff(): void {
    this.sink?.close();
  }
}

const at = "2026-01-05T09:00:00Z";
const base = (seq: number) => ({ turn: "t1", seq, elapsed_s: seq / 10, at });

const shared = (stream: Stream) => ({
  "GET /api/session": SESSION,
  "GET /v1/events": stream.answer,
  "GET /api/settings": { country: null, language: null, theme: "system" },
  "GET /api/chat": { partners: [{ name: "coaching", kind: "team", about: "" }] },
  "GET /api/turns": { turns: [], before: null },
  "GET /api/blackboard": { blackboards: [] },
  "POST /api/chat/coaching": () => Response.json({ turn: "t1", session: "s1", user: "me" }, { status: 202 }),
});

beforeEach(() => {
  history.replaceState(null, "", "/chat");
  Element.prototype.scrollIntoView = () => {};
});

async function write(message: string): Promise<void> {
  await userEvent.type(await screen.findByLabelText("Your message"), `${message}{Enter}`);
}

describe("a talk", () => {
  it("shows the first words while the others work, and the full reply after", async () => {
    const stream = new Stream();
    const asked: Asked[] = serve(shared(stream));
    const { container } = render(<App />);
    await write("I will write on Tuesday.");
    await screen.findByText("I will write on Tuesday.");
    const sent = asked.find((request) => request.method === "POST");
    expect(sent).toMatchObject({
      path: "/api/chat/coaching",
      body: { message: "I will write on Tuesday.", user: "me", session: null },
    });
    expect(sent?.csrf).toBe("token");

    await stream.send({
      ...base(1),
      type: "turn_started",
      team: "coaching",
      user: "me",
      session: "s1",
      message: "m1",
      agents: ["coach", "synth"],
    });
    await stream.send({ ...base(2), type: "agent_delta", agent: "coach", text: "You picked " });
    await stream.send({ ...base(3), type: "agent_delta", agent: "coach", text: "a day." });
    await screen.findByText("You picked a day.");
    expect(screen.getByRole("list", { name: "Agents at work" }).children).toHaveLength(2);
    expect(container.querySelector(".bubble-reply")).toBeNull();

    // A resumed stream may tell again what was told before.
    await stream.send({ ...base(3), type: "agent_delta", agent: "coach", text: "a day." });
    await stream.send({
      ...base(4),
      type: "reply_ready",
      which: "full",
      text: "Tuesday it is. What could get in the way?",
    });
    await screen.findByRole("button", { name: "What could get in the way?" });
    expect(screen.getByText("You picked a day.")).toBeTruthy();
  });

  it("shows nothing of other people's turns", async () => {
    const stream = new Stream();
    serve(shared(stream));
    render(<App />);
    await screen.findByText("The curtain is up");
    await waitFor(() => expect(stream.opened).toBe(1));
    await stream.send({
      ...base(1),
      type: "turn_started",
      team: "coaching",
      user: "bob",
      session: "s9",
      message: "m1",
      agents: [],
    });
    await stream.send({ ...base(2), type: "agent_delta", agent: "coach", text: "Hello Bob." });
    expect(screen.queryByText(/Hello Bob/)).toBeNull();
    expect(screen.getByText("The curtain is up")).toBeTruthy();
  });

  it("keeps what was typed when it can not be sent, and sends the same message again", async () => {
    let refused = true;
    const asked = serve({
      ...shared(new Stream()),
      "POST /api/chat/coaching": () =>
        !refused
          ? Response.json({ turn: "t1", session: "s1", user: "me" }, { status: 202 })
          : Response.json(
              { error: { type: "overloaded", message: "too many requests", hint: "wait a minute" } },
              { status: 429 },
            ),
    });
    render(<App />);
    await write("I will write on Tuesday.");
    expect((await screen.findByRole("alert")).textContent).toContain("wait a minute");
    expect(screen.getByLabelText<HTMLTextAreaElement>("Your message").value).toBe("I will write on Tuesday.");
    refused = false;
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    await waitFor(() => expect(screen.getByLabelText<HTMLTextAreaElement>("Your message").value).toBe(""));
    const keys = asked.filter((request) => request.method === "POST").map((request) => request.idempotency);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
  });
});

describe("a talk with a deployed agent", () => {
  const events = (...told: TalkEvent[]) => {
    const text = told.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(text, { headers: { "Content-Type": "text/event-stream" } });
  };
  const partners = {
    "GET /api/chat": {
      partners: [
        { name: "coaching", kind: "team", about: "" },
        { name: "agent:counter", kind: "agent", about: "" },
      ],
    },
  };

  it("sends all that was said, and shows words, tools and why a reply is not whole", async () => {
    const asked = serve({
      ...shared(new Stream()),
      ...partners,
      "POST /api/agents/counter/talk": () =>
        events(
          { type: "tool_used", tool: "count", problem: null },
          { type: "tool_used", tool: "weigh", problem: "ValueError: no scale" },
          { type: "words", text: "Four " },
          { type: "words", text: "words." },
          {
            type: "ended",
            agent: "counter@1",
            status: "partial",
            reason: "a tool had no result",
            prompt_tokens: 1,
            cached_tokens: 0,
            output_tokens: 1,
          },
        ),
    });
    render(<App />);
    await userEvent.selectOptions(await screen.findByLabelText("With"), "agent:counter");
    await write("to be or not");
    await screen.findByText("Four words.");
    expect(screen.getByText("used count")).toBeTruthy();
    expect(screen.getByText(/used weigh: ValueError: no scale/)).toBeTruthy();
    await screen.findByText("a tool had no result");
    await write("Again?");
    await waitFor(() => expect(asked.filter((request) => request.method === "POST")).toHaveLength(2));
    const last = asked.filter((request) => request.method === "POST").at(-1);
    expect(last?.csrf).toBe("token");
    expect(last?.body).toEqual({
      user: "me",
      messages: [
        { role: "user", text: "to be or not" },
        { role: "assistant", text: "Four words." },
        { role: "user", text: "Again?" },
      ],
    });
  });

  it("keeps what was typed when it is refused, and tells what went wrong on the way", async () => {
    let refused = true;
    serve({
      ...shared(new Stream()),
      ...partners,
      "POST /api/agents/counter/talk": () =>
        refused
          ? Response.json({ error: { type: "x", message: "not now", hint: "wait a minute" } }, { status: 503 })
          : events({ type: "failed", error: { type: "engine", message: "the engine is gone", hint: null } }),
    });
    render(<App />);
    await userEvent.selectOptions(await screen.findByLabelText("With"), "agent:counter");
    await write("to be or not");
    expect((await screen.findByRole("alert")).textContent).toContain("wait a minute");
    expect(screen.getByLabelText<HTMLTextAreaElement>("Your message").value).toBe("to be or not");
    refused = false;
    await userEvent.click(screen.getByRole("button", { name: "Send" }));
    await screen.findByText(/the engine is gone/);
    expect(screen.getAllByText("to be or not")).toHaveLength(1);
  });
});

describe("a server that comes back", () => {
  it("is asked again who this is, and for what is shown", async () => {
    const stream = new Stream();
    let token = "first";
    const asked = serve({ ...shared(stream), "GET /api/session": () => Response.json({ ...SESSION, csrf: token }) });
    render(<App />);
    await screen.findByText("The curtain is up");
    await waitFor(() => expect(stream.opened).toBe(1));
    const before = asked.filter((request) => request.path === "/api/turns").length;
    token = "second";
    stream.breakOff();
    await waitFor(() => expect(stream.opened).toBe(2), { timeout: 3000 });
    await waitFor(() =>
      expect(asked.filter((request) => request.path === "/api/turns").length).toBeGreaterThan(before),
    );
    await write("Again.");
    await waitFor(() => expect(asked.find((request) => request.method === "POST")?.csrf).toBe("second"));
  });
});
