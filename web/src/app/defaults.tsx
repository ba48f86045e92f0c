import { useEffect } from "react";

import { answerOf, api } from "../api/client";
import { useResource } from "../api/resource";
import { adoptTheme } from "../design/theme";
import { useLanguage } from "../i18n/language";

/** What the installation begins with, for a person who has not chosen for themselves. */
export function InstallationDefaults() {
  const { adoptLanguage } = useLanguage();
  const settings = useResource("defaults", () => answerOf(api.GET("/api/settings")));
  const data = settings.data;
  useEffect(() => {
    if (data === null) return;
    adoptTheme(data.theme);
    adoptLanguage(data.language);
  }, [data, adoptLanguage]);
  return null;
}
