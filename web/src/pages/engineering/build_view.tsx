import { useState } from "react";

import { answerOf, api } from "../../api/client";
import { useEvents } from "../../api/live";
import { useAction, useResource } from "../../api/resource";
import type { BuildDetail } from "../../api/types";
import { Link, setQuery } from "../../app/router";
import { useSession } from "../../app/session";
import { Outline } from "../../components/outline";
import { Quantity, When } from "../../components/quantity";
import { Tabs } from "../../components/tabs";
import { Badge, Button, Card, FailureNotice, IconButton, Loading, Stat } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { agentStateTone, useStateName } from "../../team/states";
import { after, beginning, isTurnEvent, type AgentState, type TurnMoment } from "../../team/turn_events";

/** The team that builds agents. */
export const BUILDERS = "engineering";

/** A build while it runs and after: the nine agents, what they wrote, and what came of it. */
export function BuildView({ id }: { id: string }) {
  const { t } = useLanguage();
  const stateName = useStateName();
  const build = useResource(`build ${id}`, () =>
    answerOf(api.GET("/api/builds/{build}", { params: { path: { build: id } } })),
  );
  const { session } = useSession();
  const team = useResource(session.teams.includes(BUILDERS) ? `team ${BUILDERS}` : null, () =>
    answerOf(api.GET("/api/teams/{team}", { params: { path: { team: BUILDERS } } })),
  );
  const [moment, setMoment] = useState<TurnMoment>(beginning);
  useEvents((event) => {
    if (event.type === "build_ended" && event.build === id) build.reload();
    if (!isTurnEvent(event) || event.turn !== id) return;
    setMoment((known) => after(known, event));
    // What an agent wrote is fetched: the stream tells only that it is there.
    if (event.type === "agent_finished" || event.type === "section_written") build.reload();
  });
  const cancel = useAction(async () => {
    await answerOf(api.POST("/api/builds/{build}/cancel", { params: { path: { build: id } } }));
    build.reload();
  });
  const data = build.data;
  return (
    <Card
      title={t("engineering.aBuild")}
      aside={<IconButton icon="close" label={t("common.close")} onClick={() => setQuery({ build: null })} />}
    >
      {build.error !== null && !build.error.offline && <FailureNotice failure={build.error} onRetry={build.reload} />}
      {data === null && build.loading && <Loading rows={6} />}
      {data !== null && (
        <div className="stack" data-api="build">
          <p className="row">
            <Badge tone={agentStateTone(data.status)} live={data.status === "running"}>
              {stateName(data.status)}
            </Badge>
            <When at={data.started_at} style="full" />
            {data.agent !== null && (
              <Link href={`/engineering?agent=${encodeURIComponent(data.agent.split("@")[0] ?? "")}`}>
                {data.agent}
              </Link>
            )}
            {data.cancellable && (
              <Button small look="danger" icon="stop" busy={cancel.running} onClick={() => cancel.run()}>
                {t("common.cancel")}
              </Button>
            )}
          </p>
          {cancel.error !== null && <FailureNotice failure={cancel.error} />}
          {data.request !== null && <p className="preformatted why-sentence">{data.request}</p>}
          {data.why !== null && <p className="break">{data.why}</p>}
          <Board agents={Object.keys(team.data?.agents ?? {})} build={data} moment={moment} />
          <dl className="stats">
            <Stat label={t("engineering.tests")}>
              <Quantity value={data.tests?.passed} unit="count" of="tests.passed" /> /{" "}
              <Quantity value={data.tests?.written} unit="count" of="tests.written" />
            </Stat>
            <Stat label={t("engineering.candidates")}>
              <Quantity value={data.candidates} of="candidates" unit="count" />
            </Stat>
            <Stat label={t("engineering.tokens")}>
              <Quantity value={data.tokens} of="tokens" unit="count" />
            </Stat>
            <Stat label={t("engineering.seconds")}>
              <Quantity value={data.seconds} of="seconds" unit="seconds" />
            </Stat>
          </dl>
          <BuildSections build={data} />
        </div>
      )}
    </Card>
  );
}

/** The nine agents as a board: what each does now, and what its calls took. */
function Board({ agents, build, moment }: { agents: string[]; build: BuildDetail; moment: TurnMoment }) {
  const { t } = useLanguage();
  const stateName = useStateName();
  const names = agents.length > 0 ? agents : [...new Set(build.steps.map((step) => step.agent))];
  return (
    <ul className="board" aria-label={t("engineering.board")}>
      {names.map((name) => {
        const steps = build.steps.filter((step) => step.agent === name);
        const live = build.status === "running" ? moment.agents[name]?.state : undefined;
        const state: AgentState | string = live ?? steps.at(-1)?.status ?? "idle";
        return (
          <li key={name} className="board-agent" data-state={state}>
            <strong>{name.replaceAll("_", " ")}</strong>
            <Badge tone={agentStateTone(state)} live={state === "writing"}>
              {stateName(state)}
            </Badge>
            <span className="faint">
              {t("engineering.calls", { count: steps.length })} ·{" "}
              <Quantity value={steps.reduce((sum, step) => sum + step.seconds, 0)} unit="seconds" of={null} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function BuildSections({ build }: { build: BuildDetail }) {
  const { t } = useLanguage();
  const names = Object.keys(build.sections);
  const [current, setCurrent] = useState("");
  if (names.length === 0) return null;
  return (
    <Tabs
      label={t("engineering.written")}
      current={current === "" ? (names[0] ?? "") : current}
      onChange={setCurrent}
      tabs={names.map((name) => ({
        id: name,
        label: name.replaceAll("_", " "),
        content: <SectionText value={build.sections[name]?.["value"]} of={`sections.${name}.value`} />,
      }))}
    />
  );
}

function SectionText({ value, of }: { value: unknown; of: string }) {
  const source = typeof value === "string" ? value : null;
  if (source !== null) {
    return (
      <pre className="code" tabIndex={0}>
        <code>{source}</code>
      </pre>
    );
  }
  return <Outline value={value} of={of} />;
}
