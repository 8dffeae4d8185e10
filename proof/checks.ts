import { setTimeout as pause } from 'node:timers/promises';

/** How long a service has to come to where it should be. */
export const PATIENCE_MS = 300_000;

/** What a proof looked at, and what it could not. */
export class Checks {
  readonly found: { readonly name: string; readonly isRight: boolean }[] = [];
  readonly skipped: string[] = [];

  /** Notes and prints whether something is as it should be. */
  check(name: string, isRight: boolean, detail = ''): void {
    this.found.push({ name, isRight });
    console.log(`${isRight ? 'ok    ' : 'FAILED'} ${name}${detail === '' ? '' : `: ${detail}`}`);
  }

  /** Notes and prints what cannot be tried on this machine. */
  skip(name: string, why: string): void {
    this.skipped.push(name);
    console.log(`SKIPPED ${name}: ${why}`);
  }
}

/** The status of an answer. */
export async function status(url: string, method: string, path: string, body?: unknown): Promise<number> {
  const answer = await fetch(url + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Asks until the answer is that; the last answer. */
export async function until(
  expected: number,
  ask: () => Promise<number>,
  patienceMs = PATIENCE_MS,
): Promise<number> {
  const deadline = Date.now() + patienceMs;
  let last = await ask();
  while (last !== expected && Date.now() < deadline) {
    await pause(200);
    last = await ask();
  }
  return last;
}
