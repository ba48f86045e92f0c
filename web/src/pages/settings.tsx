import { useState } from "react";

import { answerOf, api } from "../api/client";
import { useAction, useResource } from "../api/resource";
import type { Settings } from "../api/types";
import { useSession } from "../app/session";
import { Button, Card, FailureNotice, Field, Loading, Notice, PageHead } from "../components/ui";
import { setTheme, useTheme, type Theme } from "../design/theme";
import type { Language } from "../i18n/catalogs";
import { useLanguage } from "../i18n/language";

const THEMES = ["system", "light", "dark"] as const;
/** Named in their own words, so that each person finds theirs. */
const LANGUAGES: Record<Language, string> = { en: "English", pt: "Português" };

function LanguageOptions() {
  return Object.entries(LANGUAGES).map(([code, name]) => (
    <option key={code} value={code} lang={code}>
      {name}
    </option>
  ));
}

function ThemeOptions() {
  const { t } = useLanguage();
  return THEMES.map((one) => (
    <option key={one} value={one}>
      {t(`settings.${one}`)}
    </option>
  ));
}

export function SettingsPage() {
  const { t, language, setLanguage } = useLanguage();
  const theme = useTheme();
  const { session, signOut } = useSession();
  const leave = useAction(signOut);
  return (
    <>
      <PageHead title={t("settings.title")} lead={t("settings.lead")} />
      <div className="columns">
        <div className="stack">
          <Card title={t("settings.here")}>
            <div className="stack">
              <Field label={t("settings.language")}>
                {({ id }) => (
                  <select id={id} value={language} onChange={(event) => setLanguage(event.target.value as Language)}>
                    <LanguageOptions />
                  </select>
                )}
              </Field>
              <Field label={t("settings.theme")}>
                {({ id }) => (
                  <select id={id} value={theme} onChange={(event) => setTheme(event.target.value as Theme)}>
                    <ThemeOptions />
                  </select>
                )}
              </Field>
              <p className="faint">{t("settings.zone", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}</p>
            </div>
          </Card>
          <Card title={t("settings.who")}>
            <dl className="outline">
              <div>
                <dt>{t("common.user")}</dt>
                <dd>{session.user ?? "–"}</dd>
              </div>
              <div>
                <dt>{t("keys.name")}</dt>
                <dd>{session.name ?? "–"}</dd>
              </div>
              <div>
                <dt>{t("settings.admin")}</dt>
                <dd>{t(session.is_admin ? "common.yes" : "common.no")}</dd>
              </div>
              <div>
                <dt>{t("settings.version")}</dt>
                <dd>{session.version}</dd>
              </div>
            </dl>
            {session.needs_keys && (
              <div>
                <Button busy={leave.running} onClick={() => leave.run()}>
                  {t("settings.signOut")}
                </Button>
              </div>
            )}
            {leave.error !== null && <FailureNotice failure={leave.error} />}
          </Card>
        </div>
        {session.is_admin && <InstallationCard />}
      </div>
    </>
  );
}

function InstallationCard() {
  const { t } = useLanguage();
  const settings = useResource("settings", () => answerOf(api.GET("/api/settings")));
  return (
    <Card title={t("settings.installation")}>
      {settings.data === null && settings.loading && <Loading />}
      {settings.error !== null && !settings.error.offline && (
        <FailureNotice failure={settings.error} onRetry={settings.reload} />
      )}
      {settings.data !== null && <InstallationForm kept={settings.data} onKept={settings.replace} />}
    </Card>
  );
}

function InstallationForm({ kept, onKept }: { kept: Settings; onKept: (settings: Settings) => void }) {
  const { t } = useLanguage();
  const [country, setCountry] = useState(kept.country ?? "");
  const [language, setLanguage] = useState(kept.language ?? "");
  const [theme, setDefaultTheme] = useState<Theme>(kept.theme);
  const [done, setDone] = useState(false);
  const keep = useAction(async () => {
    setDone(false);
    onKept(
      await answerOf(
        api.PUT("/api/settings", {
          body: {
            country: country === "" ? null : country.toUpperCase(),
            language: language === "" ? null : language,
            theme,
          },
        }),
      ),
    );
    setDone(true);
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        keep.run();
      }}
    >
      <Field label={t("settings.country")} hint={t("settings.countryHint")}>
        {({ id, describedBy }) => (
          <input
            id={id}
            aria-describedby={describedBy}
            className="short-input"
            maxLength={2}
            pattern="[A-Za-z]{2}"
            value={country}
            onChange={(event) => setCountry(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("settings.defaultLanguage")}>
        {({ id }) => (
          <select id={id} value={language} onChange={(event) => setLanguage(event.target.value)}>
            <option value="">{t("settings.browser")}</option>
            <LanguageOptions />
          </select>
        )}
      </Field>
      <Field label={t("settings.defaultTheme")}>
        {({ id }) => (
          <select id={id} value={theme} onChange={(event) => setDefaultTheme(event.target.value as Theme)}>
            <ThemeOptions />
          </select>
        )}
      </Field>
      {keep.error !== null && <FailureNotice failure={keep.error} />}
      {done && (
        <Notice tone="good" icon="check">
          {t("settings.kept")}
        </Notice>
      )}
      <div>
        <Button type="submit" look="primary" busy={keep.running}>
          {t("settings.keep")}
        </Button>
      </div>
    </form>
  );
}
