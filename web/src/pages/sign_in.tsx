import { useEffect, useState } from "react";

import { useAction } from "../api/resource";
import { useSession } from "../app/session";
import { Button, FailureNotice, Field } from "../components/ui";
import { useLanguage } from "../i18n/language";

/** The curtain: shown where the server needs a key. */
export function SignInPage() {
  const { t } = useLanguage();
  const { signIn } = useSession();
  const [key, setKey] = useState("");
  const enter = useAction(signIn);
  useEffect(() => {
    document.title = `${t("signIn.title")} · ${t("app.name")}`;
  }, [t]);
  return (
    <main className="sign-in">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault();
          enter.run(key.trim());
        }}
      >
        <h1>{t("app.name")}</h1>
        <p className="muted">{t("signIn.lead")}</p>
        <Field label={t("signIn.key")} hint={t("signIn.hint")}>
          {({ id, describedBy }) => (
            <input
              id={id}
              aria-describedby={describedBy}
              type="password"
              autoComplete="current-password"
              required
              maxLength={200}
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        {enter.error !== null && <FailureNotice failure={enter.error} />}
        <Button type="submit" look="primary" busy={enter.running} disabled={key.trim() === ""}>
          {t("signIn.enter")}
        </Button>
      </form>
    </main>
  );
}
