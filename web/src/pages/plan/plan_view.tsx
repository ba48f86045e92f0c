import type { PlanDevice, PlanDocument, PlanInstance } from "../../api/types";
import { Quantity } from "../../components/quantity";
import { Badge, Card, Meter, Notice, Stat } from "../../components/ui";
import { useLanguage } from "../../i18n/language";

const PARTS = ["weights", "kv", "activation", "graphs", "overhead"] as const;

export function PlanView({ plan, stale }: { plan: PlanDocument; stale: boolean }) {
  const { t } = useLanguage();
  const tone = plan.status === "optimal" ? "good" : plan.status === "feasible" ? "warn" : "bad";
  return (
    <div className="stack" data-stale={stale || undefined} aria-busy={stale} data-api="plan">
      <Card
        title={t("plan.casting", { team: plan.team, devices: plan.devices })}
        aside={<Badge tone={tone}>{t(`plan.${plan.status}`)}</Badge>}
      >
        {plan.status !== "infeasible" && (
          <dl className="stats">
            <Stat label={t("plan.firstToken")}>
              <Quantity value={plan.turn.first_token_s} unit="seconds" of="turn.first_token_s" />
            </Stat>
            <Stat label={t("plan.firstReply")}>
              <Quantity value={plan.turn.first_reply_s} unit="seconds" of="turn.first_reply_s" />
            </Stat>
            <Stat
              label={t("plan.reply")}
              note={
                plan.turn.reply_s_range !== null && (
                  <>
                    <Quantity value={plan.turn.reply_s_range[0]} unit="seconds" of="turn.reply_s_range.0" />–
                    <Quantity value={plan.turn.reply_s_range[1]} unit="seconds" of="turn.reply_s_range.1" />
                  </>
                )
              }
            >
              <Quantity value={plan.turn.reply_s} unit="seconds" of="turn.reply_s" />
            </Stat>
            <Stat label={t("plan.score")}>
              <Quantity value={plan.score} of="score" />
            </Stat>
            <Stat label={t("plan.solved")}>
              <Quantity value={plan.solve_s} unit="seconds" of="solve_s" />
            </Stat>
            {plan.status === "feasible" && (
              <Stat label={t("plan.gap")}>
                <Quantity value={plan.gap} unit="percent" of="gap" />
              </Stat>
            )}
          </dl>
        )}
        {plan.notes.length > 0 && (
          <ul className="bullets">
            {plan.notes.map((note, at) => (
              <li key={at} className="break">
                {note}
              </li>
            ))}
          </ul>
        )}
        {plan.status === "infeasible" && <Notice tone="warn">{t("plan.infeasibleHint")}</Notice>}
      </Card>
      {plan.status !== "infeasible" && (
        <>
          <Card title={t("plan.memory")}>
            <ul className="stack">
              {plan.memory.map((device, at) => (
                <DeviceBar
                  key={device.device}
                  device={device}
                  instances={plan.instances.filter((instance) => instance.devices.includes(device.device))}
                  of={`memory.${at}`}
                />
              ))}
            </ul>
            <ul className="legend" aria-hidden="true">
              {PARTS.map((part) => (
                <li key={part}>
                  <i className={`meter-${part}`} /> {t(`plan.${part}`)}
                </li>
              ))}
            </ul>
          </Card>
          <Card title={t("plan.agents")}>
            <div className="table-scroll" tabIndex={0} role="group" aria-label={t("plan.agents")}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{t("common.agent")}</th>
                    <th scope="col">{t("plan.playsOn")}</th>
                    <th scope="col" className="number">
                      {t("plan.score")}
                    </th>
                    <th scope="col">{t("plan.why")}</th>
                    <th scope="col">{t("plan.nextBest")}</th>
                  </tr>
                </thead>
                <tbody>
                  {Object.entries(plan.agents).map(([name, agent]) => (
                    <tr key={name}>
                      <th scope="row">{name.replaceAll("_", " ")}</th>
                      <td className="break">
                        {agent.model} <Badge>{agent.instance}</Badge>
                        <p className="faint">
                          {agent.benchmark.replaceAll("_", " ")}
                          {agent.thinking === true && ` · ${t("plan.thinking")}`}
                        </p>
                      </td>
                      <td className="number">
                        <Quantity value={agent.score} of={`agents.${name}.score`} />
                      </td>
                      <td className="why-cell">{agent.why}</td>
                      <td className="break">
                        <NextBest value={agent.next_best} of={`agents.${name}.next_best`} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </Card>
          <div className="grid-cards">
            {plan.instances.map((instance, at) => (
              <InstanceCard key={instance.id} instance={instance} of={`instances.${at}`} />
            ))}
          </div>
        </>
      )}
    </div>
  );
}

function NextBest({ value, of }: { value: Record<string, unknown> | null; of: string }) {
  const { t } = useLanguage();
  if (value === null) return <Quantity value={null} of={of} />;
  const number = (name: string) => (typeof value[name] === "number" ? value[name] : null);
  return (
    <>
      {String(value["model"])} <span className="faint">{String(value["format"])}</span>
      <p className="faint">
        <Quantity value={number("score_change")} of={`${of}.score_change`} /> {t("plan.points")} · +
        <Quantity value={number("extra_gib")} unit="gib" of={`${of}.extra_gib`} /> ·{" "}
        {t(value["fits_beside"] === true ? "plan.fits" : "plan.doesNotFit")}
      </p>
    </>
  );
}

function DeviceBar({ device, instances, of }: { device: PlanDevice; instances: PlanInstance[]; of: string }) {
  const { t } = useLanguage();
  const resident = instances.filter((instance) => instance.resident);
  // Those that sleep share the place of the largest one.
  const sleeper = instances
    .filter((instance) => !instance.resident)
    .sort((a, b) => b.memory.total_gib - a.memory.total_gib)[0];
  const shown = sleeper === undefined ? resident : [...resident, sleeper];
  return (
    <li className="stack-s">
      <div className="row row-apart">
        <span>
          <strong>{device.device}</strong> <span className="faint">{device.name}</span>
        </span>
        <span>
          <Quantity value={device.used_gib} unit="gib" of={`${of}.used_gib`} /> /{" "}
          <Quantity value={device.total_gib} unit="gib" of={`${of}.total_gib`} />{" "}
          <span className="faint">
            ({t("plan.budget")} <Quantity value={device.budget_gib} unit="gib" of={`${of}.budget_gib`} />)
          </span>
        </span>
      </div>
      <Meter
        total={device.total_gib}
        parts={shown.flatMap((instance) =>
          PARTS.map((part) => ({ value: instance.memory[`${part}_gib`], look: part })),
        )}
      />
    </li>
  );
}

function InstanceCard({ instance, of }: { instance: PlanInstance; of: string }) {
  const { t } = useLanguage();
  return (
    <Card
      level={3}
      title={`${instance.id} · ${instance.engine}`}
      aside={instance.resident ? null : <Badge tone="warn">{t("plan.swaps")}</Badge>}
    >
      <p className="break">{instance.model}</p>
      <p className="faint mono break">
        {instance.checkpoint} · {instance.format}
      </p>
      <dl className="stats stats-small">
        <Stat label={t("plan.memoryEach")}>
          <Quantity value={instance.memory.total_gib} unit="gib" of={`${of}.memory.total_gib`} />
        </Stat>
        <Stat label={t("plan.prefill")}>
          <Quantity value={instance.speed.prefill_tok_s} unit="tok_s" of={`${of}.speed.prefill_tok_s`} />
        </Stat>
        <Stat label={t("plan.decode")}>
          <Quantity value={instance.speed.decode_tok_s} unit="tok_s" of={`${of}.speed.decode_tok_s`} />
        </Stat>
        <Stat label={t("plan.context")}>
          <Quantity value={instance.context} unit="count" of={`${of}.context`} />
        </Stat>
        <Stat label={t("plan.slots")}>
          <Quantity value={instance.slots} unit="count" of={`${of}.slots`} />
        </Stat>
        {instance.wake_s !== null && (
          <Stat label={t("plan.wake")}>
            <Quantity value={instance.wake_s} unit="seconds" of={`${of}.wake_s`} />
          </Stat>
        )}
      </dl>
      <p className="faint break">{instance.agents.join(", ").replaceAll("_", " ")}</p>
      <details className="section-view">
        <summary>{t("plan.command")}</summary>
        <pre className="code" tabIndex={0}>
          <code>{instance.command.map(shellWord).join(" ")}</code>
        </pre>
      </details>
    </Card>
  );
}

/** A word of a command as a shell would need it to be written. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
