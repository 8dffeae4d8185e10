import { Command } from 'commander';
import type { Node, RankingChoice, Summary } from '../domain/admin-schemas.ts';
import type { Environment } from '../domain/config/config.ts';
import { ExitStatus } from './exit-status.ts';
import { loadConfig } from './load-config.ts';
import { parseTimeout, parseUrl } from './options.ts';
import { baseUrl } from './run-service.ts';

const NOT_READY = 1;
const UNREACHABLE = 2;
const TIMEOUT_SECONDS = 5;
/** Ways to rank that are shown beside the chosen one; the dashboard has all. */
const OTHERS_SHOWN = 3;

interface StatusOptions {
  readonly config?: string;
  readonly url?: string;
  readonly json?: boolean;
  readonly timeout: number;
}

/** `furze status`: how a running service is. */
export function statusCommand(env: Environment): Command {
  return new Command('status')
    .description(
      'tell how a running service is: exits 0 when it is ready, 1 when not, 2 when it cannot be asked',
    )
    .option('-c, --config <file>', 'configuration file (TOML) of the service, for its address and key')
    .option('-u, --url <url>', 'address of the service instead', parseUrl)
    .option('--json', 'print the whole summary as JSON')
    .option('--timeout <seconds>', 'how long to wait for the answer', parseTimeout, TIMEOUT_SECONDS)
    .addHelpText(
      'after',
      '\nThe key is [server] api_key or FURZE_SERVER_API_KEY.\n\nExample:\n  furze status --url http://127.0.0.1:8087',
    )
    .action(async (options: StatusOptions) => {
      const { server } = loadConfig({ path: options.config, env });
      const url = options.url ?? baseUrl({ protocol: server.ssl_cert === '' ? 'http' : 'https', ...server });
      const key = server.api_key || (server.api_keys[0] ?? '');
      const summary = await ask(url, key, options.timeout * 1000);
      process.stdout.write(options.json ? `${JSON.stringify(summary, undefined, 2)}\n` : describe(summary));
      if (!summary.Ready) throw new ExitStatus(NOT_READY);
    });
}

/** @throws ExitStatus when there is no answer, after saying why */
async function ask(url: string, apiKey: string, timeoutMs: number): Promise<Summary> {
  const fail = (why: string) => {
    process.stderr.write(`furze: ${url} ${why}\n`);
    return new ExitStatus(UNREACHABLE);
  };
  let response: Response;
  try {
    response = await fetch(`${url}/api/admin/summary`, {
      headers: apiKey === '' ? {} : { 'X-API-Key': apiKey },
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    throw fail(reasonOf(error, timeoutMs));
  }
  if (response.status === 401) throw fail('asks for its key; set FURZE_SERVER_API_KEY');
  if (!response.ok) throw fail(`answered with ${response.status}`);
  try {
    return (await response.json()) as Summary;
  } catch {
    throw fail('is not furze: its answer is no JSON');
  }
}

function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  if (name === 'TimeoutError') return `did not answer within ${timeoutMs / 1000} s`;
  if (cause?.code === 'ECONNREFUSED') return 'is not listened on; is the service running?';
  return `cannot be reached: ${cause?.message ?? message}`;
}

/** The summary for a person. */
function describe({
  Sentence,
  Users,
  Items,
  Feedback,
  PositiveFeedback,
  Model,
  Task,
  Nodes = [],
  Troubles,
}: Summary): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const lines = [
    Sentence,
    `  ${count(Users)} users, ${count(Items)} items, ${count(Feedback)} feedback (${count(PositiveFeedback)} positive)`,
  ];
  if (Model !== undefined) {
    const measures = Object.entries(Model.Quality).map(
      ([name, value]) => `${name} ${Number(value.toPrecision(3))}`,
    );
    lines.push(
      `  model ${Model.Generation}: ${[...measures, `${Math.round(Model.Bytes / 2 ** 20)} MiB`].join(', ')}`,
    );
  }
  if (Model?.Choice !== undefined) lines.push(...describeChoice(Model.Choice));
  if (Task?.Stage !== undefined) {
    const left = Task.SecondsLeft ? `, ${Math.ceil(Task.SecondsLeft)} s left` : '';
    lines.push(`  ${Task.Kind}: ${Task.Stage}, ${count(Task.Done ?? 0)} of ${count(Task.Total ?? 0)}${left}`);
  }
  if (Nodes.length > 0) lines.push('  nodes', ...Nodes.map((node) => `    ${describeNode(node)}`));
  for (const { Severity, Message, Advice } of Troubles) lines.push(`${Severity}: ${Message}`, `  ${Advice}`);
  return `${lines.join('\n')}\n`;
}

function describeNode({ Name, Role, Version, Address, Generation, CommitsBehind, ...node }: Node): string {
  const state = node.State === 'there' ? '' : `, gone for ${Math.round(node.SilentSeconds)} s`;
  const serves = Generation === 0 ? 'no generation' : `generation ${Generation}`;
  return `${Name} (${Role}${node.Leads ? ', leads' : ''}) at ${Address}: furze ${Version}, ${serves}, ${CommitsBehind} commits behind${state}`;
}

/** What ranks, and what came next to it. */
function describeChoice({ Users, Chosen, Ways }: RankingChoice): string[] {
  const place = (name: string) => Ways.find(({ Name }) => Name === name);
  const next = Ways.filter(({ Name }) => Name !== Chosen).slice(0, OTHERS_SHOWN);
  return [
    `  ranked by ${Chosen}, chosen on the held-out feedback of ${Users.toLocaleString('en-US')} users (NDCG@10)`,
    ...[place(Chosen), ...next].flatMap((way) => (way === undefined ? [] : [`    ${showWay(way)}`])),
  ];
}

function showWay({ Name, Quality: { Mean, HalfWidth } }: RankingChoice['Ways'][number]): string {
  return `${Mean.toFixed(3)} ± ${HalfWidth.toFixed(3)} ${Name}`;
}
