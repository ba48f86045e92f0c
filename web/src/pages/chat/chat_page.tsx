import { useEffect, useState } from "react";

import { answerOf, api } from "../../api/client";
import { useResource } from "../../api/resource";
import { setQuery, useLocation } from "../../app/router";
import { useSession } from "../../app/session";
import { Empty, FailureNotice, Loading, PageHead } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { AgentTalk } from "./agent_talk";
import { BlackboardSide } from "./blackboard_side";
import { Conversation } from "./conversation";

export function ChatPage() {
  const { t } = useLanguage();
  const { session } = useSession();
  const { query } = useLocation();
  const partners = useResource("chat partners", () => answerOf(api.GET("/api/chat")));
  const talking = partners.data?.partners.map((one) => one.name) ?? [];
  const partner = query.get("team") ?? talking[0] ?? null;
  const user = query.get("user") ?? session.user ?? "";
  const [turnsEnded, setTurnsEnded] = useState(0);
  useEffect(() => setTurnsEnded(0), [partner, user]);
  const isTeam = partner !== null && !partner.startsWith("agent:");
  return (
    <div className="chat-page">
      <PageHead title={t("chat.title")} lead={t("chat.notice")}>
        {partners.data !== null && (
          <label className="row">
            <span className="faint">{t("chat.with")}</span>
            <select value={partner ?? ""} onChange={(event) => setQuery({ team: event.target.value })}>
              {talking.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        {session.is_admin && <UserField user={user} />}
      </PageHead>
      {partners.error !== null && !partners.error.offline && (
        <FailureNotice failure={partners.error} onRetry={partners.reload} />
      )}
      {partners.data === null && partners.loading && <Loading rows={6} />}
      {partners.data !== null && partner === null && <Empty icon="chat" title={t("chat.nobody")} />}
      {partner !== null && (
        <div className="chat-layout" data-single={!isTeam || undefined}>
          {isTeam ? (
            <Conversation
              key={`${partner} ${user}`}
              team={partner}
              user={user}
              onTurnEnded={() => setTurnsEnded((count) => count + 1)}
            />
          ) : (
            <AgentTalk key={`${partner} ${user}`} agent={partner} user={user} />
          )}
          {isTeam && (
            <BlackboardSide key={`side ${partner} ${user}`} team={partner} user={user} turnsEnded={turnsEnded} />
          )}
        </div>
      )}
    </div>
  );
}

function UserField({ user }: { user: string }) {
  const { t } = useLanguage();
  const [text, setText] = useState(user);
  useEffect(() => setText(user), [user]);
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ user: text.trim() || null });
      }}
    >
      <label className="row">
        <span className="faint">{t("chat.as")}</span>
        <input
          className="short-input"
          value={text}
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
          onBlur={() => setQuery({ user: text.trim() || null })}
        />
      </label>
    </form>
  );
}
