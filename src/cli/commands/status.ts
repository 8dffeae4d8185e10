import { Command } from 'commander';
import type { Environment } from '../../config/config.ts';
import type { Node, RankingChoice, Summary } from '../../domain/admin-schemas.ts';
import { counted, countedRecords, groupDigits } from '../../domain/group-digits.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { ServiceClient } from '../../exchange/service-client.ts';
import { ExitStatus } from '../common/exit-status.ts';
import { findService } from '../common/find-service.ts';
import { addPlaceOptions, numberOption, type PlaceOptions } from '../common/options.ts';

const NOT_READY = 1;
const UNREACHABLE = 2;
const TIMEOUT_SECONDS = 5;
/** Ways to rank that are shown beside the chosen one; the dashboard has all. */
const OTHERS_SHOWN = 3;
const readTimeout = numberOption(
  'a number of seconds above 0, up to 3600',
  (seconds) => seconds > 0 && seconds <= 3600,
);
const ONE_LINE = /^[^\n<[{][^\n<]*$/;

interface StatusOptions extends PlaceOptions {
  readonly json?: boolean;
  readonly timeout: number;
}

/** `furze status`: how a running service is. */
export function statusCommand(env: Environment): Command {
  const command = new Command('status').description(
    'tell how a running service is: exits 0 when it is ready, 1 when not, 2 when it cannot be asked',
  );
  return addPlaceOptions(command, { hasUrl: true })
    .option('--json', 'print the whole summary as JSON')
    .option('--timeout <seconds>', 'how long to wait for the answer', readTimeout, TIMEOUT_SECONDS)
    .addHelpText(
      'after',
      '\nWithout --url it is the service that runs on the data folder, else the one that the configuration describes.\n' +
        'A service is ready also before it has learned anything; --json has "Model" once it has.\n\n' +
        'Examples:\n  furze status\n  furze status --data ./data\n  furze status --url http://127.0.0.1:8087',
    )
    .action(async (options: StatusOptions) => {
      const service = await findService(options, env);
      const summary = await ask(service, options.timeout * 1000);
      process.stdout.write(options.json ? `${JSON.stringify(summary, undefined, 2)}\n` : describe(summary));
      if (!summary.Ready) throw new ExitStatus(NOT_READY);
    });
}

/** @throws ExitStatus when there is no answer or not that of a service, after saying why */
async function ask(service: ServiceClient, timeoutMs: number): Promise<Summary> {
  try {
    const response = await service.send('GET', '/api/admin/summary', { timeoutMs });
    const text = await response.text();
    const answer = readJson(text) as Partial<Summary & { readonly detail: string }> | undefined;
    if (response.ok && answer?.Sentence !== undefined) return answer as Summary;
    // A refusal is JSON or, where it is so configured, one line.
    const detail = answer?.detail ?? (ONE_LINE.test(text) ? text : undefined);
    const isOwn = !response.ok && response.headers.has('X-Request-ID') && detail !== undefined;
    throw new OperatorError(
      isOwn
        ? `${service.url} answered ${response.status}: ${detail}`
        : `what answers at ${service.url} is not furze (its status is ${response.status})`,
    );
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    process.stderr.write(`furze: ${error.message}\n`);
    throw new ExitStatus(UNREACHABLE);
  }
}

/** @returns undefined for what is no JSON object */
function readJson(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

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
  const lines = [
    Sentence,
    `  ${countedRecords({ users: Users, items: Items, feedback: Feedback })} (${groupDigits(PositiveFeedback)} positive${PositiveFeedback > Feedback ? ', each event counted' : ''})`,
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
    lines.push(
      `  ${Task.Kind}: ${Task.Stage}, ${groupDigits(Task.Done ?? 0)} of ${groupDigits(Task.Total ?? 0)}${left}`,
    );
  }
  if (Nodes.length > 0) lines.push('  nodes', ...Nodes.map((node) => `    ${describeNode(node)}`));
  for (const { Severity, Message, Advice } of Troubles) lines.push(`${Severity}: ${Message}`, `  ${Advice}`);
  return `${lines.join('\n')}\n`;
}

function describeNode({ Name, Role, Version, Address, Generation, CommitsBehind, ...node }: Node): string {
  const state = node.State === 'there' ? '' : `, gone for ${Math.round(node.SilentSeconds)} s`;
  const serves = Generation === 0 ? 'no generation' : `generation ${Generation}`;
  return `${Name} (${Role}${node.Leads ? ', leads' : ''}) at ${Address}: furze ${Version}, ${serves}, ${counted(CommitsBehind, 'commits')} behind${state}`;
}

/** The chosen ranking, and those next to it. */
function describeChoice({ Users, Chosen, Ways, Reason }: RankingChoice): string[] {
  const place = (name: string) => Ways.find(({ Name }) => Name === name);
  const next = Ways.filter(({ Name }) => Name !== Chosen).slice(0, OTHERS_SHOWN);
  return [
    `  ranked by ${readable(Chosen)}, chosen on the held-out feedback of ${counted(Users, 'users')} (NDCG@10)`,
    ...(Reason === undefined ? [] : [`    (${readable(Reason)})`]),
    ...[place(Chosen), ...next].flatMap((way) => (way === undefined ? [] : [`    ${showWay(way)}`])),
  ];
}

function showWay({ Name, Quality: { Mean, HalfWidth } }: RankingChoice['Ways'][number]): string {
  return `${Mean.toFixed(3)} ± ${HalfWidth.toFixed(3)} ${readable(Name)}`;
}

function readable(name: string): string {
  return name.replaceAll('_', ' ');
}
