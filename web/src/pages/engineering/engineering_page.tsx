import { useState } from "react";

import { answerOf, api } from "../../api/client";
import { useEvents } from "../../api/live";
import { useAction, useResource } from "../../api/resource";
import type { AgentRow, BuildSummary } from "../../api/types";
import { setQuery, useLocation } from "../../app/router";
import { useSession } from "../../app/session";
import { When } from "../../components/quantity";
import { Badge, Button, Card, Empty, FailureNotice, Field, Loading, Notice, PageHead } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { agentStateTone, useStateName } from "../../team/states";
import { AgentView } from "./agent_view";
import { BUILDERS, BuildView } from "./build_view";

export function EngineeringPage() {
  const { t } = useLanguage();
  const { query } = useLocation();
  const build = query.get("build");
  const agent = query.get("agent");
  const { session } = useSession();
  const mayBuild = session.is_admin || session.teams.includes(BUILDERS);
  const builds = useResource(mayBuild ? "builds" : null, () => answerOf(api.GET("/api/builds")));
  const agents = useResource("agents", () => answerOf(api.GET("/api/agents")));
  useEvents((event) => {
    if (event.type !== "build_ended") return;
    builds.reload();
    agents.reload();
  });
  return (
    <>
      <PageHead title={t("engineering.title")} lead={t("engineering.lead")} />
      <div className="stack">
        {builds.error !== null && !builds.error.offline && (
          <FailureNotice failure={builds.error} onRetry={builds.reload} />
        )}
        {build !== null && <BuildView key={build} id={build} />}
        {agent !== null && <AgentView key={agent} name={agent} onChanged={agents.reload} />}
        <div className="columns">
          {mayBuild && (
            <RequestForm
              available={builds.data?.available ?? false}
              reason={builds.data?.reason ?? null}
              running={builds.data?.running ?? null}
              loading={builds.data === null}
              onStarted={builds.reload}
            />
          )}
          <div className="stack">
            <Card title={t("engineering.agents")}>
              {agents.data === null && agents.loading && <Loading />}
              {agents.error !== null && !agents.error.offline && (
                <FailureNotice failure={agents.error} onRetry={agents.reload} />
              )}
              {agents.data !== null && <AgentList agents={agents.data.agents} />}
            </Card>
            {mayBuild && (
              <Card title={t("engineering.builds")}>
                {builds.data === null && builds.loading && <Loading />}
                {builds.data !== null && <BuildList builds={builds.data.builds} />}
              </Card>
            )}
          </div>
        </div>
      </div>
    </>
  );
}

function RequestForm({
  available,
  reason,
  running,
  loading,
  onStarted,
}: {
  available: boolean;
  reason: string | null;
  running: string | null;
  loading: boolean;
  onStarted: () => void;
}) {
  const { t } = useLanguage();
  const [request, setRequest] = useState("");
  const [contract, setContract] = useState("");
  const [minutes, setMinutes] = useState(20);
  const start = useAction(async () => {
    const started = await answerOf(
      api.POST("/api/builds", {
        body: { request, contract: contract.trim() === "" ? null : contract, budget_minutes: minutes },
      }),
    );
    onStarted();
    setQuery({ build: started.build, agent: null });
  });
  return (
    <Card title={t("engineering.request")}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          start.run();
        }}
      >
        <Field label={t("engineering.what")} hint={t("engineering.whatHint")}>
          {({ id, describedBy }) => (
            <textarea
              id={id}
              aria-describedby={describedBy}
              rows={5}
              required
              maxLength={8000}
              value={request}
              onChange={(event) => setRequest(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("engineering.contract")} hint={t("engineering.contractHint")}>
          {({ id, describedBy }) => (
            <textarea
              id={id}
              aria-describedby={describedBy}
              className="mono"
              rows={3}
              maxLength={8000}
              value={contract}
              placeholder="tool: slugify(text: string) -> string"
              onChange={(event) => setContract(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("engineering.budget")}>
          {({ id }) => (
            <input
              id={id}
              className="short-input"
              type="number"
              min={0.1}
              max={600}
              step="any"
              value={minutes}
              onChange={(event) => setMinutes(Number(event.target.value))}
            />
          )}
        </Field>
        {!loading && !available && <Notice tone="warn">{reason ?? t("engineering.unavailable")}</Notice>}
        {running !== null && (
          <Notice>
            {t("engineering.oneAtATime")}{" "}
            <Button small look="quiet" onClick={() => setQuery({ build: running, agent: null })}>
              {t("engineering.showIt")}
            </Button>
          </Notice>
        )}
        {start.error !== null && <FailureNotice failure={start.error} />}
        <div>
          <Button
            type="submit"
            look="primary"
            icon="engineering"
            busy={start.running}
            disabled={!available || running !== null || request.trim() === ""}
          >
            {t("engineering.build")}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function AgentList({ agents }: { agents: AgentRow[] }) {
  const { t } = useLanguage();
  if (agents.length === 0)
    return (
      <Empty icon="engineering" title={t("engineering.noAgents")}>
        {t("engineering.noAgentsHint")}
      </Empty>
    );
  return (
    <ul className="list">
      {agents.map((agent) => (
        <li key={agent.name}>
          <div>
            <strong>{agent.name}</strong> {agent.live !== null && <Badge tone="good">{agent.live}</Badge>}{" "}
            {agent.canary !== null && <Badge tone="warn">{agent.canary}</Badge>}
            <p className="muted break">{agent.problem ?? agent.purpose}</p>
            <p className="faint mono break">{agent.tools.join(", ")}</p>
          </div>
          <Button small onClick={() => setQuery({ agent: agent.name, build: null })}>
            {t("common.open")}
            <span className="visually-hidden"> {agent.name}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

function BuildList({ builds }: { builds: BuildSummary[] }) {
  const { t } = useLanguage();
  const stateName = useStateName();
  if (builds.length === 0) return <Empty icon="plan" title={t("engineering.noBuilds")} />;
  return (
    <ul className="list">
      {builds.map((build) => (
        <li key={build.build}>
          <div>
            <Badge tone={agentStateTone(build.status)} live={build.status === "running"}>
              {stateName(build.status)}
            </Badge>{" "}
            <When at={build.started_at} /> <span className="faint">{build.user}</span>
            <p className="muted break">{build.agent ?? build.why}</p>
          </div>
          <Button small onClick={() => setQuery({ build: build.build, agent: null })}>
            {t("common.open")}
            <span className="visually-hidden"> {build.build}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
