// What runs first in the single executable: unpacks furze once per version, and starts it.
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join, sep } from 'node:path';
import { getAsset, getRawAsset } from 'node:sea';
import { UnpackError, unpackTo } from './unpack.ts';

/** Says where to unpack in place of `~/.cache/furze`. furze itself does not see it. */
const VARIABLE = 'FURZE_UNPACK_DIR';

interface Build {
  /** Names the folder: other contents, another folder. */
  readonly sha: string;
  /** A native module that every start loads; it tells whether programs may run from the folder. */
  readonly tryOut: string;
}

function main(): void {
  const build = JSON.parse(getAsset('build.json', 'utf8')) as Build;
  const parent =
    process.env[VARIABLE] || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'furze');
  delete process.env[VARIABLE];
  // A process that furze starts of itself names a script, as it would to Node.js.
  const script = process.argv[2];
  if (script?.includes(`${sep}${build.sha}${sep}`) && script.endsWith('.js')) {
    process.argv.splice(1, 1);
    start(script.slice(0, script.indexOf(build.sha) + build.sha.length), script);
    return;
  }
  const folder = join(parent, build.sha);
  try {
    unpackTo(
      folder,
      () => new Uint8Array(getRawAsset('archive') as ArrayBuffer),
      (unfinished) => process.dlopen({ exports: {} } as NodeModule, join(unfinished, build.tryOut)),
    );
  } catch (error) {
    if (!(error instanceof UnpackError)) throw error;
    process.stderr.write(
      `furze: ${error.message}\nSet ${VARIABLE} to a folder with 100 MB of room that can be written and that programs may run from.\n`,
    );
    process.exitCode = 1;
    return;
  }
  start(folder, join(folder, 'dist', 'main.js'));
}

/** The executable itself can load nothing from disk but by `require`; the file that it requires can. */
function start(folder: string, script: string): void {
  const load = createRequire(join(folder, 'package.json'))('./start.cjs') as (
    path: string,
  ) => Promise<unknown>;
  void load(script);
}

main();
