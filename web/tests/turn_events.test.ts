import { describe, expect, it } from "vitest";

import { entryOf, merged, withEntry, withEvent } from "../src/pages/chat/entries";
import type { TurnDetail } from "../src/api/types";
import { after, beginning, isTurnEvent, momentAt, type TurnEvent } from "../src/team/turn_events";

const base = (seq: number, elapsed_s: number) => ({ turn: "t1", seq, elapsed_s, at: "2026-01-05T09:00:00Z" });
const EVENTS: TurnEvent[] = [
  {
    ...base(1, 0),
    type: "turn_started",
    team: "coaching",
    user: "ann",
    session: "s1",
    message: "m1",
    agents: ["coach", "synth"],
  },
  { ...base(2, 0.1), type: "agent_started", agent: "coach", instance: "i1", attempt: 1, prompt_tokens: 90 },
  { ...base(3, 0.1), type: "agent_queued", agent: "synth", waits_for: ["shadow"] },
  { ...base(4, 0.3), type: "agent_first_token", agent: "coach", attempt: 1 },
  { ...base(5, 0.3), type: "agent_delta", agent: "coach", text: "You " },
  { ...base(6, 0.4), type: "agent_delta", agent: "coach", text: "wrote." },
  { ...base(7, 0.5), type: "reply_ready", which: "first", text: "You wrote." },
  {
    ...base(8, 0.6),
    type: "agent_finished",
    agent: "coach",
    status: "done",
    reason: null,
    attempts: 1,
    prompt_tokens: 90,
    cached_tokens: 10,
    output_tokens: 2,
  },
  { ...base(9, 0.6), type: "section_written", section: "first_reply", version: 1, agent: "coach" },
  { ...base(10, 1), type: "reply_ready", which: "full", text: "All of it." },
  { ...base(11, 1.1), type: "turn_finished", status: "complete", reason: null },
];

describe("a moment of a turn", () => {
  it("comes from the events until then", () => {
    const early = momentAt(EVENTS, 0.3);
    expect(early.agents).toMatchObject({ coach: { state: "writing" }, synth: { state: "waiting" } });
    expect(early.firstReply).toBe("You ");
    expect(early.status).toBe("running");
    const late = momentAt(EVENTS, 9);
    expect(late).toMatchObject({
      firstReply: "You wrote.",
      reply: "All of it.",
      status: "complete",
      sections: { first_reply: 1 },
    });
  });

  it("is the same when a resumed stream repeats events", () => {
    const twice = [...EVENTS.slice(0, 6), ...EVENTS.slice(3)];
    expect(twice.reduce(after, beginning())).toEqual(EVENTS.reduce(after, beginning()));
  });

  it("takes the final words over those that streamed", () => {
    const missed = [EVENTS[0], EVENTS[5], EVENTS[6]] as TurnEvent[];
    expect(missed.reduce(after, beginning()).firstReply).toBe("You wrote.");
  });

  it("tells turn events from others", () => {
    expect(isTurnEvent({ type: "reset", reason: "gap" })).toBe(false);
    expect(isTurnEvent(EVENTS[0] as TurnEvent)).toBe(true);
  });
});

describe("a conversation", () => {
  it("takes up turns of this person and team alone", () => {
    const [started] = EVENTS;
    if (started === undefined) throw new Error("no event");
    expect(withEvent([], started, "coaching", "ann")).toHaveLength(1);
    expect(withEvent([], started, "coaching", "bob")).toHaveLength(0);
    expect(withEvent([], started, "other", "ann")).toHaveLength(0);
  });

  it("is the same whether the answer or the first event comes first", () => {
    const typed = { turn: "t1", session: "s1", message: "Hello", at: "2026-01-05T09:00:00Z", moment: beginning() };
    const eventFirst = withEntry(
      EVENTS.slice(0, 5).reduce((entries, event) => withEvent(entries, event, "coaching", "ann"), withEntry([], typed)),
      typed,
    );
    const answerLast = withEntry(
      EVENTS.slice(0, 5).reduce(
        (entries, event) => withEvent(entries, event, "coaching", "ann"),
        [] as ReturnType<typeof withEntry>,
      ),
      typed,
    );
    expect(eventFirst.map((entry) => [entry.message, entry.moment.firstReply])).toEqual([["Hello", "You "]]);
    expect(answerLast.map((entry) => [entry.message, entry.moment.firstReply])).toEqual([["Hello", "You "]]);
  });

  it("shows what is kept, and keeps what is newer in the stream", () => {
    const kept = entryOf({
      turn: "t1",
      session: "s1",
      started_at: "2026-01-05T09:00:00Z",
      status: "running",
      reason: null,
      first_reply: null,
      reply: null,
      events: EVENTS.slice(0, 3),
      messages: [{ id: "m1", role: "person", text: "Hello", at: "2026-01-05T09:00:00Z" }],
    } as unknown as TurnDetail);
    const live = { ...kept, moment: EVENTS.slice(0, 6).reduce(after, beginning()) };
    expect(merged([kept], [live])[0]?.moment.firstReply).toBe("You wrote.");
    expect(merged([kept], [])[0]?.message).toBe("Hello");
  });
});
