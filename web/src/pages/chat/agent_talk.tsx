import { useEffect, useRef, useState } from "react";

import { ApiFailure, failureOf } from "../../api/client";
import { useAction } from "../../api/resource";
import { EventParser } from "../../api/server_events";
import { Markdown } from "../../components/markdown";
import { Empty, FailureNotice } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { Composer } from "./composer";

interface Line {
  role: "user" | "assistant";
  content: string;
}

/** A talk with a deployed agent: it keeps no blackboard, so the talk is what this page holds. */
export function AgentTalk({ agent, user }: { agent: string; user: string }) {
  const { t } = useLanguage();
  const [lines, setLines] = useState<Line[]>([]);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const send = useAction(async (message: string, sent: () => void) => {
    const asked: Line[] = [...lines, { role: "user", content: message }];
    setLines(asked);
    stop.current = new AbortController();
    let answer = "";
    sent();
    for await (const words of answerOfModel(agent, asked, user, stop.current.signal)) {
      answer += words;
      setLines([...asked, { role: "assistant", content: answer }]);
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
          <div key={at} className="entry">
            <div className={line.role === "user" ? "bubble bubble-person" : "bubble bubble-reply"}>
              {line.role === "user" ? <p className="preformatted">{line.content}</p> : <Markdown text={line.content} />}
            </div>
          </div>
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

/** The words of a model's answer as they stream, through the gateway that every other program uses. */
async function* answerOfModel(
  model: string,
  messages: Line[],
  user: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  try {
    const response = await fetch("/v1/chat/completions", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ model, messages, user, stream: true }),
      signal,
    });
    if (!response.ok || response.body === null) {
      throw failureOf(response.status, await response.json().catch(() => null));
    }
    const parser = new EventParser();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const event of parser.push(value)) {
        if (event.data === "[DONE]") return;
        yield wordsOf(JSON.parse(event.data));
      }
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return;
    if (error instanceof TypeError) throw new ApiFailure(0, "offline", error.message, null);
    throw error;
  }
}

interface Chunk {
  choices?: { delta?: { content?: string | null } }[];
  error?: { type: string; message: string };
}

function wordsOf(chunk: Chunk): string {
  if (chunk.error !== undefined) throw new ApiFailure(502, chunk.error.type, chunk.error.message, null);
  return chunk.choices?.[0]?.delta?.content ?? "";
}
