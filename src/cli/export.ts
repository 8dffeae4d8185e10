import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import type { Config, Environment } from '../domain/config/config.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { Kind } from '../exchange/columns.ts';
import { EXPORT_FORMATS, type ExportFormat, exportTo, STDOUT } from '../exchange/export-file.ts';
import { httpSource, type Source, storeSource } from '../exchange/sources.ts';
import { loadConfig } from './load-config.ts';
import { configFlags, parseUrl } from './options.ts';

interface ExportFlags {
  readonly config?: string;
  readonly data?: string;
  readonly url?: string;
  readonly output: string;
  readonly format?: ExportFormat;
  readonly json?: boolean;
}

const HELP = `
Reads the data folder, also while a service runs on it, or a running service with --url. NDJSON keeps every field as it
is; the same holds for CSV, whose labels stand with | between them. What is exported can be imported again.

Examples:
  furze export feedback -o feedback.ndjson.gz
  furze export items --format csv > items.csv`;

/** `furze export`: users, items or feedback into a file. */
export function exportCommand(env: Environment): Command {
  return new Command('export')
    .description('write users, items or feedback as NDJSON or CSV')
    .addArgument(new Argument('<kind>', 'what to write').choices(['users', 'items', 'feedback']))
    .option('-c, --config <file>', 'configuration file (TOML)')
    .option('-d, --data <folder>', 'data folder')
    .option(
      '-u, --url <url>',
      'ask a running service instead; its key is [server] api_key or FURZE_SERVER_API_KEY',
      parseUrl,
    )
    .option('-o, --output <file>', 'where to write; packed when it ends in .gz; - is standard output', STDOUT)
    .addOption(
      new Option('--format <name>', 'default: by the name of the file, else ndjson').choices(EXPORT_FORMATS),
    )
    .option('--json', 'print the result as JSON; needs --output')
    .addHelpText('after', HELP)
    .action(async (kind: Kind, flags: ExportFlags) => {
      if (flags.json && flags.output === STDOUT) throw new OperatorError('--json needs --output');
      const config = loadConfig({ path: flags.config, env, flags: configFlags(flags) });
      const format = flags.format ?? (/\.csv(\.gz)?$/.test(flags.output) ? 'csv' : 'ndjson');
      const { source, close } = await openSource(flags, config);
      try {
        const records = await exportTo(flags.output, kind, format, source, () => {});
        if (flags.output === STDOUT) return;
        process.stdout.write(
          flags.json
            ? `${JSON.stringify({ kind, path: flags.output, format, records })}\n`
            : `${flags.output}: ${records.toLocaleString('en-US')} ${kind}\n`,
        );
      } finally {
        await close();
      }
    });
}

async function openSource(
  flags: ExportFlags,
  config: Config,
): Promise<{ readonly source: Source; readonly close: () => Promise<void> }> {
  if (flags.url !== undefined) {
    const { api_key, read_only_api_key, api_keys } = config.server;
    const key = api_key || read_only_api_key || (api_keys[0] ?? '');
    return { source: httpSource(flags.url, key), close: async () => {} };
  }
  // Loaded here, so that other commands load no engine.
  const { openDataReader } = await import('../store/open/thread-stores.ts');
  const { storePaths } = await import('../store/open/store-options.ts');
  const { dataPath } = storePaths(config);
  if (!existsSync(join(dataPath, 'data.mdb')))
    throw new OperatorError(`${dataPath} is no data folder of furze`);
  const reader = openDataReader(dataPath);
  return { source: storeSource(reader), close: () => reader.close() };
}
