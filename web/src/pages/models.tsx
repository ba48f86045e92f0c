import { useState } from "react";

import { answerOf, api } from "../api/client";
import { useEvents } from "../api/live";
import { useAction, useResource } from "../api/resource";
import type { ModelFile, StreamEvent } from "../api/types";
import { useSession } from "../app/session";
import { Quantity } from "../components/quantity";
import { Dialog } from "../components/dialog";
import { Badge, Button, Card, Empty, FailureNotice, Loading, Meter, PageHead } from "../components/ui";
import { useLanguage } from "../i18n/language";
import { agentStateTone, useStateName } from "../team/states";

type Progress = Extract<StreamEvent, { type: "pull_progress" }>;

export function ModelsPage() {
  const { t } = useLanguage();
  const { session } = useSession();
  const models = useResource("models", () => answerOf(api.GET("/api/models")));
  const [pulls, setPulls] = useState<Record<string, Progress>>({});
  const [removing, setRemoving] = useState<ModelFile | null>(null);
  const [filter, setFilter] = useState("");
  useEvents((event) => {
    if (event.type !== "pull_progress") return;
    setPulls((known) => ({ ...known, [event.model]: event }));
    if (event.state !== "pulling") models.reload();
  });
  const pull = useAction(async (model: string) => {
    await answerOf(api.POST("/api/models/pull", { body: { model } }));
    models.reload();
  });
  const remove = useAction(async (model: string) => {
    await answerOf(api.DELETE("/api/models/{model}", { params: { path: { model: model } } }));
    models.reload();
  });
  const failure = models.error ?? pull.error ?? remove.error;
  const catalog = models.data?.catalog
    .map((model, at) => ({ model, of: `catalog.${at}` }))
    .filter(({ model }) => `${model.id} ${model.name} ${model.family}`.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      <PageHead title={t("models.title")} lead={t("models.lead")} />
      <div className="stack" data-api="models">
        {failure !== null && !failure.offline && <FailureNotice failure={failure} onRetry={models.reload} />}
        <Card title={t("models.files")}>
          {models.data === null && models.loading && <Loading />}
          {models.data?.files.length === 0 && <Empty icon="models" title={t("models.none")} />}
          <ul className="list">
            {models.data?.files.map((file, at) => (
              <FileItem
                key={file.name}
                file={file}
                of={`files.${at}`}
                progress={pulls[file.name] ?? null}
                admin={session.is_admin}
                busy={pull.running || remove.running}
                onPull={() => pull.run(file.name)}
                onRemove={() => setRemoving(file)}
              />
            ))}
          </ul>
        </Card>
        <Card
          title={t("models.catalog")}
          aside={
            <input
              type="search"
              aria-label={t("models.filter")}
              placeholder={t("models.filter")}
              value={filter}
              onChange={(event) => setFilter(event.target.value)}
            />
          }
        >
          {models.data === null && models.loading && <Loading rows={6} />}
          {catalog !== undefined && (
            <div className="table-scroll" tabIndex={0} role="group" aria-label={t("models.catalog")}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{t("models.model")}</th>
                    <th scope="col" className="number">
                      {t("models.parameters")}
                    </th>
                    <th scope="col" className="number">
                      {t("models.active")}
                    </th>
                    <th scope="col" className="number">
                      {t("models.context")}
                    </th>
                    <th scope="col">{t("models.sizes")}</th>
                    <th scope="col">{t("models.licence")}</th>
                  </tr>
                </thead>
                <tbody>
                  {catalog.map(({ model, of }) => (
                    <tr key={model.id}>
                      <th scope="row" className="break">
                        {model.name}
                        <p className="faint mono">{model.id}</p>
                      </th>
                      <td className="number">
                        <Quantity value={model.total_b} of={`${of}.total_b`} unit="billions" />
                      </td>
                      <td className="number">
                        <Quantity value={model.active_b} of={`${of}.active_b`} unit="billions" />
                      </td>
                      <td className="number">
                        <Quantity value={model.max_context} of={`${of}.max_context`} unit="count" />
                      </td>
                      <td>
                        <ul className="sizes">
                          {model.checkpoints.map((checkpoint, at) => (
                            <li key={`${checkpoint.repository} ${checkpoint.format}`} title={checkpoint.repository}>
                              <span className="faint">{checkpoint.format}</span>{" "}
                              <Quantity value={checkpoint.gib} unit="gib" of={`${of}.checkpoints.${at}.gib`} />
                            </li>
                          ))}
                        </ul>
                      </td>
                      <td className="faint">{model.licence}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      </div>
      {removing !== null && (
        <Dialog title={t("models.removeTitle", { name: removing.name })} onClose={() => setRemoving(null)}>
          <p>{t("models.removeHint")}</p>
          <div className="row">
            <Button
              look="danger"
              icon="trash"
              onClick={() => {
                remove.run(removing.name);
                setRemoving(null);
              }}
            >
              {t("common.remove")}
            </Button>
            <Button onClick={() => setRemoving(null)}>{t("common.cancel")}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function FileItem({
  file,
  of,
  progress,
  admin,
  busy,
  onPull,
  onRemove,
}: {
  file: ModelFile;
  of: string;
  progress: Progress | null;
  admin: boolean;
  busy: boolean;
  onPull: () => void;
  onRemove: () => void;
}) {
  const { t } = useLanguage();
  const stateName = useStateName();
  const pulling = progress?.state === "pulling";
  const state = pulling ? "pulling" : file.state;
  return (
    <li>
      <div className="grow">
        <strong className="break">{file.name}</strong> <Badge tone={agentStateTone(state)}>{stateName(state)}</Badge>
        <p className="faint break">
          <Quantity value={file.bytes} of={`${of}.bytes`} unit="bytes" />
          {file.memory_bytes !== null && (
            <>
              {" "}
              · {t("models.inMemory")} <Quantity value={file.memory_bytes} of={`${of}.memory_bytes`} unit="bytes" />
            </>
          )}
          {file.context_tokens !== null && (
            <>
              {" "}
              · {t("models.context")} <Quantity value={file.context_tokens} of={`${of}.context_tokens`} unit="count" />
            </>
          )}
          {file.licence !== null && ` · ${file.licence}`}
        </p>
        {pulling && progress.total_bytes > 0 && (
          <>
            <Meter total={progress.total_bytes} parts={[{ value: progress.done_bytes, look: "load" }]} />
            <p className="faint" data-api="pull">
              <Quantity value={progress.done_bytes} unit="bytes" of="done_bytes" /> /{" "}
              <Quantity value={progress.total_bytes} unit="bytes" of="total_bytes" />
            </p>
          </>
        )}
        {progress !== null && progress.message !== null && <p className="muted break">{progress.message}</p>}
      </div>
      {admin &&
        (file.state === "present" ? (
          <Button small look="danger" icon="trash" disabled={busy} onClick={onRemove}>
            {t("common.remove")}
            <span className="visually-hidden"> {file.name}</span>
          </Button>
        ) : (
          <Button small icon="download" disabled={busy || state === "pulling"} onClick={onPull}>
            {t("models.pull")}
            <span className="visually-hidden"> {file.name}</span>
          </Button>
        ))}
    </li>
  );
}
