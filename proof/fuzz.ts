// npm run fuzz -- --requests N: sends what the OpenAPI document allows and much that it does not, one in ten as raw bytes.
import fc from 'fast-check';
import { createRandom } from '../src/domain/random.ts';
import { FurzeProcess } from './furze-process.ts';
import { type FuzzRequest, fuzzRequests, type OpenApi } from './fuzz-requests.ts';
import { tryRaw } from './raw-requests.ts';
import { runProof } from './run-proof.ts';

const AT_ONCE = 8;
const RAW_SHARE = 0.1;
const ANSWER_MS_MAX = 300_000;
const RESIDENT_MB_MAX = 1500;

await runProof('requests', 100_000, async ({ amount, seed, folder }) => {
  const furze = await FurzeProcess.serve(folder);
  const document = (await (await fetch(`${furze.url}/apidocs.json`)).json()) as OpenApi;
  const port = Number(new URL(furze.url).port);
  const random = createRandom(seed);
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const rawCount = Math.floor(amount * RAW_SHARE);

  const requests = fc.sample(fuzzRequests(document), { numRuns: amount - rawCount, seed });
  await inTurns(requests, async (request) => {
    const fault = await tryRequest(furze.url, request, count);
    if (fault !== undefined)
      faults.push(`${request.method} ${request.path.slice(0, 200)} ${request.body?.slice(0, 200)}: ${fault}`);
  });
  await inTurns(Array.from({ length: rawCount }), async () => {
    const { kind, statuses: answers, fault } = await tryRaw(port, random);
    for (const status of answers) count(status);
    if (fault !== undefined) faults.push(`raw, ${kind}: ${fault}`);
  });

  const ready = furze.hasEnded ? undefined : await fetch(`${furze.url}/api/health/ready`);
  const alive = ready?.status === 200;
  if (!alive) console.log(await ready?.text());
  const residentMb = await residentMbOf(furze.url);
  await furze.stop();
  for (const fault of faults.slice(0, 20)) console.log(fault);
  if (!alive) console.log(furze.output.slice(-2000));
  const answers = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
  return {
    line: `fuzz: ${amount.toLocaleString('en')} requests, ${rawCount.toLocaleString('en')} of them raw; ${faults.length} wrong answers or hangs, ${alive ? 'ready' : 'not ready'} after, ${residentMb} MB resident; ${answers.join(', ')}`,
    holds: faults.length === 0 && alive && residentMb < RESIDENT_MB_MAX,
  };
});

/** @returns what is wrong with the answer, undefined for nothing */
async function tryRequest(
  url: string,
  { method, path, headers, body }: FuzzRequest,
  count: (status: number) => void,
  isLast = false,
): Promise<string | undefined> {
  try {
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    count(answer.status);
    // A stream goes on until its caller leaves.
    const isStream = answer.headers.get('content-type') === 'text/event-stream';
    const text = isStream ? await answer.body!.cancel().then(() => '') : await answer.text();
    if (answer.status >= 500 && answer.status !== 503) return `status ${answer.status} ${text.slice(0, 200)}`;
    if (/json/.test(answer.headers.get('content-type') ?? '') && text !== '') JSON.parse(text);
    if (answer.headers.has('x-injected')) return 'a header was injected';
    return undefined;
  } catch (error) {
    const { message, cause } = error as Error;
    // A server may close a connection that rests just when a client begins to use it again (RFC 9112, 9.3.1): once more.
    if (!isLast && (cause as NodeJS.ErrnoException | undefined)?.code === 'UND_ERR_SOCKET')
      return tryRequest(url, { method, path, headers, body }, count, true);
    return `${message} ${(cause as Error | undefined)?.message ?? ''}`;
  }
}

async function residentMbOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1] ?? Number.NaN) / 1e6);
}

/** Does `work` for each entry, some at a time. */
async function inTurns<T>(entries: readonly T[], work: (entry: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < entries.length) await work(entries[next++] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
