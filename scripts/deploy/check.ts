// npm run deploy:check: what is in deploy/, each part by its own checker or by running it. What cannot be had here is
// skipped with a loud line.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkMonitoring } from './monitoring.ts';
import { checkProxies } from './proxies.ts';
import { Report } from './report.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A start that takes longer has failed. */
const START_MS_MAX = 600_000;
const report = new Report();
const work = mkdtempSync(join(tmpdir(), 'furze-deploy-'));

/** What `COPY . .` takes, by .dockerignore, out of what is in the repository. */
function copyContext(to: string): void {
  const allowed = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
  for (const path of tracked) {
    if (!allowed.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(ROOT, path), join(to, path));
  }
}

/** The steps of the Dockerfile, in a folder with nothing but its context. @returns where the program is */
function runImageSteps(): string {
  const [context, staged] = [join(work, 'context'), join(work, 'staged')];
  copyContext(context);
  const step = (...args: string[]) =>
    execFileSync('npm', args, { cwd: context, stdio: ['ignore', 'ignore', 'inherit'] });
  step('ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline');
  step('run', 'build');
  step('run', 'stage', '--', '--out', staged);
  rmSync(context, { recursive: true });
  return join(staged, 'dist', 'main.js');
}

/** Starts the image's program and waits until its own health check is content. */
async function startService(main: string): Promise<{ child: ChildProcess; url: string }> {
  const data = join(work, 'data');
  mkdirSync(data);
  const env = {
    PATH: process.env.PATH,
    FURZE_SERVER_PORT: '0',
    FURZE_SERVER_SHUTDOWN_TIMEOUT: '10m',
    FURZE_DATABASE_DATA_STORE: `lmdb://${data}/store`,
    FURZE_DATABASE_CACHE_STORE: `lmdb://${data}/cache`,
  };
  const child = spawn(process.execPath, [main, 'serve'], {
    cwd: data,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (piece: Buffer) => {
    output += piece;
  });
  let url: string | undefined;
  const deadline = performance.now() + START_MS_MAX;
  while (url === undefined && child.exitCode === null && performance.now() < deadline) {
    await pause(100);
    url = /"url":"([^"]+)"/.exec(output)?.[1];
  }
  if (url === undefined) throw new Error(`the image's program did not start: ${output}`);
  return { child, url };
}

/** The unit names a program that is not installed here. */
function checkUnit(): void {
  const unit = readFileSync(join(ROOT, 'deploy/systemd/furze.service'), 'utf8');
  const path = join(work, 'furze.service');
  writeFileSync(path, unit.replaceAll('/usr/local/bin/furze', process.execPath));
  report.byProgram('systemd unit', 'systemd-analyze', ['verify', '--man=no', path]);
}

/** The chart passes helm's own rules, and with its defaults it is the manifest for those who have no helm. */
function checkChart(): void {
  const chart = join(ROOT, 'deploy/helm/furze');
  report.byProgram('Helm chart', 'helm', ['lint', '--strict', chart]);
  const manifest = report.byProgram('rendering of the Helm chart', 'helm', ['template', 'furze', chart]);
  if (manifest === undefined) return;
  const kept = readFileSync(join(ROOT, 'deploy/kubernetes/cluster.yaml'), 'utf8');
  report.check('deploy/kubernetes/cluster.yaml is the chart with its defaults', kept.endsWith(manifest));
}

try {
  report.byProgram('Dockerfile', 'hadolint', [join(ROOT, 'deploy/Dockerfile')]);
  report.byProgram('Kubernetes manifests', 'kubeconform', [
    '-strict',
    join(ROOT, 'deploy/kubernetes/furze.yaml'),
    join(ROOT, 'deploy/kubernetes/cluster.yaml'),
  ]);
  checkChart();
  report.byProgram('HAProxy in front of a cluster', 'haproxy', [
    '-c',
    '-f',
    join(ROOT, 'deploy/compose/haproxy.cfg'),
  ]);
  checkUnit();
  const main = runImageSteps();
  report.check('the steps of the Dockerfile in a clean folder', true);
  const { child, url } = await startService(main);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  try {
    report.byProgram('the health check of the image', process.execPath, [main, 'status', '--url', url]);
    await checkMonitoring(report, ROOT, url);
    await checkProxies(report, ROOT, work, Number(new URL(url).port));
  } finally {
    child.kill('SIGTERM');
    report.check('the program of the image stops cleanly', (await ended) === 0);
  }
} catch (error) {
  report.check('deploy', false, (error as Error).message);
} finally {
  rmSync(work, { recursive: true, force: true });
}
const skipped = report.skipped.length === 0 ? '' : `; SKIPPED ${report.skipped.join(', ')}`;
console.log(
  `${report.failures === 0 ? 'what is in deploy/ works' : `${report.failures} checks failed`}${skipped}`,
);
process.exitCode = report.failures === 0 ? 0 : 1;
