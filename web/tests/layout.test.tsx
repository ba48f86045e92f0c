import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { LanguageProvider } from "../src/i18n/language";
import { layoutTeam, type GraphNode, type TeamShape } from "../src/team/layout";
import { TeamGraph } from "../src/team/team_graph";
import { beginning } from "../src/team/turn_events";
import { COACHING } from "./teams";

const overlap = (a: GraphNode, b: GraphNode) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const chain = (length: number): TeamShape => ({
  replies: {},
  sections: {},
  agents: Object.fromEntries(
    Array.from({ length }, (_, at) => [
      `a${at}`,
      { writes: `s${at}`, reads: at === 0 ? {} : { [`s${at - 1}`]: { mode: "fresh" } }, step: at + 1 },
    ]),
  ),
});

describe.each([
  ["coaching", COACHING],
  ["a chain", chain(9)],
  ["one agent", chain(1)],
])("the graph of %s", (_, team) => {
  const graph = layoutTeam(team);
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));

  it("has every agent, its section, and every read", () => {
    const reads = Object.values(team.agents).flatMap((agent) => Object.keys(agent.reads)).length;
    expect(graph.edges).toHaveLength(reads + Object.keys(team.agents).length);
    for (const name of Object.keys(team.agents)) expect(byId.has(`agent:${name}`)).toBe(true);
  });

  it("goes from left to right", () => {
    for (const edge of graph.edges) {
      const from = byId.get(edge.from);
      const to = byId.get(edge.to);
      expect((from?.x ?? 0) + (from?.width ?? 0)).toBeLessThan(to?.x ?? 0);
    }
  });

  it("lies within its frame, and nothing lies on anything", () => {
    for (const node of graph.nodes) {
      expect(node.x).toBeGreaterThanOrEqual(0);
      expect(node.x + node.width).toBeLessThanOrEqual(graph.width);
      expect(node.y + node.height).toBeLessThanOrEqual(graph.height);
    }
    const pairs = graph.nodes.flatMap((a, at) => graph.nodes.slice(at + 1).map((b) => [a, b] as const));
    expect(pairs.filter(([a, b]) => overlap(a, b))).toEqual([]);
  });
});

it("draws a team without agents", () => {
  expect(layoutTeam({ agents: {}, sections: {}, replies: {} }).nodes).toEqual([]);
});

it("says in words what it draws, and shows the state of each agent", () => {
  const moment = {
    ...beginning(),
    agents: { shadow: { state: "writing" as const, outputTokens: 3, repairs: 0, reason: null } },
  };
  const { container } = render(
    <LanguageProvider>
      <TeamGraph team={COACHING} name="coaching" moment={moment} />
    </LanguageProvider>,
  );
  expect(
    screen.getByText(
      "synth reads shadow (fresh), persona (fresh), stability (fresh), first_reply (fresh) and writes reply",
    ),
  ).toBeTruthy();
  const states = [...container.querySelectorAll(".node-agent")].map(
    (node) => `${node.textContent} ${node.getAttribute("data-state")}`,
  );
  expect(states).toContain("shadow writing");
  expect(states).toContain("coach idle");
});
