import type { TeamShape } from "../src/team/layout";

/** The coaching team's shape, as its team file has it. */
export const COACHING: TeamShape = {
  replies: { first: "first_reply", full: "reply" },
  sections: {},
  agents: {
    coach: { writes: "first_reply", reads: {}, step: 1 },
    shadow: { writes: "shadow", reads: { shadow: { mode: "latest" }, commitments: { mode: "latest" } }, step: 1 },
    persona: { writes: "persona", reads: { persona: { mode: "latest" } }, step: 1 },
    stability: { writes: "stability", reads: { stability: { mode: "latest" } }, step: 1 },
    synth: {
      writes: "reply",
      reads: {
        shadow: { mode: "fresh" },
        persona: { mode: "fresh" },
        stability: { mode: "fresh" },
        first_reply: { mode: "fresh" },
      },
      step: 2,
    },
  },
};
