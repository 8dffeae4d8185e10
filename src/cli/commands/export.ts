import { Argument, Command, Option } from 'commander';
import type { Config, Environment } from '../../config/config.ts';
import { counted } from '../../domain/group-digits.ts';
import { seenTypes } from '../../domain/positive-feedback-types.ts';
import { spaceOf } from '../../domain/vector-space.ts';
import {
  eventSource,
  httpSource,
  httpVectors,
  type Source,
  storeSource,
  storeVectors,
} from '../../exchange/copy-sources.ts';
import { EXPORT_FORMATS, type ExportFormat, exportTo, STDOUT } from '../../exchange/export-file.ts';
import type { Kind } from '../../exchange/guess-columns.ts';
import { ServiceClient } from '../../exchange/service-client.ts';
import { UsageError } from '../common/exit-status.ts';
import { keyOf } from '../common/find-service.ts';
import { loadConfig } from '../common/load-config.ts';
import { addPlaceOptions, configFlags } from '../common/options.ts';

/** By the end of a name. */
const FORMATS: Readonly<Record<string, ExportFormat>> = {
  ...{ ndjson: 'ndjson', jsonl: 'ndjson', csv: 'csv', parquet: 'parquet' },
};

interface ExportFlags {
  readonly config?: string;
  readonly data?: string;
  readonly url?: string;
  readonly output: string;
  readonly format?: ExportFormat;
  readonly raw?: boolean;
  readonly space?: string;
  readonly json?: boolean;
}

const HELP = `
Reads the data folder, also while a service runs on it, or a running service with --url. NDJSON keeps every field as it
is; the same holds for CSV, whose labels stand with | between them. Before a cell of CSV that a spreadsheet would run as a
formula, since it begins with = + - @ or a tab, stands an apostrophe, which an import takes away; --raw leaves it out.
What is exported can be imported again, what was exported with --raw by an import with --raw. Of a type whose repeats are
counted each event is a record. Parquet goes into a new folder, in files of at most 128 MB; all of a user or item is in files of one number.

Examples:
  furze export feedback -o feedback.ndjson.gz
  furze export vectors --space text -o vectors.ndjson.gz
  furze export items --format csv > items.csv
  furze export feedback --format parquet -o feedback`;

/** `furze export`: users, items, feedback or vectors into a file. */
export function exportCommand(env: Environment): Command {
  const command = new Command('export').description(
    'write users, items or feedback as NDJSON, CSV or Parquet, vectors as NDJSON or Parquet',
  );
  return addPlaceOptions(command, { hasUrl: true })
    .addArgument(new Argument('<kind>', 'what to write').choices(['users', 'items', 'feedback', 'vectors']))
    .option(
      '-o, --output <file>',
      'where to write; packed when it ends in .gz; of Parquet a new folder; - is standard output',
      STDOUT,
    )
    .addOption(
      new Option('--format <name>', 'default: by the name of the file; ndjson on standard output').choices(
        EXPORT_FORMATS,
      ),
    )
    .option('--space <name>', 'of vectors: the space')
    .option('--raw', 'write cells of CSV as they are, formulas too')
    .option('--json', 'print the result as JSON; needs --output')
    .addHelpText('after', HELP)
    .action(async (kind: Kind | 'vectors', flags: ExportFlags) => {
      if (flags.json && flags.output === STDOUT) throw new UsageError('--json needs --output');
      const config = loadConfig({ path: flags.config, env, flags: configFlags(flags) });
      const format = formatFor(flags);
      const { source, vectors, close } = await openSource(flags, config);
      const onProgress = () => {};
      try {
        const ofVectors = kind === 'vectors' ? vectors(spaceNamed(flags)) : undefined;
        let records: number;
        if (format === 'parquet') {
          if (flags.output === STDOUT)
            throw new UsageError('Parquet is written into a folder: name it with --output');
          const { exportParquet } = await import('../../exchange/export-parquet.ts');
          const pages = ofVectors?.() ?? source(kind as Kind);
          records = await exportParquet(flags.output, kind, pages, onProgress);
        } else if (ofVectors !== undefined)
          records = await exportTo(flags.output, 'vectors', ndjsonOf(format), ofVectors, onProgress);
        else
          records = await exportTo(
            flags.output,
            kind as Kind,
            { format, isRaw: flags.raw === true },
            source,
            onProgress,
          );
        if (flags.output === STDOUT) return;
        process.stdout.write(
          flags.json
            ? `${JSON.stringify({ kind, path: flags.output, format, records })}\n`
            : `${flags.output}: ${counted(records, kind)}\n`,
        );
      } finally {
        await close();
      }
    });
}

/** @throws UsageError where vectors would be written otherwise */
function ndjsonOf(format: ExportFormat): { readonly format: 'ndjson' } {
  if (format === 'ndjson') return { format };
  throw new UsageError('vectors are written as NDJSON or Parquet');
}

/** @throws UsageError where none is named */
function spaceNamed({ space }: ExportFlags): string {
  if (space !== undefined) return space;
  throw new UsageError('vectors need --space, the name of one of [vectors] in the configuration');
}

/** @throws UsageError when the name of the file says nothing that is understood and no format is given, or another is */
function formatFor({ output: path, format: asked }: ExportFlags): ExportFormat {
  if (path === STDOUT) return asked ?? 'ndjson';
  const [, ending = ''] = /\.([^./\\]+?)(?:\.gz)?$/i.exec(path) ?? [];
  const named = Object.hasOwn(FORMATS, ending.toLowerCase()) ? FORMATS[ending.toLowerCase()] : undefined;
  if (asked !== undefined && named !== undefined && asked !== named)
    throw new UsageError(
      `the name ${path} says that it is ${named}, --format ${asked}; a reader would go by the name`,
    );
  const format = asked ?? (named === 'parquet' ? undefined : named);
  if (format !== undefined) return format;
  throw new UsageError(
    `the name ${path} does not say the format; end it with .ndjson, .jsonl or .csv (and .gz to pack it), or say --format`,
  );
}

async function openSource(
  flags: ExportFlags,
  config: Config,
): Promise<{
  readonly source: Source;
  readonly vectors: (space: string) => ReturnType<typeof storeVectors>;
  readonly close: () => Promise<void>;
}> {
  const types = config.recommend.data_source;
  const seen = seenTypes(types.positive_feedback_types, types.read_feedback_types);
  if (flags.url !== undefined) {
    const key = keyOf(config) || config.server.read_only_api_key;
    const client = new ServiceClient(flags.url, key);
    const vectors = (name: string) => httpVectors(client, name);
    return { source: eventSource(httpSource(client), seen), vectors, close: async () => {} };
  }
  // Loaded here, so that other commands load no engine.
  const { openReader } = await import('../../store/open/thread-stores.ts');
  const { storePaths } = await import('../../store/open/store-options.ts');
  const { dataPath } = storePaths(config);
  const reader = await openReader(dataPath);
  const vectors = (name: string) => storeVectors(reader.local, name, spaceOf(config.vectors, name));
  return { source: eventSource(storeSource(reader, true), seen), vectors, close: () => reader.close() };
}
