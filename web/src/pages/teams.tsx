import { useEffect, useMemo, useState } from "react";

import { answerOf, api } from "../api/client";
import { useEvents } from "../api/live";
import { useAction, useResource } from "../api/resource";
import type { TurnDetail, TurnSummary } from "../api/types";
import { setQuery, useLocation } from "../app/router";
import { Quantity, When } from "../components/quantity";
import { Badge, Button, Card, Empty, FailureNotice, IconButton, Loading, Notice, PageHead } from "../components/ui";
import { useLanguage } from "../i18n/language";
import { agentStateTone, useStateName } from "../team/states";
import { TeamGraph } from "../team/team_graph";
import { Timeline } from "../team/timeline";
import { after, beginning, isTurnEvent, momentAt, type TurnMoment } from "../team/turn_events";

export function TeamsPage() {
  const { t } = useLanguage();
  const { query } = useLocation();
  const teams = useResource("teams", () => answerOf(api.GET("/api/teams")));
  const chosen = query.get("team") ?? teams.data?.teams[0]?.team ?? null;
  const team = useResource(chosen && `team ${chosen}`, () =>
    answerOf(api.GET("/api/teams/{team}", { params: { path: { team: chosen ?? "" } } })),
  );
  const turn = query.get("turn");
  const [moment, setMoment] = useState<TurnMoment | null>(null);
  useEffect(() => setMoment(null), [turn, chosen]);
  return (
    <>
      <PageHead title={t("teams.title")} lead={t("teams.lead")}>
        {teams.data !== null && (
          <label className="row">
            <span className="faint">{t("common.team")}</span>
            <select value={chosen ?? ""} onChange={(event) => setQuery({ team: event.target.value, turn: null })}>
              {teams.data.teams.map((one) => (
                <option key={one.team} value={one.team}>
                  {one.team}
                </option>
              ))}
            </select>
          </label>
        )}
      </PageHead>
      {(teams.error ?? team.error) !== null && !(teams.error ?? team.error)?.offline && (
        <FailureNotice failure={(teams.error ?? team.error)!} onRetry={team.reload} />
      )}
      {team.data === null && (team.loading || teams.loading) && <Loading rows={6} />}
      {teams.data?.teams.length === 0 && <Empty icon="teams" title={t("teams.none")} />}
      {team.data !== null && (
        <div className="stack">
          <Card title={team.data.team} aside={moment !== null && <Badge tone="velvet">{t("teams.replaying")}</Badge>}>
            <p className="muted">{team.data.description}</p>
            <TeamGraph team={team.data} name={team.data.team} moment={moment} />
            <ul className="legend" aria-hidden="true">
              <li>
                <i className="key-fresh" /> {t("teams.fresh")}
              </li>
              <li>
                <i className="key-latest" /> {t("teams.latest")}
              </li>
            </ul>
          </Card>
          {turn === null ? <TurnList team={team.data.team} /> : <TurnView key={turn} id={turn} onMoment={setMoment} />}
        </div>
      )}
    </>
  );
}

function TurnList({ team }: { team: string }) {
  const { t } = useLanguage();
  const stateName = useStateName();
  const [older, setOlder] = useState<TurnSummary[]>([]);
  const [before, setBefore] = useState<string | null | undefined>(undefined);
  const page = useResource(`turns ${team}`, () =>
    answerOf(api.GET("/api/turns", { params: { query: { team, limit: 20 } } })),
  );
  useEffect(() => {
    setOlder([]);
    setBefore(undefined);
  }, [team]);
  const next = before === undefined ? (page.data?.before ?? null) : before;
  const more = useAction(async () => {
    const found = await answerOf(
      api.GET("/api/turns", { params: { query: { team, limit: 20, ...(next === null ? {} : { before: next }) } } }),
    );
    setOlder((shown) => [...shown, ...found.turns]);
    setBefore(found.before);
  });
  useEvents((event) => {
    if (event.type === "turn_started" || event.type === "turn_ended") page.reload();
  });
  const seen = new Set<string>();
  const turns = [...(page.data?.turns ?? []), ...older].filter((one) => !seen.has(one.id) && seen.add(one.id));
  return (
    <Card title={t("teams.turns")}>
      {page.error !== null && !page.error.offline && <FailureNotice failure={page.error} onRetry={page.reload} />}
      {page.data === null && page.loading && <Loading />}
      {page.data !== null && turns.length === 0 && <Empty icon="chat" title={t("teams.noTurns")} />}
      {turns.length > 0 && (
        <div className="table-scroll" tabIndex={0} role="group" aria-label={t("teams.turns")} data-api="turns">
          <table>
            <thead>
              <tr>
                <th scope="col" className="number">
                  {t("teams.number")}
                </th>
                <th scope="col">{t("teams.begun")}</th>
                <th scope="col">{t("common.user")}</th>
                <th scope="col">{t("common.state")}</th>
                <th scope="col">
                  <span className="visually-hidden">{t("common.actions")}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {turns.map((turn, at) => (
                <tr key={turn.id}>
                  <td className="number">
                    <Quantity value={turn.number} unit="count" of={`turns.${at}.number`} />
                  </td>
                  <td>
                    <When at={turn.started_at} />
                  </td>
                  <td className="break">{turn.user}</td>
                  <td>
                    <Badge tone={agentStateTone(turn.status)} live={turn.status === "running"}>
                      {stateName(turn.status)}
                    </Badge>
                  </td>
                  <td className="number">
                    <Button small icon="play" onClick={() => setQuery({ team, turn: turn.id })}>
                      {t("teams.open")}
                      <span className="visually-hidden"> {turn.number}</span>
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {next !== null && (
        <Button onClick={() => more.run()} busy={more.running}>
          {t("teams.older")}
        </Button>
      )}
      {more.error !== null && <FailureNotice failure={more.error} />}
    </Card>
  );
}

function TurnView({ id, onMoment }: { id: string; onMoment: (moment: TurnMoment | null) => void }) {
  const { t } = useLanguage();
  const stateName = useStateName();
  const turn = useResource(`turn ${id}`, () =>
    answerOf(api.GET("/api/turns/{turn}", { params: { path: { turn: id } } })),
  );
  const [live, setLive] = useState<TurnMoment | null>(null);
  const running = turn.data?.status === "running";
  const start = useMemo(() => (turn.data === null ? null : turn.data.events.reduce(after, beginning())), [turn.data]);
  useEvents((event) => {
    if (event.type === "turn_ended" && event.turn === id) turn.reload();
    if (!isTurnEvent(event) || event.turn !== id) return;
    setLive((known) => after(known ?? start ?? beginning(), event));
  });
  useEffect(() => {
    if (running) onMoment(live ?? start);
  }, [running, live, start, onMoment]);
  const cancel = useAction(async () => {
    await answerOf(api.POST("/api/turns/{turn}/cancel", { params: { path: { turn: id } } }));
    turn.reload();
  });
  return (
    <Card
      title={turn.data === null ? t("teams.turn") : `${t("teams.turn")} ${turn.data.number}`}
      aside={<IconButton icon="close" label={t("common.close")} onClick={() => setQuery({ turn: null })} />}
    >
      {turn.error !== null && !turn.error.offline && <FailureNotice failure={turn.error} onRetry={turn.reload} />}
      {turn.data === null && turn.loading && <Loading rows={6} />}
      {turn.data !== null && (
        <div className="stack" data-api="turn">
          <p className="row">
            <Badge tone={agentStateTone(turn.data.status)} live={running}>
              {stateName(turn.data.status)}
            </Badge>
            <When at={turn.data.started_at} style="full" />
            <span className="faint">{turn.data.user}</span>
            {turn.data.cancellable && (
              <Button small look="danger" icon="stop" busy={cancel.running} onClick={() => cancel.run()}>
                {t("common.cancel")}
              </Button>
            )}
          </p>
          {turn.data.reason !== null && <p>{turn.data.reason}</p>}
          {turn.data.withheld && <Notice>{t("teams.withheld")}</Notice>}
          {!running && <Replay turn={turn.data} onMoment={onMoment} />}
          <Timeline turn={turn.data} />
          {turn.data.blocked_moves.length > 0 && (
            <p className="muted">
              {t("teams.merge", { claims: turn.data.claims, conflicts: turn.data.conflicts })}{" "}
              {turn.data.blocked_moves.join(", ")}
            </p>
          )}
        </div>
      )}
    </Card>
  );
}

const FRAME_MS = 50;
/** A replay takes at most so long, however long the turn took. */
const LONGEST_REPLAY_S = 12;

function Replay({ turn, onMoment }: { turn: TurnDetail; onMoment: (moment: TurnMoment | null) => void }) {
  const { t, locale } = useLanguage();
  const [at, setAt] = useState(turn.end_s);
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    onMoment(momentAt(turn.events, at));
  }, [turn, at, onMoment]);
  useEffect(() => {
    if (!playing) return;
    const pace = Math.max(1, turn.end_s / LONGEST_REPLAY_S);
    const timer = setInterval(() => {
      setAt((now) => {
        const next = now + (pace * FRAME_MS) / 1000;
        if (next >= turn.end_s) setPlaying(false);
        return Math.min(next, turn.end_s);
      });
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, [playing, turn.end_s]);
  const seconds = at.toLocaleString(locale, { maximumFractionDigits: 1, minimumFractionDigits: 1 });
  return (
    <div className="replay">
      <Button
        look="primary"
        icon={playing ? "pause" : "play"}
        onClick={() => {
          if (!playing && at >= turn.end_s) setAt(0);
          setPlaying(!playing);
        }}
      >
        {t(playing ? "teams.pause" : "teams.replay")}
      </Button>
      <input
        type="range"
        min={0}
        max={turn.end_s}
        step={turn.end_s / 200 || 0.01}
        value={at}
        aria-label={t("teams.moment")}
        aria-valuetext={`${seconds} s`}
        onChange={(event) => {
          setPlaying(false);
          setAt(Number(event.target.value));
        }}
      />
      <output className="mono">{seconds} s</output>
    </div>
  );
}
