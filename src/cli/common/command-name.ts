import { basename, relative } from 'node:path';

export interface Begun {
  readonly execPath: string;
  readonly script: string;
  readonly npmCommand: string | undefined;
  readonly folder: string;
}

/** The command that runs furze as it was run now: `furze`, `npx furze`, or Node.js with the script. */
export function commandName(
  { execPath, script, npmCommand, folder }: Begun = {
    execPath: process.execPath,
    script: process.argv[1] ?? '',
    npmCommand: process.env.npm_command,
    folder: process.cwd(),
  },
): string {
  if (npmCommand === 'exec') return 'npx furze';
  if (!isNodeItself(execPath)) return quoted(execPath);
  if (!script.endsWith('.js')) return basename(script) || 'furze';
  const near = relative(folder, script);
  return `node ${quoted(near.startsWith('..') ? script : near)}`;
}

/** False for a package of one file, of which Node.js is part. @param execPath as `process.execPath` */
export function isNodeItself(execPath: string): boolean {
  return /^node(\.exe)?$/i.test(basename(execPath));
}

function quoted(path: string): string {
  return /^[\w./\\:-]+$/.test(path) ? path : JSON.stringify(path);
}
