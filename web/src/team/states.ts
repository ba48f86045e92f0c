import type { Tone } from "../components/ui";
import type { Message } from "../i18n/catalogs";
import { useLanguage } from "../i18n/language";

const TONES: Record<string, Tone> = {
  done: "good",
  complete: "good",
  ready: "good",
  live: "good",
  built: "good",
  present: "good",
  kept: "good",
  "in use": "good",
  running: "info",
  reading: "info",
  writing: "velvet",
  starting: "info",
  pulling: "info",
  canary: "warn",
  partial: "warn",
  partly: "warn",
  late: "warn",
  fallback: "warn",
  backing_off: "warn",
  interrupted: "warn",
  not_built: "warn",
  failed: "bad",
  missed: "bad",
  refused: "bad",
  not_answering: "bad",
  revoked: "bad",
};

/** The colour of a state: the same wherever it is shown. */
export function agentStateTone(state: string): Tone {
  return TONES[state] ?? "neutral";
}

const NAMES = {
  idle: "state.idle",
  pending: "state.idle",
  waiting: "state.waiting",
  reading: "state.reading",
  writing: "state.writing",
  running: "state.running",
  done: "state.done",
  failed: "state.failed",
  late: "state.late",
  skipped: "state.skipped",
  fallback: "state.fallback",
  complete: "state.complete",
  partial: "state.partial",
  interrupted: "state.interrupted",
  starting: "state.starting",
  ready: "state.ready",
  asleep: "state.asleep",
  backing_off: "state.backingOff",
  stopped: "state.stopped",
  not_answering: "state.notAnswering",
  built: "state.built",
  not_built: "state.notBuilt",
  refused: "state.refused",
  draft: "state.draft",
  canary: "state.canary",
  live: "state.live",
  retired: "state.retired",
  present: "state.present",
  available: "state.available",
  pulling: "state.pulling",
  open: "state.open",
  kept: "state.kept",
  partly: "state.partly",
  missed: "state.missed",
  dropped: "state.dropped",
  "in use": "state.inUse",
  expired: "state.expired",
  revoked: "state.revoked",
} as const satisfies Record<string, Message>;

/** The name of a state in the viewer's language; one that is not known stays as the API calls it. */
export function useStateName(): (state: string) => string {
  const { t } = useLanguage();
  return (state) => (state in NAMES ? t(NAMES[state as keyof typeof NAMES]) : state.replaceAll("_", " "));
}
