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
  const teams = useResource("teams", () => answerOf(api.GET("/api/teams")));
  // The gateway takes a key and no cookie, so that agents can be talked to here only where no keys are needed.
  const agents = useResource(session.needs_keys ? null : "talking agents", loadTalkingAgents);
  const talking = [
    ...(teams.data?.teams.filter((team) => !team.builds).map((team) => team.team) ?? []),
    ...(agents.data ?? []),
  ];
  const partner = query.get("team") ?? talking[0] ?? null;
  const user = query.get("user") ?? session.user ?? "";
  const [turnsEnded, setTurnsEnded] = useState(0);
  useEffect(() => setTurnsEnded(0), [partner, user]);
  const isTeam = partner !== null && !partner.startsWith("agent:");
  return (
    <div className="chat-page">
      <PageHead title={t("chat.title")} lead={t("chat.notice")}>
        {teams.data !== null && (
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
      {teams.error !== null && !teams.error.offline && <FailureNotice failure={teams.error} onRetry={teams.reload} />}
      {teams.data === null && teams.loading && <Loading rows={6} />}
      {teams.data !== null && partner === null && <Empty icon="chat" title={t("chat.nobody")} />}
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

/** The deployed agents that hold a conversation, as the gateway calls them. */
async function loadTalkingAgents(): Promise<string[]> {
  const { agents } = await answerOf(api.GET("/api/agents"));
  const live = agents.filter((agent) => agent.live !== null && agent.problem === null);
  const details = await Promise.all(
    live.map((agent) => answerOf(api.GET("/api/agents/{name}", { params: { path: { name: agent.name } } }))),
  );
  return details.filter((agent) => agent.conversation).map((agent) => `agent:${agent.name}`);
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
