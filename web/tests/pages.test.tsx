import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";

import { SessionProvider } from "../src/app/session";
import { Tabs } from "../src/components/tabs";
import { LanguageProvider } from "../src/i18n/language";
import { Commitments } from "../src/pages/chat/commitments";
import { OverviewPage } from "../src/pages/overview";
import { NeedsTable } from "../src/pages/plan/needs_table";
import { SignInPage } from "../src/pages/sign_in";
import type { BlackboardDetail, TraceAgent } from "../src/api/types";
import { spansOf } from "../src/team/timeline";
import { serve, SESSION } from "./server";

const show = (element: React.ReactNode) =>
  render(
    <LanguageProvider>
      <SessionProvider whileUnknown={() => null}>{element}</SessionProvider>
    </LanguageProvider>,
  );

const OVERVIEW = {
  at: "2026-01-05T09:00:00Z",
  started_at: "2026-01-05T08:00:00Z",
  supervised: true,
  instances: [
    {
      id: "i1",
      model: "small",
      checkpoint: null,
      engine: "vllm",
      state: "ready",
      agents: ["coaching/coach"],
      devices: ["gpu0"],
      predicted_gib: 21.065,
      measured_gib: 20.5,
      running: 2,
      waiting: 1,
      slots: 8,
      prefill_tok_s: 1200,
      decode_tok_s: 61.25,
      first_token_s: 0.25,
      cache_hit_share: 0.83,
      restarts: 0,
      reason: null,
      advice: null,
    },
  ],
  working: [
    { team: "coaching", agent: "coach", state: "writing", turn: "t1", since: "2026-01-05T09:00:00Z", instance: "i1" },
  ],
  totals: {
    turns_running: 1,
    agents_working: 1,
    agents_waiting: 0,
    turns_finished: 41,
    prompt_tokens: 9000,
    cached_tokens: 7000,
    output_tokens: 800,
    requests_running: 2,
    requests_waiting: 1,
  },
};

describe("the overview", () => {
  it("shows the API's numbers", async () => {
    serve({ "GET /api/session": SESSION, "GET /api/overview": OVERVIEW });
    const { container } = show(<OverviewPage />);
    await screen.findByText("On stage");
    const shown = Object.fromEntries(
      [...container.querySelectorAll<HTMLDataElement>("data[data-of]")].map((data) => [
        data.dataset["of"],
        Number(data.value),
      ]),
    );
    expect(shown).toMatchObject({
      "totals.turns_finished": 41,
      "totals.cached_tokens": 7000,
      "instances.i1.predicted_gib": 21.065,
      "instances.i1.measured_gib": 20.5,
      "instances.i1.cache_hit_share": 0.83,
      "instances.i1.waiting": 1,
    });
  });

  it("shows a failure with what to do, and loads again", async () => {
    let fails = true;
    serve({
      "GET /api/session": SESSION,
      "GET /api/overview": () =>
        fails
          ? Response.json(
              { error: { type: "storage", message: "the file is locked", hint: "close the other one" } },
              { status: 503 },
            )
          : Response.json(OVERVIEW),
    });
    show(<OverviewPage />);
    expect((await screen.findByRole("alert")).textContent).toContain("close the other one");
    fails = false;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByText("On stage");
  });
});

describe("signing in", () => {
  it("sends the key, and tells when it is refused", async () => {
    const asked = serve({
      "GET /api/session": { ...SESSION, signed_in: false, needs_keys: true },
      "POST /api/session": () =>
        Response.json({ error: { type: "invalid_key", message: "the key is not valid", hint: null } }, { status: 401 }),
    });
    show(<SignInPage />);
    await userEvent.type(await screen.findByLabelText("Key"), "rk-wrong");
    await userEvent.click(screen.getByRole("button", { name: "Enter" }));
    expect((await screen.findByRole("alert")).textContent).toContain("not valid");
    expect(asked.at(-1)?.body).toEqual({ key: "rk-wrong" });
  });
});

describe("commitments", () => {
  const board = {
    team: "coaching",
    user: "a/b",
    commitments: [
      {
        id: "k1",
        what: "write 30 minutes",
        when: "on Tuesday",
        due: null,
        p: 0.62,
        outcome: "open",
        kind: "single",
        made_in: "m1",
        settled_in: null,
        made_at: "2026-01-05T09:00:00Z",
        settled_at: null,
      },
    ],
  } as unknown as BlackboardDetail;

  it("are settled for the right person, with the token", async () => {
    const asked = serve({
      "GET /api/session": SESSION,
      "POST /api/blackboard/coaching/a%2Fb/commitments/k1/outcome": {},
    });
    let changed = 0;
    show(<Commitments board={board} onChanged={() => (changed += 1)} />);
    const outcomes = await screen.findByRole("group", { name: "What became of: write 30 minutes" });
    await userEvent.click(within(outcomes).getByRole("button", { name: "partly" }));
    await waitFor(() => expect(changed).toBe(1));
    expect(asked.at(-1)).toMatchObject({ body: { outcome: "partly" }, csrf: "token" });
  });
});

describe("needs", () => {
  it("are planned with when the person leaves the field, and not before", async () => {
    serve({ "GET /api/session": SESSION });
    const changes: unknown[] = [];
    const stated = {
      coach: {
        benchmarks: { ifeval: { weight: 2, minimum: null } },
        context_tokens: 8192,
        concurrency: 1,
        tool_calling: false,
        thinking: null,
        max_first_token_s: null,
        min_decode_tok_s: 8,
        importance: 1,
      },
    };
    show(<NeedsTable stated={stated} changed={{}} busy={false} onChange={(next) => changes.push(next)} />);
    const context = await screen.findByLabelText("Context: coach");
    await userEvent.clear(context);
    await userEvent.type(context, "16384");
    expect(changes).toEqual([]);
    await userEvent.tab();
    expect(changes).toEqual([{ coach: { ...stated.coach, context_tokens: 16384 } }]);
    await userEvent.clear(context);
    await userEvent.type(context, "3");
    await userEvent.tab();
    expect(changes).toHaveLength(1);
  });
});

describe("tabs", () => {
  it("are moved through with the arrows", async () => {
    serve({ "GET /api/session": SESSION });
    const tabs = ["one", "two", "three"].map((id) => ({ id, label: id, content: `panel ${id}` }));
    const chosen: string[] = [];
    show(<Tabs label="Tabs" tabs={tabs} current="one" onChange={(id) => chosen.push(id)} />);
    (await screen.findByRole("tab", { name: "one" })).focus();
    await userEvent.keyboard("{ArrowRight}{End}{ArrowLeft}");
    expect(chosen).toEqual(["two", "three", "three"]);
    expect(screen.getByRole("tabpanel").textContent).toBe("panel one");
  });
});

describe("the spans of a timeline", () => {
  const agent = {
    queued_s: 0.5,
    start_s: 2,
    first_token_s: 3,
    end_s: 7,
    tries: [
      { number: 1, instance: "i", start_s: 2, prompt_tokens: 1, first_token_s: 3, end_s: 4 },
      { number: 2, instance: "i", start_s: 5, prompt_tokens: 1, first_token_s: null, end_s: null },
    ],
  } as unknown as TraceAgent;

  it("are waiting, reading and writing, try for try", () => {
    expect(spansOf(agent, 7)).toEqual([
      { from: 0.5, to: 2, look: "waiting" },
      { from: 2, to: 3, look: "prefill" },
      { from: 3, to: 4, look: "decode" },
      { from: 5, to: 7, look: "prefill" },
    ]);
  });

  it("show an agent that never began as waiting", () => {
    const idle = { ...agent, tries: [], start_s: null, end_s: null } as unknown as TraceAgent;
    expect(spansOf(idle, 7)).toEqual([{ from: 0.5, to: 7, look: "waiting" }]);
  });
});
