// Copies the part of Swagger UI that the API page uses to build/apidocs/, license and notice with it, so that an
// installed furze needs neither the rest of swagger-ui-dist nor what that package installs beside it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeChanged } from './write-changed.js';

const FILES = [
  'swagger-ui.css',
  'index.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'favicon-16x16.png',
  'favicon-32x32.png',
  'LICENSE',
  'NOTICE',
];

const from = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const to = join(dirname(dirname(fileURLToPath(import.meta.url))), 'build', 'apidocs');
writeChanged(
  to,
  FILES.map((name) => ({ path: join(to, name), contents: readFileSync(join(from, name)) })),
);
