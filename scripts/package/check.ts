// npm run package:check [-- --executable FILE]: the single file and the npm package each run the playground, the first in an empty
// folder, and the single file says clearly why it cannot unpack itself where it cannot. Makes what it is not given.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const START_MS_MAX = 1_200_000;
const { values } = parseArgs({ options: { executable: { type: 'string' } } });
const work = mkdtempSync(join(tmpdir(), 'furze-check-'));
let failures = 0;

function check(name: string, isRight: boolean, detail = ''): void {
  console.log(`${isRight ? 'ok    ' : 'FAILED'} ${name}${detail === '' ? '' : `: ${detail}`}`);
  if (!isRight) failures++;
}

/** A folder that holds nothing. */
function emptyFolder(name: string): string {
  const folder = join(work, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Where the single file's playground leaves its data, which the npm package's one takes over. */
const PLAYED = join(work, 'single file', 'playground-data');

/** Runs the playground to its tour, asks for the personal list that it names, and stops it. */
async function playground(
  name: string,
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const cwd = emptyFolder(name);
  // A group of its own: npx starts a shell that starts furze.
  const child = spawn(command, [...args, 'playground', '--port', '0', '--data', PLAYED], {
    cwd,
    env: { ...env, FURZE_SERVER_SHUTDOWN_TIMEOUT: '10m' },
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const deadline = setTimeout(() => end(child, 'SIGKILL'), START_MS_MAX);
  try {
    const url = await Promise.race([ended.then(() => undefined), tourIn(() => output)]);
    if (url === undefined) throw new Error(`it ended early:\n${output}`);
    const list = (await (await fetch(url)).json()) as unknown[];
    check(`${name}: a personal recommendation`, list.length === 5, JSON.stringify(list));
    end(child, 'SIGTERM');
    // npx ends by the signal itself.
    const code = await ended;
    check(`${name}: stops cleanly`, output.includes('Stopping.') && (code === 0 || command === 'npx'));
  } catch (error) {
    check(`${name}: the playground`, false, (error as Error).message);
  } finally {
    clearTimeout(deadline);
    end(child, 'SIGKILL');
  }
}

async function tourIn(output: () => string): Promise<string> {
  for (;;) {
    const url = /curl '([^']+\/api\/recommend\/[^']+)'/.exec(output())?.[1];
    if (url !== undefined) return url;
    await new Promise((done) => setTimeout(done, 50));
  }
}

function end(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid as number), signal);
  } catch {
    // It has ended.
  }
}

/** One start that must fail with a line that says why and what helps. */
function refusal(name: string, because: RegExp, shell: string, env: NodeJS.ProcessEnv): void {
  const { status, stderr } = spawnSync('/bin/sh', ['-c', shell], { env, encoding: 'utf8' });
  const says = because.test(stderr) && stderr.includes('FURZE_UNPACK_DIR') && !/\n\s+at /.test(stderr);
  check(`${name}: one clear line`, status === 1 && says, stderr.split('\n')[0]);
}

/** A file system that programs cannot run from, where this process may make one. */
function withoutExecution(run: (folder: string) => void): void {
  const folder = emptyFolder('noexec');
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'noexec,size=200m', 'tmpfs', folder]).status === 0;
  if (!mounted) {
    console.log('SKIPPED a file system without execution: mounting is not permitted here');
    return;
  }
  try {
    run(folder);
  } finally {
    spawnSync('umount', [folder]);
  }
}

async function checkExecutable(executable: string): Promise<void> {
  const home = emptyFolder('home');
  const bare = { PATH: '/nonexistent', HOME: home };
  await playground('single file', executable, [], bare);
  const first = performance.now();
  const { stdout } = spawnSync(executable, ['--version'], { env: bare, encoding: 'utf8' });
  check(
    'single file: version',
    /^\d+\.\d+\.\d+/.test(stdout),
    `${stdout.trim()} in ${Math.round(performance.now() - first)} ms`,
  );
  const unpacked = readdirSync(join(home, '.cache', 'furze'));
  check(
    'single file: unpacked once',
    unpacked.length === 1 && /^[0-9a-f]{16}$/.test(unpacked[0] ?? ''),
    unpacked.join(),
  );

  // It starts itself once more for this.
  const sound = spawnSync(executable, ['check', PLAYED], { env: bare, encoding: 'utf8' });
  check(
    'single file: checks a folder in a process of its own',
    sound.status === 0 && sound.stdout.includes('sound'),
    sound.stderr,
  );

  const file = join(work, 'file');
  writeFileSync(file, '');
  refusal('a home that is none', /cannot unpack itself to .*ENOTDIR/, `exec ${executable} --version`, {
    HOME: file,
  });
  const small = { HOME: emptyFolder('small') };
  refusal(
    'a full disk',
    /cannot unpack itself to .*(EFBIG|ENOSPC)/,
    `ulimit -f 64; exec ${executable} --version`,
    small,
  );
  check('a full disk: nothing is left', readdirSync(join(small.HOME, '.cache', 'furze')).length === 0);
  withoutExecution((folder) =>
    refusal(
      'a file system without execution',
      /cannot unpack itself to .*(map segment|not permitted)/,
      `exec ${executable} --version`,
      {
        HOME: home,
        FURZE_UNPACK_DIR: folder,
      },
    ),
  );
}

async function checkNpmPackage(): Promise<void> {
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', work], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const [{ filename, size, unpackedSize, files }] = JSON.parse(packed.slice(packed.search(/^\[/m))) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ];
  const mb = (bytes: number) => (bytes / 1e6).toFixed(2);
  console.log(`${filename}: ${mb(size)} MB packed, ${mb(unpackedSize)} MB in ${files.length} files`);
  check('npm package: no source maps', !files.some(({ path }) => path.endsWith('.map')));
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: emptyFolder('npm-home'),
  };
  await playground(
    'npx',
    'npx',
    ['--yes', '--prefer-offline', '--package', join(work, filename), 'furze'],
    env,
  );
}

try {
  const executable = resolve(values.executable ?? join(work, 'furze'));
  if (values.executable === undefined)
    execFileSync('npm', ['run', '--silent', 'package', '--', '--out', executable], {
      cwd: ROOT,
      stdio: 'inherit',
    });
  await checkExecutable(executable);
  await checkNpmPackage();
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(failures === 0 ? 'the packages work' : `${failures} checks failed`);
process.exitCode = failures === 0 ? 0 : 1;
