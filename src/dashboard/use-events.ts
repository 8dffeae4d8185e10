import { useEffect, useState } from 'preact/hooks';
import { ask } from './api.ts';

/** Time after the end of a stream, however it came, until the next one is asked for. */
const AGAIN_MS = 2000;

/**
 * Follows a stream of server-sent events while the page is looked at, each JSON; one that ends is begun anew. The browser's own
 * reader of such streams sends no key.
 * @param take given each event, and whether it is the first of its stream
 * @returns why there is none
 */
export function useEvents<T>(path: string, take: (event: T, isFirst: boolean) => void): string | undefined {
  const [error, setError] = useState<string>();
  useEffect(() => {
    let stop = new AbortController();
    let timer = 0;
    const follow = async () => {
      if (document.hidden) return;
      const { signal } = (stop = new AbortController());
      try {
        const response = await ask(path, 'GET', undefined, signal);
        setError(undefined);
        await readEvents(response, take);
      } catch (problem) {
        if (signal.aborted) return;
        setError((problem as Error).message);
      }
      timer = window.setTimeout(follow, AGAIN_MS);
    };
    const leave = () => {
      stop.abort();
      clearTimeout(timer);
    };
    const look = () => {
      leave();
      void follow();
    };
    document.addEventListener('visibilitychange', look);
    void follow();
    return () => {
      document.removeEventListener('visibilitychange', look);
      leave();
    };
  }, [path]);
  return error;
}

async function readEvents<T>({ body }: Response, take: (event: T, isFirst: boolean) => void): Promise<void> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let isFirst = true;
  for (let text = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split('\n\n');
    text = events.pop()!;
    for (const event of events) {
      if (!event.startsWith('data: ')) continue;
      take(JSON.parse(event.slice(6)) as T, isFirst);
      isFirst = false;
    }
  }
}
