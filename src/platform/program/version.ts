import { readFileSync } from 'node:fs';
import { packageFile } from './program-files.ts';

const text = readFileSync(packageFile('package.json'), 'utf8');

export const VERSION = (JSON.parse(text) as { version: string }).version;
