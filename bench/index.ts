// All benches of the service, one after the other; arguments go to each.
// npm run bench [-- --smoke]
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { V8_FLAGS } from '../test/v8-flags.ts';

const flags = process.argv.includes('--smoke') ? V8_FLAGS : [];
for (const name of ['store', 'http', 'scale']) {
  const path = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  console.log(`\n${name}`);
  const { status } = spawnSync(
    process.execPath,
    [...flags, '--import', 'tsx', path, ...process.argv.slice(2)],
    {
      stdio: 'inherit',
    },
  );
  if (status !== 0) process.exit(status ?? 1);
}
