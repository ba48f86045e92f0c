import { useCallback, useEffect, useRef, useState } from "react";

import { answerOf, api } from "../../api/client";
import { useEvents } from "../../api/live";
import { useAction, useResource } from "../../api/resource";
import { Link } from "../../app/router";
import { Markdown } from "../../components/markdown";
import { When } from "../../components/quantity";
import { Badge, Empty, FailureNotice, Loading } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { agentStateTone, useStateName } from "../../team/states";
import { beginning } from "../../team/turn_events";
import { Composer } from "./composer";
import { entryOf, merged, withEntry, withEvent, type Entry } from "./entries";
import { WhyDialog } from "./why_dialog";

const SHOWN_TURNS = 8;

export function Conversation({ team, user, onTurnEnded }: { team: string; user: string; onTurnEnded: () => void }) {
  const { t } = useLanguage();
  const [entries, setEntries] = useState<Entry[]>([]);
  const [session, setSession] = useState<string | null | undefined>(undefined);
  const [asked, setAsked] = useState<string | null>(null);
  const kept = useResource(`conversation ${team} ${user}`, async () => {
    const page = await answerOf(api.GET("/api/turns", { params: { query: { team, user, limit: SHOWN_TURNS } } }));
    const turns = await Promise.all(
      page.turns.map((turn) => answerOf(api.GET("/api/turns/{turn}", { params: { path: { turn: turn.id } } }))),
    );
    return turns.reverse().map(entryOf);
  });
  useEffect(() => {
    const found = kept.data;
    if (found !== null) setEntries((shown) => merged(found, shown));
  }, [kept.data]);
  useEvents((event) => {
    setEntries((shown) => withEvent(shown, event, team, user));
    if (event.type === "turn_ended" && entries.some((entry) => entry.turn === event.turn)) {
      // What is kept stands above what was streamed, and a cancelled turn has no last event of its own.
      kept.reload();
      onTurnEnded();
    }
  });

  const current = session === undefined ? (entries.at(-1)?.session ?? null) : session;
  const running = entries.find((entry) => entry.moment.status === "running");
  // A message that is sent again because no answer came is the same message.
  const attempt = useRef({ message: "", key: "" });
  const send = useAction(async (message: string, sent: () => void) => {
    if (attempt.current.message !== message) attempt.current = { message, key: randomKey() };
    const started = await answerOf(
      api.POST("/api/chat/{team}", {
        params: { path: { team }, header: { "Idempotency-Key": attempt.current.key } },
        body: { message, user, session: current },
      }),
    );
    attempt.current = { message: "", key: "" };
    sent();
    setSession(started.session);
    const at = new Date().toISOString();
    setEntries((shown) =>
      withEntry(shown, { turn: started.turn, session: started.session, message, at, moment: beginning() }),
    );
  });
  const cancel = useAction(async (turn: string) => {
    await answerOf(api.POST("/api/turns/{turn}/cancel", { params: { path: { turn } } }));
  });

  const end = useRef<HTMLDivElement>(null);
  const words = entries.at(-1)?.moment;
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [entries.length, words?.firstReply, words?.reply]);
  const askWhy = useCallback((sentence: string) => setAsked(sentence), []);

  return (
    <section className="conversation card" aria-label={t("chat.conversation")}>
      <div className="messages" role="log" aria-live="polite" tabIndex={0} aria-label={t("chat.conversation")}>
        {kept.error !== null && !kept.error.offline && <FailureNotice failure={kept.error} onRetry={kept.reload} />}
        {entries.length === 0 && kept.loading && <Loading rows={4} />}
        {entries.length === 0 && !kept.loading && (
          <Empty icon="chat" title={t("chat.empty")}>
            {t("chat.emptyHint")}
          </Empty>
        )}
        {entries.map((entry, at) => (
          <EntryView
            key={entry.turn}
            entry={entry}
            team={team}
            newSession={at > 0 && entries[at - 1]?.session !== entry.session}
            onWhy={askWhy}
          />
        ))}
        <div ref={end} />
      </div>
      {send.error !== null && <FailureNotice failure={send.error} />}
      {cancel.error !== null && <FailureNotice failure={cancel.error} />}
      <Composer
        busy={send.running}
        onSend={send.run}
        onNewSession={current === null ? null : () => setSession(null)}
        onStop={running === undefined ? null : () => cancel.run(running.turn)}
      />
      {asked !== null && <WhyDialog team={team} user={user} sentence={asked} onClose={() => setAsked(null)} />}
    </section>
  );
}

/** Made without `randomUUID`, which browsers have for secure addresses only. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function EntryView({
  entry,
  team,
  newSession,
  onWhy,
}: {
  entry: Entry;
  team: string;
  newSession: boolean;
  onWhy: (sentence: string) => void;
}) {
  const { t } = useLanguage();
  const stateName = useStateName();
  const { moment } = entry;
  const running = moment.status === "running";
  // In a team with one reply only, the words that stream are the reply's own.
  const streamed = moment.firstReply !== "" && moment.firstReply !== moment.reply;
  return (
    <article className="entry" data-turn={entry.turn} data-status={moment.status}>
      {newSession && <p className="session-line">{t("chat.newSessionLine")}</p>}
      <div className="bubble bubble-person">
        {entry.message !== "" && <p className="preformatted">{entry.message}</p>}
        <p className="faint">
          <When at={entry.at} />
        </p>
      </div>
      {moment.notice !== "" && !moment.firstReply.startsWith(moment.notice) && (
        <p className="bubble bubble-notice">{moment.notice}</p>
      )}
      {streamed && (
        <div className="bubble bubble-first" data-final={moment.firstReplyFinal || undefined}>
          <p className="who">{moment.firstReplyFinal ? t("chat.atOnce") : team}</p>
          <Markdown text={moment.firstReply} />
        </div>
      )}
      {running && <AtWork entry={entry} />}
      {moment.reply !== null && moment.reply !== "" && (
        <div className="bubble bubble-reply">
          {streamed && <p className="who">{t("chat.thoughtOver")}</p>}
          <Markdown text={moment.reply} onSentence={onWhy} />
          <p className="faint">{t("chat.whyHint")}</p>
        </div>
      )}
      {!running && moment.status !== "complete" && (
        <p className="row">
          <Badge tone={agentStateTone(moment.status)}>{stateName(moment.status)}</Badge>
          <span className="muted">{moment.reason}</span>
        </p>
      )}
      {!running && (
        <p className="faint">
          <Link href={`/teams?team=${encodeURIComponent(team)}&turn=${encodeURIComponent(entry.turn)}`}>
            {t("chat.timeline")}
          </Link>
        </p>
      )}
    </article>
  );
}

/** Who is at work while the person waits. */
function AtWork({ entry }: { entry: Entry }) {
  const { t } = useLanguage();
  const stateName = useStateName();
  return (
    <ul className="at-work" aria-label={t("chat.atWork")} aria-live="off">
      {Object.entries(entry.moment.agents).map(([agent, { state }]) => (
        <li key={agent} data-state={state}>
          <span className="state-dot" aria-hidden="true" /> {agent.replaceAll("_", " ")}
          <span className="visually-hidden">: {stateName(state)}</span>
        </li>
      ))}
    </ul>
  );
}
