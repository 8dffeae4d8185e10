#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { useCompileCache } from './cli/compile-cache.ts';
import { judgeNode } from './cli/node-version.ts';
import { isToBeSupervised, obeySupervisor, runSupervised } from './cli/supervise.ts';
import { packageFile } from './platform/program/program-files.ts';

/** 128 and the number of SIGPIPE: as a shell expects it of a program whose reader has had enough, such as `head`. */
const PIPE_CLOSED = 141;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(PIPE_CLOSED);
  process.stderr.write(`furze: standard output cannot be written: ${error.message}\n`);
  process.exit(1);
});

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  if (isToBeSupervised(args, env)) {
    const code = await runSupervised(fileURLToPath(import.meta.url), args, env);
    if (code !== undefined) return code;
  }
  obeySupervisor(env);
  // Not before: what it imports may not even load on an old Node.js, and is to be found compiled.
  const { runProgram } = await import('./cli/program.ts');
  return runProgram(args, env);
}

const { line, isTooOld } = judgeNode(process.versions.node);
if (line !== undefined) process.stderr.write(`${line}\n`);
if (isTooOld) {
  process.exitCode = 1;
} else {
  useCompileCache(fileURLToPath(packageFile('.compiled')), process.env);
  process.exitCode = await run(process.argv.slice(2), process.env);
}
