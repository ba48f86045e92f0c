import { useState } from "react";

import { answerOf, api } from "../../api/client";
import { useAction } from "../../api/resource";
import { Dialog } from "../../components/dialog";
import { Button, FailureNotice, Field } from "../../components/ui";
import { useLanguage } from "../../i18n/language";

/** Erasing is for good, so the person writes whose data it is. */
export function EraseDialog({
  team,
  user,
  onClose,
  onChanged,
}: {
  team: string;
  user: string;
  onClose: () => void;
  onChanged: () => void;
}) {
  const { t } = useLanguage();
  const [confirm, setConfirm] = useState("");
  const erase = useAction(async () => {
    await answerOf(
      api.DELETE("/api/blackboard/{team}/{user}", { params: { path: { team, user } }, body: { confirm } }),
    );
    onClose();
    onChanged();
    location.reload();
  });
  return (
    <Dialog title={t("own.erase")} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          erase.run();
        }}
      >
        <p>{t("own.eraseHint", { team })}</p>
        <Field label={t("own.eraseConfirm", { user })}>
          {({ id }) => (
            <input id={id} value={confirm} autoComplete="off" onChange={(event) => setConfirm(event.target.value)} />
          )}
        </Field>
        {erase.error !== null && <FailureNotice failure={erase.error} />}
        <div className="row">
          <Button type="submit" look="danger" icon="trash" busy={erase.running} disabled={confirm !== user}>
            {t("own.eraseNow")}
          </Button>
          <Button onClick={onClose}>{t("common.cancel")}</Button>
        </div>
      </form>
    </Dialog>
  );
}
