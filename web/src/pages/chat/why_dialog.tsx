import { answerOf, api } from "../../api/client";
import { useResource } from "../../api/resource";
import { Dialog } from "../../components/dialog";
import { Empty, FailureNotice, Loading } from "../../components/ui";
import { useLanguage } from "../../i18n/language";

/** From a sentence of a reply back to its claims, and to what the person wrote. */
export function WhyDialog({
  team,
  user,
  sentence,
  onClose,
}: {
  team: string;
  user: string;
  sentence: string;
  onClose: () => void;
}) {
  const { t } = useLanguage();
  const why = useResource(`why ${team} ${user} ${sentence}`, () =>
    answerOf(
      api.GET("/api/blackboard/{team}/{user}/why", { params: { path: { team, user }, query: { what: sentence } } }),
    ),
  );
  return (
    <Dialog title={t("why.title")} onClose={onClose}>
      <blockquote className="why-sentence">{sentence}</blockquote>
      {why.loading && <Loading rows={2} />}
      {why.error !== null && <FailureNotice failure={why.error} onRetry={why.reload} />}
      {why.data?.reasons.length === 0 && (
        <Empty icon="info" title={t("why.nothing")}>
          {t("why.nothingHint")}
        </Empty>
      )}
      <ul className="stack">
        {why.data?.reasons.map((reason, at) => (
          <li key={at} className="why-claim">
            <p>{reason.what}</p>
            <p className="faint">
              {t("why.by", { agent: reason.by })} · {reason.where}
              {reason.note !== "" && ` · ${reason.note}`}
            </p>
            <ul className="why-evidence">
              {Object.entries(reason.evidence).map(([message, text]) => (
                <li key={message}>
                  <span className="mono faint">{message}</span> {text === "" ? t("why.gone") : `“${text}”`}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
