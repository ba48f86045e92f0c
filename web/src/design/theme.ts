import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const KEPT = "repertory.theme";
const listeners = new Set<() => void>();
const prefersDark = () => window.matchMedia("(prefers-color-scheme: dark)");
/** What the installation begins with, where the person chose nothing. */
let preset: Theme = "system";

function chosen(): Theme {
  const kept = localStorage.getItem(KEPT);
  return kept === "light" || kept === "dark" || kept === "system" ? kept : preset;
}

function shown(): "light" | "dark" {
  const theme = chosen();
  if (theme !== "system") return theme;
  return prefersDark().matches ? "dark" : "light";
}

function apply(): void {
  document.documentElement.dataset["theme"] = shown();
  for (const listener of listeners) listener();
}

/** Show the chosen theme from the first paint on, and follow the system where that was chosen. */
export function startTheme(): void {
  apply();
  prefersDark().addEventListener("change", apply);
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEPT, theme);
  apply();
}

/** Begin with a theme that the person did not choose. */
export function adoptTheme(theme: Theme): void {
  preset = theme;
  apply();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, chosen);
}

export function useShownTheme(): "light" | "dark" {
  return useSyncExternalStore(subscribe, shown);
}
