import { createContext, use, useCallback, useEffect, useState, type ReactNode } from "react";

import { answerOf, api, ApiFailure, SESSION_DOUBTED, setCsrf } from "../api/client";
import type { SessionInfo } from "../api/types";

interface SessionState {
  session: SessionInfo;
  signIn: (key: string) => Promise<void>;
  signOut: () => Promise<void>;
  refresh: () => Promise<void>;
}

const SessionContext = createContext<SessionState | null>(null);

/** Asks who is there before anything else is shown. */
export function SessionProvider({
  children,
  whileUnknown,
}: {
  children: ReactNode;
  whileUnknown: (failure: ApiFailure | null, retry: () => void) => ReactNode;
}) {
  const [session, setSession] = useState<SessionInfo | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);

  const take = useCallback((info: SessionInfo) => {
    setCsrf(info.csrf);
    setSession(info);
    setFailure(null);
  }, []);
  const refresh = useCallback(async () => take(await answerOf(api.GET("/api/session"))), [take]);
  const first = useCallback(() => {
    refresh().catch((error: unknown) => {
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
    });
  }, [refresh]);
  useEffect(first, [first]);
  useEffect(() => {
    window.addEventListener(SESSION_DOUBTED, first);
    return () => window.removeEventListener(SESSION_DOUBTED, first);
  }, [first]);
  // The server may just be starting again: the page gets there by itself.
  useEffect(() => {
    if (failure === null || !failure.offline) return;
    const timer = setTimeout(first, 2000);
    return () => clearTimeout(timer);
  }, [failure, first]);

  if (session === null) return whileUnknown(failure, first);
  const state: SessionState = {
    session,
    refresh,
    signIn: async (key) => take(await answerOf(api.POST("/api/session", { body: { key } }))),
    signOut: async () => {
      await answerOf(api.DELETE("/api/session"));
      await refresh();
    },
  };
  return <SessionContext value={state}>{children}</SessionContext>;
}

export function useSession(): SessionState {
  const state = use(SessionContext);
  if (state === null) throw new Error("useSession needs a SessionProvider above it");
  return state;
}
