import { useState } from "react";

import { answerOf, api } from "../../api/client";
import { useAction, useResource } from "../../api/resource";
import { Dialog } from "../../components/dialog";
import { Button, FailureNotice, Loading } from "../../components/ui";
import { useLanguage } from "../../i18n/language";

interface Props {
  team: string;
  user: string;
  onClose: () => void;
  onChanged: () => void;
}

/** Twenty statements about oneself: a better source than text. */
export function QuestionnaireDialog({ team, user, onClose, onChanged }: Props) {
  const { t } = useLanguage();
  const path = { team, user };
  const questionnaire = useResource("questionnaire", () => answerOf(api.GET("/api/questionnaire")));
  const [answers, setAnswers] = useState<Record<number, number>>({});
  const items = questionnaire.data?.items ?? [];
  const send = useAction(async () => {
    await answerOf(
      api.POST("/api/blackboard/{team}/{user}/questionnaire", {
        params: { path },
        body: { answers: items.map((item) => answers[item.number] ?? 0) },
      }),
    );
    onChanged();
    onClose();
  });
  const left = items.filter((item) => answers[item.number] === undefined).length;
  return (
    <Dialog title={t("own.questionnaire")} onClose={onClose}>
      {questionnaire.loading && <Loading rows={8} />}
      {questionnaire.error !== null && <FailureNotice failure={questionnaire.error} onRetry={questionnaire.reload} />}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          send.run();
        }}
      >
        {items.map((item) => (
          <fieldset key={item.number} className="question">
            <legend>
              {item.number}. <span lang="en">{item.text}</span>
            </legend>
            <div className="row">
              {(questionnaire.data?.answers ?? []).map((words, at) => (
                <label key={words} className="choice">
                  <input
                    type="radio"
                    name={`question-${item.number}`}
                    checked={answers[item.number] === at + 1}
                    onChange={() => setAnswers({ ...answers, [item.number]: at + 1 })}
                  />
                  <span lang="en">{words}</span>
                </label>
              ))}
            </div>
          </fieldset>
        ))}
        {send.error !== null && <FailureNotice failure={send.error} />}
        {items.length > 0 && (
          <div className="row">
            <Button type="submit" look="primary" busy={send.running} disabled={left > 0}>
              {t("own.answer")}
            </Button>
            {left > 0 && <span className="faint">{t("own.left", { count: left })}</span>}
          </div>
        )}
      </form>
    </Dialog>
  );
}
