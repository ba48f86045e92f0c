import { useEffect, useRef, useState } from "react";

import { answerOf, api, ApiFailure } from "../../api/client";
import { useAction } from "../../api/resource";
import { EventParser } from "../../api/server_events";
import type { TalkEvent } from "../../api/types";
import { Markdown } from "../../components/markdown";
import { Badge, Empty, FailureNotice } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { agentStateTone, useStateName } from "../../team/states";
import { Composer } from "./composer";

interface Line {
  role: "user" | "assistant";
  text: string;
  /** The tools that the agent used on the way, each with why it gave no result. */
  tools: { tool: string; problem: string | null }[];
  end: Extract<TalkEvent, { type: "ended" }> | null;
}

const lineOf = (role: Line["role"], text: string): Line => ({ role, text, tools: [], end: null });

/** A talk with a deployed agent: it keeps no blackboard, so the talk is what this page holds. */
export function AgentTalk({ agent, user }: { agent: string; user: string }) {
  const { t } = useLanguage();
  const [lines, setLines] = useState<Line[]>([]);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const send = useAction(async (message: string, sent: () => void) => {
    const asked = [...lines, lineOf("user", message)];
    setLines(asked);
    stop.current = new AbortController();
    let reply: ReadableStream<Uint8Array> | null;
    try {
      reply = await talk(agent, asked, user, stop.current.signal);
    } catch (error) {
      setLines(lines); // it was not taken, and what was typed still stands below
      throw error;
    }
    sent();
    if (reply === null) return;
    let answer = lineOf("assistant", "");
    for await (const event of eventsOf(reply)) {
      if (event.type === "failed") throw new ApiFailure(502, event.error.type, event.error.message, event.error.hint);
      answer = after(answer, event);
      setLines([...asked, answer]);
    }
  });
  return (
    <section className="conversation card" aria-label={t("chat.conversation")}>
      <div className="messages" role="log" aria-live="polite" tabIndex={0} aria-label={t("chat.conversation")}>
        {lines.length === 0 && (
          <Empty icon="chat" title={t("chat.empty")}>
            {t("chat.agentHint", { agent })}
          </Empty>
        )}
        {lines.map((line, at) => (
          <LineView key={at} line={line} />
        ))}
      </div>
      {send.error !== null && <FailureNotice failure={send.error} />}
      <Composer
        busy={send.running}
        onSend={send.run}
        onNewSession={lines.length === 0 ? null : () => setLines([])}
        onStop={send.running ? () => stop.current?.abort() : null}
      />
    </section>
  );
}

function LineView({ line }: { line: Line }) {
  const { t } = useLanguage();
  const stateName = useStateName();
  return (
    <div className="entry" data-status={line.end?.status}>
      {line.tools.map((use, at) => (
        <p key={at} className="faint break">
          {t("chat.usedTool", { tool: use.tool })}
          {use.problem !== null && `: ${use.problem}`}
        </p>
      ))}
      <div className={line.role === "user" ? "bubble bubble-person" : "bubble bubble-reply"}>
        {line.role === "user" ? <p className="preformatted">{line.text}</p> : <Markdown text={line.text} />}
      </div>
      {line.end !== null && line.end.status !== "complete" && (
        <p className="row">
          <Badge tone={agentStateTone(line.end.status)}>{stateName(line.end.status)}</Badge>
          <span className="muted break">{line.end.reason}</span>
        </p>
      )}
    </div>
  );
}

/** A line after one more event of the reply. */
function after(line: Line, event: Exclude<TalkEvent, { type: "failed" }>): Line {
  switch (event.type) {
    case "words":
      return { ...line, text: line.text + event.text };
    case "tool_used":
      return { ...line, tools: [...line.tools, { tool: event.tool, problem: event.problem }] };
    case "ended":
      return { ...line, end: event };
  }
}

/** Sends the talk; the stream of the reply, or null when the person stopped it before it began. */
async function talk(
  agent: string,
  lines: Line[],
  user: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | null> {
  const messages = lines.map(({ role, text }) => ({ role, text }));
  try {
    return await answerOf(
      api.POST("/api/agents/{name}/talk", {
        params: { path: { name: agent.replace(/^agent:/, "") } },
        body: { messages, user },
        parseAs: "stream",
        signal,
      }),
    );
  } catch (error) {
    if (isStopped(error)) return null;
    throw error;
  }
}

async function* eventsOf(reply: ReadableStream<Uint8Array>): AsyncGenerator<TalkEvent> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = reply.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const event of parser.push(decoder.decode(value, { stream: true }))) {
        yield JSON.parse(event.data) as TalkEvent;
      }
    }
  } catch (error) {
    if (isStopped(error)) return;
    if (error instanceof TypeError) throw new ApiFailure(0, "offline", error.message, null);
    throw error;
  }
}

function isStopped(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
