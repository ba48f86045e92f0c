/** The events of a turn, as the server tells them, and what they come to at a moment. */
import type { StreamEvent } from "../api/types";

export type TurnEvent = Extract<StreamEvent, { seq: number }>;

export type AgentEnd = "done" | "failed" | "late" | "skipped" | "fallback";
export type TurnEnd = "complete" | "partial" | "failed";
export type AgentState = "idle" | "waiting" | "reading" | "writing" | AgentEnd;

export interface TurnMoment {
  agents: Record<string, { state: AgentState; outputTokens: number; repairs: number; reason: string | null }>;
  sections: Record<string, number>;
  notice: string;
  /** The Coach's words so far, or as they were when they were final. */
  firstReply: string;
  firstReplyFinal: boolean;
  reply: string | null;
  safety: string | null;
  status: TurnEnd | "running";
  reason: string | null;
  lastSeq: number;
  elapsedS: number;
}

export function beginning(): TurnMoment {
  return {
    agents: {},
    sections: {},
    notice: "",
    firstReply: "",
    firstReplyFinal: false,
    reply: null,
    safety: null,
    status: "running",
    reason: null,
    lastSeq: 0,
    elapsedS: 0,
  };
}

/** The moment after an event. An event that was seen before changes nothing: a resumed stream may repeat some. */
export function after(moment: TurnMoment, event: TurnEvent): TurnMoment {
  if (event.seq > 0 && event.seq <= moment.lastSeq) return moment;
  const next = { ...moment, lastSeq: Math.max(moment.lastSeq, event.seq), elapsedS: event.elapsed_s };
  const change = (agent: string, parts: Partial<TurnMoment["agents"][string]>): TurnMoment => {
    const known = moment.agents[agent] ?? { state: "idle" as const, outputTokens: 0, repairs: 0, reason: null };
    return { ...next, agents: { ...moment.agents, [agent]: { ...known, ...parts } } };
  };
  switch (event.type) {
    case "turn_started":
      return {
        ...next,
        agents: Object.fromEntries(
          event.agents.map((agent) => [agent, { state: "idle" as const, outputTokens: 0, repairs: 0, reason: null }]),
        ),
      };
    case "safety_routed":
      return { ...next, safety: event.level };
    case "notice_shown":
      return { ...next, notice: event.text };
    case "agent_queued":
      return change(event.agent, { state: "waiting" });
    case "agent_started":
      return change(event.agent, { state: "reading" });
    case "agent_first_token":
      return change(event.agent, { state: "writing" });
    case "agent_progress":
      return change(event.agent, { state: "writing", outputTokens: event.output_tokens });
    case "agent_delta":
      return moment.firstReplyFinal ? next : { ...next, firstReply: moment.firstReply + event.text };
    case "agent_repair":
      return change(event.agent, { repairs: (moment.agents[event.agent]?.repairs ?? 0) + 1 });
    case "agent_finished":
      return change(event.agent, { state: event.status, outputTokens: event.output_tokens, reason: event.reason });
    case "section_written":
      return { ...next, sections: { ...moment.sections, [event.section]: event.version } };
    case "reply_ready":
      return event.which === "first"
        ? { ...next, firstReply: event.text, firstReplyFinal: true }
        : { ...next, reply: event.text };
    case "turn_finished":
      return { ...next, status: event.status, reason: event.reason };
    default:
      // Also a kind of event that a newer server tells.
      return next;
  }
}

/** What a turn had come to after so many seconds. */
export function momentAt(events: readonly TurnEvent[], seconds: number): TurnMoment {
  return events.filter((event) => event.elapsed_s <= seconds).reduce(after, beginning());
}

/** Whether a message of the stream belongs to a turn. */
export function isTurnEvent(event: StreamEvent): event is TurnEvent {
  return "seq" in event;
}
