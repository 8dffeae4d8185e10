import { useEffect, useState } from 'preact/hooks';
import { api } from './api.ts';

/** Questions that follow one another by less are one, milliseconds. */
const CALM_MS = 400;

/**
 * Asks by POST now, and when the question changes; the last answer stays until there is another one.
 * @param body as JSON; undefined for nothing
 */
export function usePosted<T>(path: string, body: string | undefined): { data?: T; error?: string } {
  const [state, setState] = useState<{ data?: T; error?: string }>({});
  useEffect(() => {
    if (body === undefined) return;
    let isCurrent = true;
    const ask = () =>
      api<T>(path, 'POST', JSON.parse(body)).then(
        (data) => isCurrent && setState({ data }),
        (problem: Error) => isCurrent && setState(({ data }) => ({ data, error: problem.message })),
      );
    const timer = setTimeout(ask, state.data === undefined ? 0 : CALM_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [path, body]);
  return state;
}
