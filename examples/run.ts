/**
 * Runs the examples of models of other tools from feedback to lists, on the films of `data/`: a service learns, its feedback is
 * exported, a tool trains without what the service holds out and then with all, both models are put, and held-out feedback
 * tells what theirs came to beside our own. An example whose packages Python does not have is skipped, which is said.
 *
 *   npm run examples -- [--python PROGRAM] [--only implicit|sasrec|spark]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { FurzeProcess, pause } from '../proof/furze-process.ts';
import type { Summary } from '../src/domain/admin-schemas.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAIN = join(ROOT, 'dist/main.js');
const STEP_MS_MAX = 1_800_000;
/** Of the films' users. */
const SOMEBODY = '1';
const LIST_LENGTH = 10;

interface Example {
  readonly name: string;
  /** Modules of Python that it needs. */
  readonly needs: readonly string[];
  readonly script: string;
  readonly args: readonly string[];
  /** Arguments of `furze model put` for what the script has written as `out`. */
  readonly put: (out: string) => readonly string[];
  /** True for one that does what our own matrix factorization does. */
  readonly isAls: boolean;
}

const EXAMPLES: readonly Example[] = [
  {
    name: 'implicit',
    needs: ['implicit', 'pandas', 'pyarrow'],
    script: 'implicit/train.py',
    // As our own: of pairs without feedback one counts a tenth, and the penalty of a user of some likes is about 5.7.
    args: ['--iterations', '3', '--regularization', '57'],
    put: (out) => [`${out}.npz`, '--ids', `${out}-items.txt`],
    isAls: true,
  },
  {
    name: 'sasrec',
    needs: ['torch', 'pandas', 'pyarrow'],
    script: 'sasrec/train.py',
    args: [],
    put: (out) => [`${out}-items.parquet`, '--users', `${out}-users.parquet`, '--fold', 'mean'],
    isAls: false,
  },
  {
    name: 'spark',
    needs: ['pyspark'],
    script: 'spark/train_als.py',
    args: [
      '--master',
      'local-cluster[2,1,1024]',
      '--iterations',
      '3',
      '--partitions',
      '4',
      '--regularization',
      '5',
    ],
    put: (out) => [out, '--unobserved-weight', '0.1', '--regularization', '5.7'],
    isAls: true,
  },
];

/** Runs a program to its end. @returns what it printed */
function run(program: string, args: readonly string[]): string {
  const env = { ...process.env, SPARK_LOCAL_IP: '127.0.0.1', OPENBLAS_NUM_THREADS: '1' };
  const done = spawnSync(program, args, { env, encoding: 'utf8', timeout: STEP_MS_MAX, maxBuffer: 2 ** 28 });
  if (done.status === 0) return done.stdout;
  throw new Error(`${program} ${args.join(' ')} ended with ${done.status}:\n${done.stdout}\n${done.stderr}`);
}

/** A service in a folder of its own. */
class ExampleService {
  readonly folder = mkdtempSync(join(tmpdir(), 'furze-examples-'));
  private readonly config = join(this.folder, 'furze.toml');
  private process: FurzeProcess | undefined;

  furze(command: string, ...args: string[]): string {
    return run(process.execPath, [MAIN, ...command.split(' '), ...args, '-c', this.config]);
  }

  async start(): Promise<void> {
    const stores = ['data', 'cache'].map((name) => `${name}_store = "lmdb://${join(this.folder, name)}"`);
    const likes = '[recommend.data_source]\npositive_feedback_types = ["like"]';
    // Lists of sixteen thousand users after each fit took two thirds of all: those who are asked for get theirs.
    const lists = '[recommend.offline]\nactive_user_ttl = "1s"';
    writeFileSync(this.config, ['[server]\nport = 0\n[database]', ...stores, likes, lists, ''].join('\n'));
    this.furze('import --from movielens', join(ROOT, 'data/movietweetings-100k'), '--positive', '7');
    this.process = FurzeProcess.start(['serve', '-c', this.config]);
    await this.process.ready();
    const until = Date.now() + STEP_MS_MAX;
    while ((await this.summary()).Model?.Choice === undefined) {
      if (Date.now() > until) throw new Error('the service has learned nothing');
      await pause(1000);
    }
  }

  async summary(): Promise<Summary> {
    return (await (await fetch(`${this.process!.url}/api/admin/summary`)).json()) as Summary;
  }

  async listOf(userId: string): Promise<readonly string[]> {
    // Programs were waited for: what the service has closed meanwhile is seen first.
    await pause(10);
    return (await (
      await fetch(`${this.process!.url}/api/recommend/${userId}?n=${LIST_LENGTH}`)
    ).json()) as string[];
  }

  async stop(): Promise<void> {
    await this.process?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** @returns whether it held */
function runExample(example: Example, service: ExampleService, python: string, asOf: string): boolean {
  const { name, script, args, put } = example;
  const feedback = join(service.folder, 'feedback');
  const train = (out: string, ...more: string[]) =>
    run(python, [join(ROOT, 'examples', script), '--feedback', feedback, '--out', out, ...args, ...more]);
  const [early, all] = ['early', 'all'].map((part) => join(service.folder, `${name}-${part}`)) as [
    string,
    string,
  ];
  process.stdout.write(train(early, '--until', asOf));
  service.furze('model put', ...put(early), '--name', `${name}-early`, '--no-use');
  process.stdout.write(train(all));
  const judged = ['--judged-by', `${name}-early`, '--wait', '--json'];
  const lines = service
    .furze('model put', ...put(all), '--name', name, ...judged)
    .trim()
    .split('\n');
  const ways = JSON.parse(lines.at(-1)!) as { Name: string; Quality: { Mean: number; HalfWidth: number } }[];
  const of = (way: string) => ways.find(({ Name }) => Name === way)?.Quality;
  const [given, own] = [of('given'), of('collaborative')];
  if (given === undefined || own === undefined)
    throw new Error(`${name} was not judged: ${lines.join('\n')}`);
  const list = JSON.parse(service.furze('status', '--json')) as Summary;
  const text = ({ Mean, HalfWidth }: typeof own) => `${Mean.toFixed(4)} ± ${HalfWidth.toFixed(4)}`;
  // Of intervals that do not even touch the difference is no chance.
  const isLevel = given.Mean + given.HalfWidth >= own.Mean - own.HalfWidth;
  console.log(
    `${name}: NDCG@10 ${text(given)}, our ALS ${text(own)}, lists by ${list.Model?.Choice?.Chosen}${isLevel ? '' : ': BEHIND'}`,
  );
  return isLevel || !example.isAls;
}

const { python, only } = new Command()
  .option('--python <program>', 'Python with the packages', 'python3')
  .option('--only <example>', 'this one alone')
  .parse()
  .opts<{ python: string; only?: string }>();
const wanted = EXAMPLES.filter(({ name }) => only === undefined || name === only);
const ready = wanted.filter(({ name, needs }) => {
  const missing = needs.filter((module) => spawnSync(python, ['-c', `import ${module}`]).status !== 0);
  if (missing.length > 0) console.log(`SKIPPED examples/${name}: ${python} has no ${missing.join(', ')}`);
  return missing.length === 0;
});
if (ready.length > 0) {
  const service = new ExampleService();
  try {
    await service.start();
    service.furze('export feedback --format parquet', '-o', join(service.folder, 'feedback'));
    const { AsOf } = (await service.summary()).Model!.Choice!;
    const held = ready.filter((example) => runExample(example, service, python, AsOf));
    const list = await service.listOf(SOMEBODY);
    if (list.length < LIST_LENGTH) console.log(`FAILED: the list of ${SOMEBODY} is ${JSON.stringify(list)}`);
    if (held.length < ready.length || list.length < LIST_LENGTH) process.exitCode = 1;
  } finally {
    await service.stop();
  }
}
