import { Fragment, type ReactNode } from "react";

import type { TraceAgent, TurnDetail } from "../api/types";
import { Quantity } from "../components/quantity";
import { Badge, type Tone } from "../components/ui";
import { useLanguage } from "../i18n/language";
import { agentStateTone, useStateName } from "./states";

interface Span {
  from: number;
  to: number;
  look: "waiting" | "prefill" | "decode";
}

/** What an agent did when: waiting for sections, the prompt being read, the answer being written; for each try. */
export function spansOf(agent: TraceAgent, endS: number): Span[] {
  const spans: Span[] = [];
  const begin = agent.tries[0]?.start_s ?? agent.start_s;
  if (agent.queued_s !== null && begin !== null && begin > agent.queued_s) {
    spans.push({ from: agent.queued_s, to: begin, look: "waiting" });
  } else if (agent.queued_s !== null && begin === null) {
    spans.push({ from: agent.queued_s, to: agent.end_s ?? endS, look: "waiting" });
  }
  for (const attempt of agent.tries) {
    const end = attempt.end_s ?? endS;
    const first = attempt.first_token_s ?? end;
    spans.push({ from: attempt.start_s, to: Math.min(first, end), look: "prefill" });
    if (first < end) spans.push({ from: first, to: end, look: "decode" });
  }
  return spans;
}

/** The turn as a table whose last column is drawn over time: everything that is drawn is also said in numbers. */
export function Timeline({ turn }: { turn: TurnDetail }) {
  const { t, locale } = useLanguage();
  const stateName = useStateName();
  const end = Math.max(turn.end_s, 0.001);
  const share = (seconds: number) => `${Math.min(100, Math.max(0, (100 * seconds) / end))}%`;
  const marks: { at: number | null; name: string; of: string }[] = [
    { at: turn.first_token_s, name: t("timeline.firstToken"), of: "first_token_s" },
    { at: turn.first_reply_s, name: t("timeline.firstReply"), of: "first_reply_s" },
    { at: turn.reply_s, name: t("timeline.reply"), of: "reply_s" },
  ];
  const bar = (spans: Span[], repairs: number[]): ReactNode => (
    <div className="lane" aria-hidden="true">
      {marks.map(
        (mark) => mark.at !== null && <i key={mark.name} className="lane-mark" style={{ left: share(mark.at) }} />,
      )}
      {spans.map((span, at) => (
        <span
          key={at}
          className={`lane-span lane-${span.look}`}
          style={{ left: share(span.from), width: share(span.to - span.from) }}
        />
      ))}
      {repairs.map((at) => (
        <b key={at} className="lane-repair" style={{ left: share(at) }}>
          ↻
        </b>
      ))}
    </div>
  );
  return (
    <div className="stack">
      <dl className="stats">
        {marks.map((mark) => (
          <div key={mark.name} className="stat">
            <dt>{mark.name}</dt>
            <dd>
              <Quantity value={mark.at} unit="seconds" of={mark.of} />
            </dd>
          </div>
        ))}
        <div className="stat">
          <dt>{t("timeline.computed")}</dt>
          <dd>
            <Quantity value={turn.tokens.prefill} unit="count" of="tokens.prefill" />
          </dd>
        </div>
        <div className="stat">
          <dt>{t("timeline.cached")}</dt>
          <dd>
            <Quantity value={turn.tokens.cached} unit="count" of="tokens.cached" />
          </dd>
        </div>
        <div className="stat">
          <dt>{t("timeline.written")}</dt>
          <dd>
            <Quantity value={turn.tokens.output} unit="count" of="tokens.output" />
          </dd>
        </div>
        <div className="stat">
          <dt>{t("timeline.overhead")}</dt>
          <dd>
            <Quantity value={turn.overhead_s} unit="seconds" of="overhead_s" />
          </dd>
        </div>
      </dl>
      <div className="table-scroll" tabIndex={0} role="group" aria-label={t("timeline.title")}>
        <table className="timeline">
          <thead>
            <tr>
              <th scope="col">{t("common.agent")}</th>
              <th scope="col">{t("common.state")}</th>
              <th scope="col" className="number">
                {t("timeline.computed")}
              </th>
              <th scope="col" className="number">
                {t("timeline.cached")}
              </th>
              <th scope="col" className="number">
                {t("timeline.written")}
              </th>
              <th scope="col" className="lane-head">
                <span className="lane-scale" aria-hidden="true">
                  {[0, 0.25, 0.5, 0.75, 1].map((part) => (
                    <span key={part} style={{ left: `${part * 100}%` }}>
                      {(part * end).toLocaleString(locale, { maximumFractionDigits: end < 10 ? 1 : 0 })} s
                    </span>
                  ))}
                </span>
                <span className="visually-hidden">{t("timeline.overTime")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {turn.prefix !== null && (
              <tr>
                <th scope="row">{t("timeline.prefix")}</th>
                <td />
                <td className="number">
                  <Quantity value={turn.prefix.prefill_tokens} unit="count" of="prefix.prefill_tokens" />
                </td>
                <td className="number">
                  <Quantity value={turn.prefix.cached_tokens} unit="count" of="prefix.cached_tokens" />
                </td>
                <td className="number">
                  <Quantity value={null} of={null} />
                </td>
                <td>{bar([{ from: turn.prefix.start_s, to: turn.prefix.end_s, look: "prefill" }], [])}</td>
              </tr>
            )}
            {Object.entries(turn.agents).map(([name, agent]) => (
              <Fragment key={name}>
                <tr>
                  <th scope="row">{name.replaceAll("_", " ")}</th>
                  <td>
                    <Badge tone={agentStateTone(agent.status) as Tone}>{stateName(agent.status)}</Badge>
                  </td>
                  <td className="number">
                    <Quantity value={agent.prefill_tokens} unit="count" of={`agents.${name}.prefill_tokens`} />
                  </td>
                  <td className="number">
                    <Quantity value={agent.cached_tokens} unit="count" of={`agents.${name}.cached_tokens`} />
                  </td>
                  <td className="number">
                    <Quantity value={agent.output_tokens} unit="count" of={`agents.${name}.output_tokens`} />
                  </td>
                  <td>
                    {bar(
                      spansOf(agent, end),
                      agent.repairs.map((repair) => repair.at_s),
                    )}
                    <span className="visually-hidden">
                      {t("timeline.agentTimes", {
                        start: seconds(agent.start_s, locale),
                        first: seconds(agent.first_token_s, locale),
                        end: seconds(agent.end_s, locale),
                      })}
                    </span>
                  </td>
                </tr>
                <AgentNotes agent={agent} />
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      <ul className="legend" aria-hidden="true">
        <li>
          <i className="lane-waiting" /> {t("timeline.legendWaiting")}
        </li>
        <li>
          <i className="lane-prefill" /> {t("timeline.legendPrefill")}
        </li>
        <li>
          <i className="lane-decode" /> {t("timeline.legendDecode")}
        </li>
      </ul>
    </div>
  );
}

function seconds(value: number | null, locale: string): string {
  return value === null ? "-" : `${value.toLocaleString(locale, { maximumFractionDigits: 2 })} s`;
}

/** What a lane can not show: for whom it waited, why it failed, what was repaired and what was cut. */
function AgentNotes({ agent }: { agent: TraceAgent }) {
  const { t, locale } = useLanguage();
  const notes = [
    ...(agent.waits_for.length > 0 ? [t("timeline.waitedFor", { sections: agent.waits_for.join(", ") })] : []),
    ...(agent.reason === null ? [] : [agent.reason]),
    ...agent.repairs.map((repair) =>
      t("timeline.repair", { at: seconds(repair.at_s, locale), problems: repair.problems.join("; ") }),
    ),
    ...agent.cuts.map((cut) => t("timeline.cut", { tokens: cut.tokens, part: cut.part })),
  ];
  if (notes.length === 0) return null;
  return (
    <tr className="timeline-notes">
      <td colSpan={6}>
        {notes.map((note, at) => (
          <p key={at} className="break">
            {note}
          </p>
        ))}
      </td>
    </tr>
  );
}
