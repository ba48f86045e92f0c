import type { StreamEvent, TurnDetail } from "../../api/types";
import { after, beginning, isTurnEvent, type TurnEvent, type TurnMoment } from "../../team/turn_events";

/** One message of a person and what came of it, as a conversation shows it. */
export interface Entry {
  turn: string;
  session: string;
  message: string;
  at: string;
  moment: TurnMoment;
}

/** A turn that the server has kept. */
export function entryOf(turn: TurnDetail): Entry {
  const moment = turn.events.reduce(after, beginning());
  const person = turn.messages.find((message) => message.role === "person");
  return {
    turn: turn.turn,
    session: turn.session,
    message: person?.text ?? "",
    at: turn.started_at,
    moment: {
      ...moment,
      // The kept result stands above the stream, whose words are not kept one by one.
      firstReply: turn.first_reply ?? moment.firstReply,
      firstReplyFinal: turn.first_reply !== null || moment.firstReplyFinal,
      reply: turn.reply ?? moment.reply,
      status: turn.status === "running" ? "running" : turn.status === "interrupted" ? "failed" : turn.status,
      reason: turn.reason,
    },
  };
}

/** The conversation after an event of the stream; turns of other people and teams are left out. */
export function withEvent(entries: Entry[], event: StreamEvent, team: string, user: string): Entry[] {
  if (!isTurnEvent(event)) return entries;
  if (event.type === "turn_started") {
    if (event.team !== team || event.user !== user) return entries;
    if (entries.some((entry) => entry.turn === event.turn)) return withMoment(entries, event);
    return withEntry(entries, {
      turn: event.turn,
      session: event.session,
      // The event names the message; its words come with the kept turn, or were typed here.
      message: "",
      at: event.at,
      moment: after(beginning(), event),
    });
  }
  return withMoment(entries, event);
}

function withMoment(entries: Entry[], event: TurnEvent): Entry[] {
  return entries.map((entry) => (entry.turn === event.turn ? { ...entry, moment: after(entry.moment, event) } : entry));
}

/** Add an entry that may be there already: the answer to the request and the first event race. */
export function withEntry(entries: Entry[], entry: Entry): Entry[] {
  const known = entries.find((one) => one.turn === entry.turn);
  if (known === undefined) return [...entries, entry];
  return entries.map((one) => (one === known ? { ...one, message: one.message || entry.message } : one));
}

/** What is kept, with what the stream told that is newer. */
export function merged(kept: Entry[], shown: Entry[]): Entry[] {
  const turns = new Set(kept.map((entry) => entry.turn));
  const newer = kept.map((entry) => {
    const live = shown.find((one) => one.turn === entry.turn);
    return live && entry.moment.status === "running" && live.moment.lastSeq > entry.moment.lastSeq ? live : entry;
  });
  return [...newer, ...shown.filter((entry) => !turns.has(entry.turn))].sort((a, b) => a.at.localeCompare(b.at));
}
