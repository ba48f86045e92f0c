import { useState } from "react";

import { answerOf, api } from "../../api/client";
import { useAction, useResource } from "../../api/resource";
import type { AgentDetail, AgentTool } from "../../api/types";
import { Link, setQuery } from "../../app/router";
import { useSession } from "../../app/session";
import { Outline } from "../../components/outline";
import { Quantity, When } from "../../components/quantity";
import { Dialog } from "../../components/dialog";
import { Badge, Button, Card, FailureNotice, Field, IconButton, Loading, Notice } from "../../components/ui";
import { useLanguage } from "../../i18n/language";
import { agentStateTone, useStateName } from "../../team/states";
import { exampleOf } from "./example";

/** A deployed agent: its versions, what it is, and a place to try it. */
export function AgentView({ name, onChanged }: { name: string; onChanged: () => void }) {
  const { t } = useLanguage();
  const { session } = useSession();
  const [removing, setRemoving] = useState(false);
  const agent = useResource(`agent ${name}`, () =>
    answerOf(api.GET("/api/agents/{name}", { params: { path: { name } } })),
  );
  const path = { name };
  const changed = () => {
    agent.reload();
    onChanged();
  };
  const promote = useAction(async (version: number, canary: boolean) => {
    await answerOf(api.POST("/api/agents/{name}/promote", { params: { path }, body: { version, canary } }));
    changed();
  });
  const rollBack = useAction(async () => {
    await answerOf(api.POST("/api/agents/{name}/rollback", { params: { path } }));
    changed();
  });
  const remove = useAction(async () => {
    await answerOf(api.DELETE("/api/agents/{name}", { params: { path } }));
    setQuery({ agent: null });
    onChanged();
  });
  const failure = agent.error ?? promote.error ?? rollBack.error ?? remove.error;
  const data = agent.data;
  return (
    <Card
      title={name}
      aside={<IconButton icon="close" label={t("common.close")} onClick={() => setQuery({ agent: null })} />}
    >
      {failure !== null && !failure.offline && <FailureNotice failure={failure} />}
      {data === null && agent.loading && <Loading rows={6} />}
      {data !== null && (
        <div className="stack" data-api="agent">
          <p className="break">{data.purpose}</p>
          <div className="columns">
            <div className="stack">
              <h3>{t("engineering.versions")}</h3>
              <Versions agent={data} admin={session.is_admin} busy={promote.running} onPromote={promote.run} />
              {session.is_admin && (
                <div className="row">
                  <Button small busy={rollBack.running} onClick={() => rollBack.run()}>
                    {t("engineering.rollBack")}
                  </Button>
                  <Button small look="danger" icon="trash" onClick={() => setRemoving(true)}>
                    {t("common.remove")}
                  </Button>
                </div>
              )}
              {data.conversation && data.versions.some((version) => version.state === "live") && (
                <Link href={`/chat?team=agent:${encodeURIComponent(name)}`}>{t("engineering.talk")}</Link>
              )}
              {data.evidence !== null && (
                <details className="section-view">
                  <summary>
                    <strong>{t("engineering.evidence")}</strong>
                  </summary>
                  <Outline value={data.evidence} of="evidence" />
                </details>
              )}
              <details className="section-view">
                <summary>
                  <strong>{t("engineering.permissions")}</strong>
                </summary>
                <Outline
                  of=""
                  value={{ permissions: data.permissions, limits: data.limits, assumptions: data.assumptions }}
                />
              </details>
              <Files agent={data} />
              <p className="faint mono break">
                {data.digest} · {data.signed_by}
              </p>
            </div>
            <TryTool agent={data} />
          </div>
        </div>
      )}
      {removing && (
        <Dialog title={t("engineering.removeTitle", { name })} onClose={() => setRemoving(false)}>
          <p>{t("engineering.removeHint")}</p>
          <div className="row">
            <Button
              look="danger"
              icon="trash"
              busy={remove.running}
              onClick={() => {
                setRemoving(false);
                remove.run();
              }}
            >
              {t("common.remove")}
            </Button>
            <Button onClick={() => setRemoving(false)}>{t("common.cancel")}</Button>
          </div>
        </Dialog>
      )}
    </Card>
  );
}

function Versions({
  agent,
  admin,
  busy,
  onPromote,
}: {
  agent: AgentDetail;
  admin: boolean;
  busy: boolean;
  onPromote: (version: number, canary: boolean) => void;
}) {
  const { t } = useLanguage();
  const stateName = useStateName();
  return (
    <ul className="list">
      {agent.versions.map((version) => (
        <li key={version.agent}>
          <div>
            <span className="mono">{version.agent}</span>{" "}
            <Badge tone={agentStateTone(version.state)}>{stateName(version.state)}</Badge>
            <p className="faint">
              <When at={version.created_at} />
            </p>
          </div>
          {admin && version.state !== "live" && (
            <span className="row">
              {version.state !== "canary" && (
                <Button small look="quiet" disabled={busy} onClick={() => onPromote(version.version, true)}>
                  {t("engineering.canary")}
                  <span className="visually-hidden"> {version.agent}</span>
                </Button>
              )}
              <Button small disabled={busy} onClick={() => onPromote(version.version, false)}>
                {t("engineering.promote")}
                <span className="visually-hidden"> {version.agent}</span>
              </Button>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Files({ agent }: { agent: AgentDetail }) {
  const { t } = useLanguage();
  const [shown, setShown] = useState<string | null>(null);
  const file = useResource(shown && `file ${agent.agent} ${shown}`, () =>
    answerOf(
      api.GET("/api/agents/{name}/file", {
        params: { path: { name: agent.name }, query: { path: shown ?? "", version: agent.version } },
      }),
    ),
  );
  return (
    <details className="section-view">
      <summary>
        <strong>{t("engineering.files")}</strong>
      </summary>
      <ul className="stack-s">
        {Object.entries(agent.files).map(([path, size]) => (
          <li key={path} className="row row-apart">
            <Button
              small
              look="quiet"
              aria-expanded={shown === path}
              onClick={() => setShown(shown === path ? null : path)}
            >
              <span className="mono">{path}</span>
            </Button>
            <span className="faint">
              <Quantity value={size} unit="bytes" of={`files.${path}`} />
            </span>
          </li>
        ))}
      </ul>
      {file.error !== null && <FailureNotice failure={file.error} />}
      {file.data !== null && (
        <pre className="code" tabIndex={0}>
          <code>{file.data.text}</code>
        </pre>
      )}
    </details>
  );
}

function TryTool({ agent }: { agent: AgentDetail }) {
  const { t } = useLanguage();
  const [name, setName] = useState(agent.tools[0]?.name ?? "");
  const tool = agent.tools.find((one) => one.name === name) ?? null;
  if (tool === null) return null;
  return (
    <div className="stack">
      <h3>{t("engineering.try")}</h3>
      <Field label={t("engineering.tool")}>
        {({ id }) => (
          <select id={id} value={name} onChange={(event) => setName(event.target.value)}>
            {agent.tools.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </select>
        )}
      </Field>
      <p className="muted break">{tool.description}</p>
      <CallForm key={tool.name} agent={agent.name} tool={tool} />
    </div>
  );
}

function CallForm({ agent, tool }: { agent: string; tool: AgentTool }) {
  const { t } = useLanguage();
  const [text, setText] = useState(() => JSON.stringify(exampleOf(tool.input_schema), null, 2));
  const [answer, setAnswer] = useState<{
    result: unknown;
    error: { type: string; message: string } | null;
    seconds: number;
  } | null>(null);
  const args = parseArguments(text);
  const call = useAction(async () => {
    if (args === null) return;
    setAnswer(null);
    setAnswer(
      await answerOf(
        api.POST("/api/agents/{name}/call", { params: { path: { name: agent } }, body: { tool: tool.name, args } }),
      ),
    );
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        call.run();
      }}
    >
      <Field label={t("engineering.arguments")} {...(args === null ? { hint: t("engineering.noJson") } : {})}>
        {({ id, describedBy }) => (
          <textarea
            id={id}
            className="mono"
            rows={6}
            spellCheck={false}
            aria-invalid={args === null}
            aria-describedby={describedBy}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <div>
        <Button type="submit" look="primary" icon="play" busy={call.running} disabled={args === null}>
          {t("engineering.call")}
        </Button>
      </div>
      {call.error !== null && <FailureNotice failure={call.error} />}
      {answer?.error != null && (
        <Notice tone="bad" icon="alert">
          {answer.error.type}: {answer.error.message}
        </Notice>
      )}
      {answer !== null && answer.error === null && (
        <div role="status" className="stack-s" data-api="call">
          <p className="faint">
            {t("engineering.result")} · <Quantity value={answer.seconds} unit="seconds" of="seconds" />
          </p>
          <pre className="code" tabIndex={0}>
            <code>{JSON.stringify(answer.result, null, 2)}</code>
          </pre>
        </div>
      )}
    </form>
  );
}

function parseArguments(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
