import { useCallback, useEffect, useRef, useState } from "react";

import { ApiFailure } from "./client";
import { useLiveGeneration } from "./live";

export interface Resource<T> {
  data: T | null;
  error: ApiFailure | null;
  loading: boolean;
  reload: () => void;
  /** Put a newer value in place, such as one that came over the stream. */
  replace: (data: T) => void;
}

/**
 * What a page shows of the API: loaded when the key changes, and again when the stream was interrupted. While it is
 * loaded again, the page keeps showing what it had. A null key loads nothing.
 */
export function useResource<T>(key: string | null, load: () => Promise<T>): Resource<T> {
  const [state, setState] = useState<{
    key: string | null;
    data: T | null;
    error: ApiFailure | null;
    loading: boolean;
  }>({ key, data: null, error: null, loading: key !== null });
  const [asked, setAsked] = useState(0);
  const generation = useLiveGeneration();
  const loader = useRef(load);
  loader.current = load;

  useEffect(() => {
    if (key === null) {
      setState({ key, data: null, error: null, loading: false });
      return;
    }
    let current = true;
    setState((before) => ({ key, data: before.key === key ? before.data : null, error: null, loading: true }));
    loader.current().then(
      (data) => {
        if (current) setState({ key, data, error: null, loading: false });
      },
      (error: unknown) => {
        if (!current) return;
        if (!(error instanceof ApiFailure)) throw error;
        // What was loaded before is worth more than a blank page while the server is away.
        setState((before) => ({ key, data: error.offline ? before.data : null, error, loading: false }));
      },
    );
    return () => {
      current = false;
    };
  }, [key, asked, generation]);

  const reload = useCallback(() => setAsked((count) => count + 1), []);
  const replace = useCallback((data: T) => setState({ key, data, error: null, loading: false }), [key]);
  return { data: state.key === key ? state.data : null, error: state.error, loading: state.loading, reload, replace };
}

export interface Action<A extends unknown[]> {
  run: (...args: A) => void;
  running: boolean;
  error: ApiFailure | null;
  clear: () => void;
}

/** Something that a person sets off: one at a time, with its failure kept to be shown. */
export function useAction<A extends unknown[]>(act: (...args: A) => Promise<void>): Action<A> {
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<ApiFailure | null>(null);
  const busy = useRef(false);
  const run = (...args: A): void => {
    if (busy.current) return;
    busy.current = true;
    setRunning(true);
    setError(null);
    act(...args)
      .catch((failure: unknown) => {
        if (!(failure instanceof ApiFailure)) throw failure;
        setError(failure);
      })
      .finally(() => {
        busy.current = false;
        setRunning(false);
      });
  };
  return { run, running, error, clear: () => setError(null) };
}
