import { useEffect, useState } from 'preact/hooks';
import { api, silentSince } from './api.ts';

/** Something asked of the service. */
export interface Resource<T> {
  /** The last answer, while the next one is under way, too. */
  readonly data: T | undefined;
  /** Undefined while nothing answers at all, too: that is told once for all of the page. */
  readonly error: string | undefined;
  /** True before there is an answer, or word that there is none. */
  readonly loading: boolean;
  /** Asks again. */
  readonly reload: () => void;
}

/**
 * Asks for `path` now, when it changes, and every `everyMs` while the page is looked at.
 * @param path undefined for nothing
 */
export function useResource<T>(path: string | undefined, everyMs?: number): Resource<T> {
  const [state, setState] = useState<{ path?: string; data?: T; error?: string }>({});
  const [round, setRound] = useState(0);
  const reload = () => setRound((before) => before + 1);

  // A new round asks again.
  useEffect(() => {
    if (path === undefined) return;
    let current = true;
    api<T>(path).then(
      (data) => current && setState({ path, data }),
      (error: Error) =>
        current &&
        setState((before) => ({
          path,
          error: error.message,
          ...(before.path === path && { data: before.data }),
        })),
    );
    return () => {
      current = false;
    };
  }, [path, round]);

  // What was not answered is asked again once there are answers.
  const isSilent = silentSince.value !== undefined;
  useEffect(() => {
    if (!isSilent && state.error !== undefined) reload();
  }, [isSilent]);

  useEffect(() => {
    if (everyMs === undefined || path === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) setRound((before) => before + 1);
    }, everyMs);
    return () => clearInterval(timer);
  }, [path, everyMs]);

  const isOwn = state.path === path;
  const error = isOwn && !isSilent ? state.error : undefined;
  const data = isOwn ? state.data : undefined;
  return { data, error, loading: data === undefined && error === undefined, reload };
}
