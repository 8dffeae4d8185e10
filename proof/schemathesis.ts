// npm run schemathesis -- --cases N: requests made of the OpenAPI document by schemathesis (`pip install schemathesis`),
// with all its checks: what the document allows is answered as it says, and what it does not is refused.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FurzeProcess, inFolder } from './furze-process.ts';
import { runProof } from './run-proof.ts';

const CONFIG = fileURLToPath(new URL('./schemathesis.toml', import.meta.url));
const HOOKS = fileURLToPath(new URL('./schemathesis-hooks.py', import.meta.url));
const KEY = 'schemathesis';
/**
 * All checks but two: what belongs to an unknown id is an empty list, as Gorse answers, and an id that was made is asked for
 * without its percent signs encoded, so that it is another.
 */
const CHECKS = ['--checks', 'all', '--exclude-checks', 'use_after_free,ensure_resource_availability'];
const FAULTS_SHOWN = 10;
/** A machine that does much else may let a request wait for longer than the 10 seconds that are usual. */
const REQUEST_SECONDS_MAX = '120';
/** What it says at its end. */
const SUMMARY = /(\d+) generated, (?:(\d+) found (\d+) unique failures?|.*passed)/;

await runProof('cases', 15_000, async ({ amount, seed, folder }) => {
  if (spawnSync('schemathesis', ['--version']).status !== 0)
    return { line: 'schemathesis: SKIPPED, it is not installed', holds: true };
  const config = join(folder, 'furze.toml');
  writeFileSync(config, '[placement.home]\n[vectors.text]\ndimensions = 3\n');
  // The old native build closes the connection of a method that it does not know, which counts as a crash here.
  const settings = { SERVER_API_KEY: KEY, SERVER_HTTP_ENGINE: 'node' };
  const furze = FurzeProcess.start(['serve', '--config', config], inFolder(folder, settings));
  await furze.ready();
  const document = (await (await fetch(`${furze.url}/apidocs.json`)).json()) as { paths: object };
  const operations = Object.values(document.paths).flatMap((path) => Object.keys(path)).length;
  const args = ['--config-file', CONFIG, 'run', `${furze.url}/apidocs.json`, '-H', `X-API-Key: ${KEY}`];
  const more = ['--max-examples', `${Math.ceil(amount / operations)}`, '--seed', `${seed}`];
  const patience = ['--request-timeout', REQUEST_SECONDS_MAX];
  const env = { ...process.env, SCHEMATHESIS_HOOKS: HOOKS };
  const child = spawn('schemathesis', [...args, ...more, ...patience, ...CHECKS, '--no-color'], {
    cwd: folder,
    env,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [code] = await once(child, 'close');
  const alive = !furze.hasEnded && (await fetch(`${furze.url}/api/health/ready`)).status === 200;
  await furze.stop();
  if (code !== 0) console.log(`${output}\n${faultsIn(furze.output)}`);
  const [said = 'it came to no end'] = SUMMARY.exec(output) ?? [];
  return {
    line: `schemathesis: ${operations} operations, ${said}, ${alive ? 'ready' : 'not ready'} after`,
    holds: code === 0 && alive,
  };
});

/** The first lines of the service's log that tell of faults: what comes after follows from them. */
function faultsIn(log: string): string {
  return log
    .split('\n')
    .filter((line) => /"level":"(?:error|fatal)"/.test(line))
    .slice(0, FAULTS_SHOWN)
    .join('\n');
}
