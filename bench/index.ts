// All benches of the service, one after the other; arguments go to each.
// npm run bench [-- --smoke]
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

for (const name of ['store', 'http', 'scale']) {
  const path = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  console.log(`\n${name}`);
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', path, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
