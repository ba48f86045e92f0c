import { useState } from "react";

import { answerOf, api } from "../../api/client";
import { useEvents } from "../../api/live";
import { useAction, useResource } from "../../api/resource";
import type { AgentNeeds, PlanDocument, PlanRequest } from "../../api/types";
import { useSession } from "../../app/session";
import { Quantity } from "../../components/quantity";
import { Button, Card, Empty, FailureNotice, Field, Loading, Notice, PageHead } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { NeedsTable } from "./needs_table";
import { PlanView } from "./plan_view";

export function PlanPage() {
  const { t } = useLanguage();
  const { session } = useSession();
  const devices = useResource("devices", () => answerOf(api.GET("/api/devices")));
  const teams = useResource("teams", () => answerOf(api.GET("/api/teams")));
  const [team, setTeam] = useState<string | null>(null);
  const [profile, setProfile] = useState("auto");
  const [own, setOwn] = useState("");
  const [swap, setSwap] = useState(false);
  const [ignoreLatency, setIgnoreLatency] = useState(false);
  const [needs, setNeeds] = useState<Record<string, AgentNeeds>>({});
  const [plan, setPlan] = useState<PlanDocument | null>(null);
  const [ended, setEnded] = useState<{ started: boolean; message: string | null } | null>(null);
  const chosen = team ?? teams.data?.teams[0]?.team ?? null;
  const stated = useResource(chosen && `needs ${chosen}`, () =>
    answerOf(api.GET("/api/plan/needs/{team}", { params: { path: { team: chosen ?? "" } } })),
  );
  const solve = useAction(async (changed: Record<string, AgentNeeds>) => {
    const body: PlanRequest = {
      team: chosen ?? "",
      devices: profile === "own" ? own : profile,
      swap,
      min_instances: 1,
      ignore_latency: ignoreLatency,
      limit_s: 30,
      needs: changed,
    };
    setEnded(null);
    setPlan(await answerOf(api.POST("/api/plan", { body })));
  });
  const start = useAction(async () => {
    if (plan === null) return;
    setEnded(null);
    const started = await answerOf(api.POST("/api/plan/start", { body: { plan: plan.plan } }));
    const starting = {
      started: true,
      message: t(started.serves_at_once ? "plan.starting" : "plan.startingElsewhere", {
        instances: started.instances.join(", "),
      }),
    };
    // The event that tells the end can be here before this answer.
    setEnded((known) => known ?? starting);
  });
  useEvents((event) => {
    if (event.type === "plan_start_ended" && event.plan === plan?.plan) {
      setEnded({ started: event.started, message: event.message ?? t("plan.started") });
    }
  });
  return (
    <>
      <PageHead title={t("plan.title")} lead={t("plan.lead")} />
      <div className="stack">
        <Card>
          <form
            className="plan-form"
            onSubmit={(event) => {
              event.preventDefault();
              solve.run(needs);
            }}
          >
            <Field label={t("common.team")}>
              {({ id }) => (
                <select
                  id={id}
                  value={chosen ?? ""}
                  onChange={(event) => {
                    setTeam(event.target.value);
                    setNeeds({});
                    setPlan(null);
                  }}
                >
                  {teamNames(teams.data?.teams.map((one) => one.team) ?? []).map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
              )}
            </Field>
            <Field label={t("plan.devices")}>
              {({ id }) => (
                <select id={id} value={profile} onChange={(event) => setProfile(event.target.value)}>
                  <option value="auto">{t("plan.thisMachine")}</option>
                  {devices.data?.profiles.map((one) => (
                    <option key={one.name} value={one.name} title={one.about}>
                      {one.name} ({one.memory_gib.toFixed(0)} GiB)
                    </option>
                  ))}
                  <option value="own">{t("plan.ownDevices")}</option>
                </select>
              )}
            </Field>
            {profile === "own" && (
              <Field label={t("plan.ownDevicesLabel")} hint={t("plan.ownDevicesHint")}>
                {({ id, describedBy }) => (
                  <input
                    id={id}
                    aria-describedby={describedBy}
                    required
                    maxLength={200}
                    value={own}
                    placeholder="4xA100-80GB"
                    onChange={(event) => setOwn(event.target.value)}
                  />
                )}
              </Field>
            )}
            <label className="choice">
              <input type="checkbox" checked={swap} onChange={(event) => setSwap(event.target.checked)} />
              {t("plan.swap")}
            </label>
            <label className="choice">
              <input
                type="checkbox"
                checked={ignoreLatency}
                onChange={(event) => setIgnoreLatency(event.target.checked)}
              />
              {t("plan.ignoreLatency")}
            </label>
            <Button type="submit" look="primary" icon="plan" busy={solve.running} disabled={chosen === null}>
              {t("plan.make")}
            </Button>
          </form>
          <Detected devices={devices.data} />
        </Card>
        {(devices.error ?? teams.error) !== null && !(devices.error ?? teams.error)?.offline && (
          <FailureNotice failure={(devices.error ?? teams.error)!} onRetry={devices.reload} />
        )}
        {solve.error !== null && <FailureNotice failure={solve.error} />}
        {solve.running && plan === null && <Loading rows={5} />}
        {!solve.running && plan === null && solve.error === null && (
          <Card>
            <Empty icon="plan" title={t("plan.none")}>
              {t("plan.noneHint")}
            </Empty>
          </Card>
        )}
        {plan !== null && (
          <>
            <PlanView plan={plan} stale={solve.running} />
            {session.is_admin && plan.status !== "infeasible" && (
              <Card title={t("plan.startTitle")}>
                <p className="muted">{t("plan.startHint")}</p>
                {start.error !== null && <FailureNotice failure={start.error} />}
                {ended !== null && (
                  <Notice tone={ended.started ? "good" : "bad"} icon={ended.started ? "check" : "alert"}>
                    {ended.message}
                  </Notice>
                )}
                <div>
                  <Button look="primary" icon="play" busy={start.running} onClick={() => start.run()}>
                    {t("plan.start")}
                  </Button>
                </div>
              </Card>
            )}
          </>
        )}
        {stated.data !== null && (
          <NeedsTable
            key={chosen}
            stated={stated.data.needs}
            changed={needs}
            busy={solve.running}
            onChange={(next) => {
              setNeeds(next);
              if (plan !== null) solve.run(next);
            }}
          />
        )}
      </div>
    </>
  );
}

/** The built-in teams can be planned for also where they are not served. */
function teamNames(served: string[]): string[] {
  return [...new Set([...served, "coaching", "engineering"])];
}

function Detected({
  devices,
}: {
  devices: { detected: { name: string; memory_gib: number; free_gib: number | null }[] } | null;
}) {
  const { t } = useLanguage();
  if (devices === null || devices.detected.length === 0) return null;
  return (
    <ul className="row faint" data-api="devices">
      <li>{t("plan.here")}</li>
      {devices.detected.map((device, at) => (
        <li key={at}>
          {device.name}: <Quantity value={device.memory_gib} unit="gib" of={`detected.${at}.memory_gib`} /> (
          <Quantity value={device.free_gib} unit="gib" of={`detected.${at}.free_gib`} /> {t("plan.free")})
        </li>
      ))}
    </ul>
  );
}
