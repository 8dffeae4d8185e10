#!/usr/bin/env node
import { judgeNode } from './cli/node-version.ts';

const { line, isTooOld } = judgeNode(process.versions.node);
if (line !== undefined) process.stderr.write(`${line}\n`);
if (isTooOld) {
  process.exitCode = 1;
} else {
  // Not before: what it imports may not even load on an old Node.js.
  const { runProgram } = await import('./cli/program.ts');
  process.exitCode = await runProgram(process.argv.slice(2), process.env);
}
