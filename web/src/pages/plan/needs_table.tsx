import { useState } from "react";

import type { AgentNeeds } from "../../api/types";
import { Button, Card } from "../../components/ui";
import { useLanguage } from "../../i18n/language";

type Needs = Record<string, AgentNeeds>;

/** What the agents need; a change is planned with at once. */
export function NeedsTable({
  stated,
  changed,
  busy,
  onChange,
}: {
  stated: Needs;
  changed: Needs;
  busy: boolean;
  onChange: (changed: Needs) => void;
}) {
  const { t } = useLanguage();
  const change = (agent: string, parts: Partial<AgentNeeds>) => {
    const base = changed[agent] ?? stated[agent];
    if (base !== undefined) onChange({ ...changed, [agent]: { ...base, ...parts } });
  };
  return (
    <Card
      title={t("needs.title")}
      aside={
        Object.keys(changed).length > 0 && (
          <Button small look="quiet" disabled={busy} onClick={() => onChange({})}>
            {t("needs.reset")}
          </Button>
        )
      }
    >
      <p className="muted">{t("needs.lead")}</p>
      <div className="table-scroll" tabIndex={0} role="group" aria-label={t("needs.title")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("common.agent")}</th>
              <th scope="col">{t("needs.benchmarks")}</th>
              <th scope="col">{t("needs.context")}</th>
              <th scope="col">{t("needs.concurrency")}</th>
              <th scope="col">{t("needs.importance")}</th>
              <th scope="col">{t("needs.decode")}</th>
            </tr>
          </thead>
          <tbody>
            {Object.keys(stated).map((agent) => {
              const needs = changed[agent] ?? stated[agent];
              if (needs === undefined) return null;
              return (
                <tr key={agent} data-changed={agent in changed || undefined}>
                  <th scope="row">{agent.replaceAll("_", " ")}</th>
                  <td className="faint">
                    {Object.entries(needs.benchmarks)
                      .map(
                        ([name, need]) =>
                          `${name.replaceAll("_", " ")} ×${need.weight ?? 1}${need.minimum == null ? "" : ` ≥ ${need.minimum}`}`,
                      )
                      .join(", ")}
                  </td>
                  <NumberCell
                    label={`${t("needs.context")}: ${agent}`}
                    value={needs.context_tokens ?? 8192}
                    min={256}
                    step={256}
                    onCommit={(value) => change(agent, { context_tokens: Math.round(value) })}
                  />
                  <NumberCell
                    label={`${t("needs.concurrency")}: ${agent}`}
                    value={needs.concurrency ?? 1}
                    min={1}
                    step={1}
                    onCommit={(value) => change(agent, { concurrency: Math.round(value) })}
                  />
                  <NumberCell
                    label={`${t("needs.importance")}: ${agent}`}
                    value={needs.importance ?? 1}
                    min={0.1}
                    step={0.1}
                    onCommit={(value) => change(agent, { importance: value })}
                  />
                  <NumberCell
                    label={`${t("needs.decode")}: ${agent}`}
                    value={needs.min_decode_tok_s ?? null}
                    min={0.1}
                    step={1}
                    onCommit={(value) => change(agent, { min_decode_tok_s: value })}
                  />
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

/** A number that counts when the person leaves the field or presses Enter, so that half a number is never planned with. */
function NumberCell({
  label,
  value,
  min,
  step,
  onCommit,
}: {
  label: string;
  value: number | null;
  min: number;
  step: number;
  onCommit: (value: number) => void;
}) {
  const [text, setText] = useState<string | null>(null);
  const commit = () => {
    const number = Number(text);
    if (text !== null && text !== "" && Number.isFinite(number) && number >= min && number !== value) onCommit(number);
    setText(null);
  };
  return (
    <td>
      <input
        className="short-input"
        type="number"
        aria-label={label}
        min={min}
        step={step}
        value={text ?? value ?? ""}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            commit();
          }
        }}
      />
    </td>
  );
}
