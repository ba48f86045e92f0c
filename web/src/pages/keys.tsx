import { useState } from "react";

import { answerOf, api } from "../api/client";
import { useAction, useResource } from "../api/resource";
import { useSession } from "../app/session";
import { Quantity, When } from "../components/quantity";
import { Dialog } from "../components/dialog";
import { Badge, Button, Card, Empty, FailureNotice, Field, Loading, Notice, PageHead } from "../components/ui";
import { useLanguage } from "../i18n/language";
import { agentStateTone, useStateName } from "../team/states";

export function KeysPage() {
  const { t } = useLanguage();
  const stateName = useStateName();
  const { session } = useSession();
  const [creating, setCreating] = useState(false);
  const keys = useResource("keys", () => answerOf(api.GET("/api/keys")));
  const revoke = useAction(async (id: string) => {
    await answerOf(api.DELETE("/api/keys/{key}", { params: { path: { key: id } } }));
    keys.reload();
  });
  const failure = keys.error ?? revoke.error;
  return (
    <>
      <PageHead title={t("keys.title")} lead={t("keys.lead")}>
        <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
          {t("keys.create")}
        </Button>
      </PageHead>
      <div className="stack">
        {!session.needs_keys && <Notice>{t("keys.notNeeded")}</Notice>}
        {failure !== null && !failure.offline && <FailureNotice failure={failure} onRetry={keys.reload} />}
        <Card>
          {keys.data === null && keys.loading && <Loading />}
          {keys.data?.keys.length === 0 && <Empty icon="keys" title={t("keys.none")} />}
          {keys.data !== null && keys.data.keys.length > 0 && (
            <div className="table-scroll" tabIndex={0} role="group" aria-label={t("keys.title")} data-api="keys">
              <table>
                <thead>
                  <tr>
                    <th scope="col">{t("keys.name")}</th>
                    <th scope="col">{t("common.state")}</th>
                    <th scope="col">{t("keys.scopes")}</th>
                    <th scope="col">{t("common.user")}</th>
                    <th scope="col" className="number">
                      {t("keys.perMinute")}
                    </th>
                    <th scope="col">{t("keys.expires")}</th>
                    <th scope="col">
                      <span className="visually-hidden">{t("common.actions")}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {keys.data.keys.map((key, at) => (
                    <tr key={key.id}>
                      <th scope="row" className="break">
                        {key.name}
                        <p className="faint mono">{key.id}</p>
                      </th>
                      <td>
                        <Badge tone={agentStateTone(key.state)}>{stateName(key.state)}</Badge>
                      </td>
                      <td className="mono break">{key.scopes.join(" ")}</td>
                      <td className="break">{key.user ?? "–"}</td>
                      <td className="number">
                        <Quantity value={key.requests_per_minute} unit="count" of={`keys.${at}.requests_per_minute`} />
                      </td>
                      <td>
                        <When at={key.expires_at} style="date" />
                      </td>
                      <td className="number">
                        {key.state === "in use" && (
                          <Button small look="danger" disabled={revoke.running} onClick={() => revoke.run(key.id)}>
                            {t("keys.revoke")}
                            <span className="visually-hidden"> {key.name}</span>
                          </Button>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      </div>
      {creating && <CreateDialog onClose={() => setCreating(false)} onCreated={keys.reload} />}
    </>
  );
}

function CreateDialog({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const { t } = useLanguage();
  const { session } = useSession();
  const [name, setName] = useState("");
  const [user, setUser] = useState("");
  const [teams, setTeams] = useState<string[]>([]);
  const [admin, setAdmin] = useState(false);
  const [days, setDays] = useState("");
  const [created, setCreated] = useState<string | null>(null);
  const create = useAction(async () => {
    const answer = await answerOf(
      api.POST("/api/keys", {
        body: {
          name,
          teams,
          agents: [],
          models: [],
          admin,
          user: user.trim() === "" ? null : user.trim(),
          reads_users: [],
          days: days === "" ? null : Number(days),
        },
      }),
    );
    setCreated(answer.key);
    onCreated();
  });
  return (
    <Dialog title={t("keys.create")} onClose={onClose}>
      {created !== null ? (
        <div className="stack">
          <Notice tone="good" icon="check">
            {t("keys.shownOnce")}
          </Notice>
          <code className="secret" data-secret>
            {created}
          </code>
          <div className="row">
            {/* Browsers have a clipboard for secure addresses only; elsewhere the text can be selected. */}
            {"clipboard" in navigator && (
              <Button look="primary" onClick={() => void navigator.clipboard.writeText(created)}>
                {t("common.copy")}
              </Button>
            )}
            <Button onClick={onClose}>{t("common.close")}</Button>
          </div>
        </div>
      ) : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            create.run();
          }}
        >
          <Field label={t("keys.name")}>
            {({ id }) => (
              <input id={id} required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
          <Field label={t("keys.user")} hint={t("keys.userHint")}>
            {({ id, describedBy }) => (
              <input
                id={id}
                aria-describedby={describedBy}
                maxLength={200}
                value={user}
                onChange={(event) => setUser(event.target.value)}
              />
            )}
          </Field>
          <fieldset className="question">
            <legend>{t("keys.teams")}</legend>
            <div className="row">
              {session.teams.map((team) => (
                <label key={team} className="choice">
                  <input
                    type="checkbox"
                    checked={teams.includes(team)}
                    onChange={(event) =>
                      setTeams(event.target.checked ? [...teams, team] : teams.filter((one) => one !== team))
                    }
                  />
                  {team}
                </label>
              ))}
            </div>
            <p className="faint">{t("keys.teamsHint")}</p>
          </fieldset>
          <label className="choice">
            <input type="checkbox" checked={admin} onChange={(event) => setAdmin(event.target.checked)} />
            {t("keys.admin")}
          </label>
          <Field label={t("keys.days")}>
            {({ id }) => (
              <input
                id={id}
                className="short-input"
                type="number"
                min={1}
                max={36_500}
                value={days}
                onChange={(event) => setDays(event.target.value)}
              />
            )}
          </Field>
          {create.error !== null && <FailureNotice failure={create.error} />}
          <div className="row">
            <Button type="submit" look="primary" busy={create.running} disabled={name.trim() === ""}>
              {t("keys.create")}
            </Button>
            <Button onClick={onClose}>{t("common.cancel")}</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
