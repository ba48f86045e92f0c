import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react";

import { CATALOGS, type Language, type Message } from "./catalogs";

export type Translate = (message: Message, values?: Record<string, string | number>) => string;

const LOCALES: Record<Language, string> = { en: "en-GB", pt: "pt-BR" };
const KEPT = "repertory.language";

interface LanguageState {
  language: Language;
  locale: string;
  t: Translate;
  setLanguage: (language: Language) => void;
  /** Begin with a language that the person did not choose; null follows the browser. */
  adoptLanguage: (language: string | null) => void;
}

/** Fill the places `{name}` of a message; a place without a value stays visible, so that a mistake is seen. */
export function fill(text: string, values: Record<string, string | number> = {}): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

/** The language a person chose before, else the first one of the browser that there is a catalog for. */
export function firstLanguage(kept: string | null, wished: readonly string[]): Language {
  if (kept === "en" || kept === "pt") return kept;
  for (const wish of wished) {
    const primary = wish.toLowerCase().split("-")[0];
    if (primary === "en" || primary === "pt") return primary;
  }
  return "en";
}

const LanguageContext = createContext<LanguageState | null>(null);

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(() =>
    firstLanguage(localStorage.getItem(KEPT), navigator.languages),
  );
  useEffect(() => {
    document.documentElement.lang = LOCALES[language];
  }, [language]);
  const adoptLanguage = useCallback((preset: string | null) => {
    if (preset !== null && localStorage.getItem(KEPT) === null) setLanguage(firstLanguage(null, [preset]));
  }, []);
  const state = useMemo<LanguageState>(
    () => ({
      language,
      locale: LOCALES[language],
      t: (message, values) => fill(CATALOGS[language][message], values),
      setLanguage: (next) => {
        localStorage.setItem(KEPT, next);
        setLanguage(next);
      },
      adoptLanguage,
    }),
    [language, adoptLanguage],
  );
  return <LanguageContext value={state}>{children}</LanguageContext>;
}

export function useLanguage(): LanguageState {
  const state = use(LanguageContext);
  if (state === null) throw new Error("useLanguage needs a LanguageProvider above it");
  return state;
}
