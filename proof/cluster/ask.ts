import type { Node } from './node.ts';

export interface Answered {
  readonly status: number;
  readonly isStale: boolean;
  readonly text: string;
}

/** Undefined when there is no answer. */
export async function ask(node: Node, path: string, init: RequestInit = {}): Promise<Answered | undefined> {
  if (!node.isRunning) return undefined;
  try {
    const answer = await fetch(node.url + path, { ...init, signal: AbortSignal.timeout(30_000) });
    const text = await answer.text();
    return { status: answer.status, isStale: answer.headers.get('x-furze-stale') === 'true', text };
  } catch {
    return undefined;
  }
}
