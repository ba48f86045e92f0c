import { answerOf, api } from "../api/client";
import { useEvents } from "../api/live";
import { useResource } from "../api/resource";
import type { AgentAtWork, InstanceLoad } from "../api/types";
import { Link } from "../app/router";
import { useSession } from "../app/session";
import { Quantity, When } from "../components/quantity";
import { Badge, Card, Empty, FailureNotice, Loading, Meter, PageHead, Stat } from "../components/ui";
import { useLanguage } from "../i18n/language";
import { agentStateTone, useStateName } from "../team/states";

export function OverviewPage() {
  const { t } = useLanguage();
  const { session } = useSession();
  const overview = useResource("overview", () => answerOf(api.GET("/api/overview")));
  useEvents((event) => {
    if (event.type === "overview") overview.replace(event.overview);
    // Who is no administrator gets no ticks, and looks again when a turn of theirs moves.
    else if (!session.is_admin && (event.type === "turn_started" || event.type === "turn_ended")) overview.reload();
  });
  const data = overview.data;
  return (
    <>
      <PageHead title={t("overview.title")} lead={t("overview.lead")} />
      {overview.error !== null && !overview.error.offline && (
        <FailureNotice failure={overview.error} onRetry={overview.reload} />
      )}
      {data === null && overview.loading && <Loading rows={5} />}
      {data !== null && (
        <div className="stack" data-api="overview">
          <dl className="stats stats-head">
            <Stat label={t("overview.turnsRunning")}>
              <Quantity value={data.totals.turns_running} unit="count" of="totals.turns_running" />
            </Stat>
            <Stat label={t("overview.agentsWorking")}>
              <Quantity value={data.totals.agents_working} unit="count" of="totals.agents_working" />
            </Stat>
            <Stat label={t("overview.queue")}>
              <Quantity value={data.totals.requests_waiting} unit="count" of="totals.requests_waiting" />
            </Stat>
            <Stat label={t("overview.turnsFinished")}>
              <Quantity value={data.totals.turns_finished} unit="count" of="totals.turns_finished" />
            </Stat>
            <Stat label={t("overview.promptTokens")}>
              <Quantity value={data.totals.prompt_tokens} unit="count" of="totals.prompt_tokens" />
            </Stat>
            <Stat label={t("overview.cachedTokens")}>
              <Quantity value={data.totals.cached_tokens} unit="count" of="totals.cached_tokens" />
            </Stat>
            <Stat label={t("overview.outputTokens")}>
              <Quantity value={data.totals.output_tokens} unit="count" of="totals.output_tokens" />
            </Stat>
          </dl>
          <Card
            title={t("overview.onStage")}
            aside={
              <Badge tone={data.working.length > 0 ? "velvet" : "neutral"} live={data.working.length > 0}>
                {t("overview.live")}
              </Badge>
            }
          >
            {data.working.length === 0 ? (
              <Empty icon="teams" title={t("overview.quiet")}>
                <Link href="/chat">{t("overview.quietLink")}</Link>
              </Empty>
            ) : (
              <Working working={data.working} />
            )}
          </Card>
          {session.is_admin && (
            <section className="stack" aria-labelledby="instances">
              <h2 id="instances">{t("overview.instances")}</h2>
              {data.instances.length === 0 ? (
                <Card>
                  <Empty icon="models" title={t("overview.noInstances")}>
                    <Link href="/plan">{t("overview.noInstancesLink")}</Link>
                  </Empty>
                </Card>
              ) : (
                <div className="grid-cards">
                  {data.instances.map((instance) => (
                    <Instance key={instance.id} instance={instance} />
                  ))}
                </div>
              )}
            </section>
          )}
          <p className="faint">
            {t("overview.since")} <When at={data.started_at} style="full" />
          </p>
        </div>
      )}
    </>
  );
}

function Working({ working }: { working: AgentAtWork[] }) {
  const { t } = useLanguage();
  const stateName = useStateName();
  const turns = new Map<string, AgentAtWork[]>();
  for (const agent of working) turns.set(agent.turn, [...(turns.get(agent.turn) ?? []), agent]);
  return (
    <ul className="stack">
      {[...turns].map(([turn, agents]) => (
        <li key={turn} className="working-turn">
          <p className="row">
            <strong>{agents[0]?.team}</strong>
            <Link
              className="mono"
              href={`/teams?team=${encodeURIComponent(agents[0]?.team ?? "")}&turn=${encodeURIComponent(turn)}`}
            >
              {turn.slice(0, 18)}
            </Link>
          </p>
          <ul className="row">
            {agents.map((agent) => (
              <li key={agent.agent} className="working-agent" data-state={agent.state}>
                <span>{agent.agent.replaceAll("_", " ")}</span>
                <Badge tone={agentStateTone(agent.state)} live={agent.state === "writing"}>
                  {stateName(agent.state)}
                </Badge>
                <span className="faint">
                  {t("overview.sinceShort")} <When at={agent.since} style="time" />
                </span>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function Instance({ instance }: { instance: InstanceLoad }) {
  const { t } = useLanguage();
  const stateName = useStateName();
  const most = Math.max(instance.predicted_gib ?? 0, instance.measured_gib ?? 0);
  const of = (name: string) => `instances.${instance.id}.${name}`;
  return (
    <Card
      level={3}
      className="instance"
      title={instance.id}
      aside={<Badge tone={agentStateTone(instance.state)}>{stateName(instance.state)}</Badge>}
    >
      <p className="break">
        {instance.model} <span className="faint">{instance.engine}</span>
      </p>
      {instance.checkpoint !== null && instance.checkpoint !== instance.model && (
        <p className="faint mono break">{instance.checkpoint}</p>
      )}
      {instance.reason !== null && <p className="break">{instance.reason}</p>}
      {instance.advice !== null && <p className="faint break">{instance.advice}</p>}
      <div className="stack-s">
        <div className="row row-apart">
          <span className="faint">{t("overview.memory")}</span>
          <span>
            <Quantity value={instance.measured_gib} unit="gib" of={of("measured_gib")} />{" "}
            <span className="faint">{t("overview.measured")}</span> ·{" "}
            <Quantity value={instance.predicted_gib} unit="gib" of={of("predicted_gib")} />{" "}
            <span className="faint">{t("overview.predicted")}</span>
          </span>
        </div>
        {most > 0 && (
          <div className="stack-s">
            <Meter total={most} parts={[{ value: instance.measured_gib ?? 0, look: "measured" }]} />
            <Meter total={most} parts={[{ value: instance.predicted_gib ?? 0, look: "plan" }]} />
          </div>
        )}
        <div className="row row-apart">
          <span className="faint">{t("overview.load")}</span>
          <span>
            <Quantity value={instance.running} unit="count" of={of("running")} /> {t("overview.ofSlots")}{" "}
            <Quantity value={instance.slots} unit="count" of={of("slots")} /> ·{" "}
            <Quantity value={instance.waiting} unit="count" of={of("waiting")} />{" "}
            <span className="faint">{t("overview.waiting")}</span>
          </span>
        </div>
        <Meter total={instance.slots ?? 1} parts={[{ value: instance.running ?? 0, look: "load" }]} />
      </div>
      <dl className="stats stats-small">
        <Stat label={t("overview.prefill")}>
          <Quantity value={instance.prefill_tok_s} unit="tok_s" of={of("prefill_tok_s")} />
        </Stat>
        <Stat label={t("overview.decode")}>
          <Quantity value={instance.decode_tok_s} unit="tok_s" of={of("decode_tok_s")} />
        </Stat>
        <Stat label={t("overview.firstToken")}>
          <Quantity value={instance.first_token_s} unit="seconds" of={of("first_token_s")} />
        </Stat>
        <Stat label={t("overview.cacheHits")}>
          <Quantity value={instance.cache_hit_share} unit="percent" of={of("cache_hit_share")} />
        </Stat>
        <Stat label={t("overview.restarts")}>
          <Quantity value={instance.restarts} unit="count" of={of("restarts")} />
        </Stat>
      </dl>
      <p className="faint break">
        {instance.devices.length > 0 && `${instance.devices.join(", ")} · `}
        {instance.agents.join(", ").replaceAll("_", " ")}
      </p>
    </Card>
  );
}
