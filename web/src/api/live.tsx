import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { subscribe } from "./server_events";
import type { StreamEvent } from "./types";

type Listener = (event: StreamEvent) => void;

interface Live {
  /** Whether events come now; null before the first connection. */
  connected: boolean | null;
  /** Counts the times that something may have been missed, so that what is shown must be fetched again. */
  generation: number;
  listeners: Set<Listener>;
}

const LiveContext = createContext<Live>({ connected: null, generation: 0, listeners: new Set() });
/** A page that nobody looks at gives its connection back after so long: a browser has only six for each server. */
const HIDDEN_MS = 30_000;

/** One stream of events for the whole application. */
export function LiveProvider({
  enabled,
  onRefused,
  onReconnected,
  children,
}: {
  enabled: boolean;
  onRefused: () => void;
  onReconnected: () => void;
  children: ReactNode;
}) {
  const [connected, setConnected] = useState<boolean | null>(null);
  const [generation, setGeneration] = useState(0);
  const [shown, setShown] = useState(true);
  const listeners = useRef(new Set<Listener>());
  const refused = useRef(onRefused);
  refused.current = onRefused;
  const reconnected = useRef(onReconnected);
  reconnected.current = onReconnected;

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") setShown(true);
      else timer = setTimeout(() => setShown(false), HIDDEN_MS);
    };
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);

  const before = useRef(false);
  useEffect(() => {
    if (!enabled || !shown) return;
    if (before.current) setGeneration((count) => count + 1);
    before.current = true;
    let lost = false;
    const subscription = subscribe("/v1/events", {
      onConnected: (now) => {
        if (now && lost) {
          // The server may be another one now, with another token for what has an effect.
          reconnected.current();
          setGeneration((count) => count + 1);
        }
        lost = !now;
        setConnected(now);
      },
      onRefused: () => {
        setConnected(false);
        refused.current();
      },
      onEvent: (message) => {
        const event = JSON.parse(message.data) as StreamEvent;
        if (event.type === "reset") setGeneration((count) => count + 1);
        for (const listener of listeners.current) listener(event);
      },
    });
    return subscription.close;
  }, [enabled, shown]);

  const live = useMemo(() => ({ connected, generation, listeners: listeners.current }), [connected, generation]);
  return <LiveContext value={live}>{children}</LiveContext>;
}

export function useLiveGeneration(): number {
  return use(LiveContext).generation;
}

export function useConnected(): boolean | null {
  return use(LiveContext).connected;
}

/** Hear every event while the component is shown. */
export function useEvents(listener: Listener): void {
  const { listeners } = use(LiveContext);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const hear: Listener = (event) => latest.current(event);
    listeners.add(hear);
    return () => {
      listeners.delete(hear);
    };
  }, [listeners]);
}
