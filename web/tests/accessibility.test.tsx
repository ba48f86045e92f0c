import { render, screen, waitFor } from "@testing-library/react";
import axe from "axe-core";
import { beforeEach, describe, expect, it } from "vitest";

import { App } from "../src/app/app";
import { serve, SESSION } from "./server";
import { COACHING } from "./teams";

const at = "2026-01-05T09:00:00Z";
const needs = {
  benchmarks: { ifeval: { weight: 2, minimum: null } },
  context_tokens: 8192,
  concurrency: 1,
  tool_calling: false,
  thinking: null,
  max_first_token_s: null,
  min_decode_tok_s: 8,
  importance: 1,
};
const board = {
  team: "coaching",
  user: "me",
  memory: "They write a novel.",
  summaries: [],
  sections: {
    persona: {
      section: "persona",
      version: 2,
      turn: "t1",
      agent: "persona",
      evidence: ["m1"],
      at,
      value: { ocean: { openness: { score: 70, low: 50, high: 90 } }, recurring_goals: [{ goal: "write", times: 2 }] },
    },
  },
  commitments: [],
  calibration: { n: 0, bins: [], note: "" },
  sessions: [{ id: "s1", number: 1, started_at: at }],
};
const ANSWERS = {
  "GET /api/session": SESSION,
  "GET /v1/events": () => new Response(new ReadableStream(), { headers: { "Content-Type": "text/event-stream" } }),
  "GET /api/settings": { country: null, language: null, theme: "system" },
  "GET /api/overview": {
    at,
    started_at: at,
    supervised: false,
    instances: [],
    working: [
      { team: "coaching", agent: "coach", state: "writing", turn: "t1", since: at, instance: "i1" },
      { team: "coaching", agent: "synth", state: "waiting", turn: "t1", since: at, instance: null },
    ],
    totals: {
      turns_running: 1,
      agents_working: 1,
      agents_waiting: 1,
      turns_finished: 0,
      prompt_tokens: 0,
      cached_tokens: 0,
      output_tokens: 0,
      requests_running: null,
      requests_waiting: null,
    },
  },
  "GET /api/chat": { partners: [{ name: "coaching", kind: "team", about: "" }] },
  "GET /api/teams": { teams: [{ team: "coaching", description: "", agents: ["coach"], builds: false }] },
  "GET /api/teams/coaching": { team: "coaching", description: "Six agents", deadline_s: 60, schedule: {}, ...COACHING },
  "GET /api/turns": {
    turns: [
      {
        id: "t1",
        team: "coaching",
        user: "me",
        session: "s1",
        number: 1,
        status: "complete",
        safety: "none",
        started_at: at,
        finished_at: at,
        resumes: 0,
      },
    ],
    before: "t0",
  },
  "GET /api/turns/t1": {
    turn: "t1",
    team: "coaching",
    user: "me",
    session: "s1",
    status: "complete",
    reason: null,
    started_at: at,
    first_reply: "You wrote.",
    reply: "You wrote. What is next?",
    events: [],
    messages: [{ id: "m1", role: "person", text: "I wrote.", at }],
  },
  "GET /api/agents": {
    agents: [
      {
        name: "counter",
        live: "counter@1",
        canary: null,
        versions: 1,
        purpose: "Counts",
        tools: ["count"],
        problem: null,
      },
    ],
  },
  "GET /api/agents/counter": {
    name: "counter",
    version: 1,
    agent: "counter@1",
    state: "live",
    digest: "abc",
    signed_by: "def",
    created_at: at,
    purpose: "Counts",
    instructions: "",
    conversation: false,
    tools: [
      {
        name: "count",
        description: "Counts",
        input_schema: { properties: { text: { type: "string" } } },
        output_schema: {},
      },
    ],
    permissions: { state: true },
    needs: null,
    limits: {},
    assumptions: [],
    files: { "tools.py": 12 },
    evidence: {},
    versions: [{ agent: "counter@1", version: 1, state: "live", created_at: at }],
  },
  "GET /api/builds": { builds: [], running: null, available: false, reason: "no sandbox here" },
  "GET /api/blackboard": { blackboards: [{ team: "coaching", user: "me" }] },
  "GET /api/blackboard/coaching/me": board,
  "GET /api/devices": {
    detected: [{ name: "processor", vendor: "cpu", memory_gib: 24, free_gib: 20, how: "system" }],
    profiles: [{ name: "rtx4090", devices: 1, memory_gib: 23.6, about: "" }],
    devices: [],
  },
  "GET /api/plan/needs/coaching": { team: "coaching", needs: { coach: needs }, benchmarks: [] },
  "GET /api/models": {
    files: [
      {
        name: "small",
        file: "small.gguf",
        bytes: 1,
        sha256: "",
        licence: null,
        state: "present",
        source: null,
        context_tokens: null,
        memory_bytes: null,
      },
    ],
    catalog: [
      {
        id: "a/b",
        name: "b",
        family: "",
        licence: "",
        total_b: 1,
        active_b: 1,
        max_context: 1,
        planned: true,
        checkpoints: [],
      },
    ],
  },
  "GET /api/keys": {
    keys: [
      {
        id: "k",
        name: "phone",
        scopes: ["*"],
        user: null,
        requests_per_minute: null,
        tokens_per_minute: null,
        created_at: at,
        expires_at: null,
        revoked_at: null,
        state: "in use",
      },
    ],
  },
};

beforeEach(() => {
  Element.prototype.scrollIntoView = () => {};
});

describe("the structure of each page", () => {
  it.each([
    ["/", "On stage"],
    ["/teams?team=coaching", "Older turns"],
    ["/chat", "What is next?"],
    ["/engineering?agent=counter", "Try it"],
    ["/plan", "What the agents need"],
    ["/models", "small"],
    ["/keys", "phone"],
    ["/settings", "For everybody"],
    ["/nowhere", "No such page"],
  ])("%s has nothing that a screen reader or a keyboard stumbles over", async (path, words) => {
    serve(ANSWERS);
    history.replaceState(null, "", path);
    const { container } = render(<App />);
    await screen.findAllByText(new RegExp(words.replace("?", "\\?")));
    await waitFor(() => expect(container.querySelector(".skeleton")).toBeNull());
    // Colours need a real browser; the browser tests look at them.
    const { violations } = await axe.run(container, { rules: { "color-contrast": { enabled: false } } });
    expect(violations.map((item) => `${item.id}: ${item.nodes.map((node) => node.html).join(" ")}`)).toEqual([]);
  });
});
