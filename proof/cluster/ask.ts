import type { Node } from './node.ts';

/** No answer by then is none. */
const ANSWER_MS_MAX = 300_000;

export interface Answered {
  readonly status: number;
  readonly isStale: boolean;
  readonly text: string;
  /** Of a list of a placement; empty for others. */
  readonly token: string;
  /** Of `performance.now`. */
  readonly askedMs: number;
  readonly answeredMs: number;
}

/** Undefined when there is no answer. */
export async function ask(node: Node, path: string, init: RequestInit = {}): Promise<Answered | undefined> {
  if (!node.isRunning) return undefined;
  const askedMs = performance.now();
  try {
    const answer = await fetch(node.url + path, { ...init, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    const text = await answer.text();
    const isStale = answer.headers.get('x-furze-stale') === 'true';
    const token = answer.headers.get('x-furze-recommendation') ?? '';
    return { status: answer.status, isStale, text, token, askedMs, answeredMs: performance.now() };
  } catch {
    return undefined;
  }
}
