import { parse, stringify } from 'smol-toml';
import {
  CONFIG_KEYS,
  decodeValue,
  encodeValue,
  expectation,
  isTable,
  type KeySchema,
  lookUp,
  namedTable,
  ROOT,
  shownValue,
} from './keys.ts';
import type { Config } from './schema.ts';

const WIDTH = 100;

const HEADER = [
  'The configuration of furze: every key with its meaning and its default. Keys left out have the same default.',
  'Each key has an environment variable that goes before this file: FURZE_, the section and the key in capitals,',
  'all joined by underscores, such as FURZE_SERVER_PORT=8088; lists are written with commas.',
  'Durations have units: 100ms, 10s, 1h30m, 72h.',
  'An unknown key or a bad value stops the start and is named; an unknown variable is only named.',
];

/**
 * A commented configuration file with every key: at its default, or as `config` has it, secrets in the clear. What differs
 * from its default says so.
 * @param notes why a key has its value, by its full name, as in `server.port`
 */
export function configTemplate(
  config?: Config,
  notes: Readonly<Record<string, string | undefined>> = {},
): string {
  const lines = comment(HEADER.join(' '));
  walkSections(ROOT, [], (name, section, path) => {
    lines.push('', ...comment(section.description ?? ''), `[${name}]`);
    for (const [key, schema] of keysOf(section)) {
      const given = config && configured(config, [...path, key], schema);
      // The same duration can be written in several ways.
      const usual = encodeValue(schema, decodeValue(schema, schema.default));
      const isUsual = config === undefined || JSON.stringify(given) === JSON.stringify(usual);
      lines.push('', ...comment(`${schema.description}${hint(schema)}`));
      if (!isUsual) lines.push(...comment(`Default: ${assignment(key, schema, schema.default)}`));
      const note = notes[`${name}.${key}`];
      if (note !== undefined) lines.push(...comment(note));
      lines.push(assignment(key, schema, isUsual ? schema.default : given));
    }
  });
  lines.push(...namedTables(config, true));
  return `${lines.join('\n')}\n`;
}

/** The configuration as the file writes it, with secrets masked. */
export function printConfig(config: Config): string {
  const lines: string[] = [];
  walkSections(ROOT, [], (name, section, path) => {
    lines.push(...(lines.length > 0 ? [''] : []), `[${name}]`);
    for (const [key, schema] of keysOf(section)) {
      const value = configured(config, [...path, key], schema);
      lines.push(assignment(key, schema, shownValue(schema, value)));
    }
  });
  lines.push(...namedTables(config, false));
  return `${lines.join('\n')}\n`;
}

/** The same as JSON. */
export function printConfigJson(config: Config): string {
  return `${JSON.stringify(parse(printConfig(config)), undefined, 2)}\n`;
}

/** Tables whose names the file makes up, and in a template what they may hold. */
function namedTables(config: Config | undefined, isTemplate: boolean): string[] {
  const lines: string[] = [];
  for (const { path, schema } of CONFIG_KEYS) {
    const keys = namedTable(schema);
    if (keys === undefined) continue;
    if (isTemplate) {
      lines.push('', ...comment(schema.description!), `# [${path.join('.')}.NAME]`);
      for (const [key, child] of keysOf(keys))
        lines.push('#', ...comment(child.description!), `# ${assignment(key, child, child.default)}`);
    }
    const tables = config && lookUp(config, path);
    if (isTable(tables) && Object.keys(tables).length > 0)
      lines.push(
        '',
        stringify({ [path.join('.')]: isTemplate ? tables : shownValue(schema, tables) }).trim(),
      );
  }
  return lines;
}

/** A key's value as the file writes it. */
function configured(config: Config, path: readonly string[], schema: KeySchema): unknown {
  const value = path.reduce<unknown>((table, key) => (table as Record<string, unknown>)[key], config);
  return encodeValue(schema, value);
}

/** Visits each section that holds keys of its own, in the schema's order. */
function walkSections(
  schema: KeySchema,
  path: readonly string[],
  visit: (name: string, section: KeySchema, path: readonly string[]) => void,
): void {
  if (path.length > 0 && keysOf(schema).length > 0) visit(path.join('.'), schema, path);
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    if (child.properties !== undefined) walkSections(child, [...path, name], visit);
  }
}

function keysOf(section: KeySchema): [string, KeySchema][] {
  return Object.entries(section.properties ?? {}).filter(([, child]) => child.properties === undefined);
}

/** `key = value`; a number that may have a fraction is written with one, as TOML keeps the two apart. */
function assignment(key: string, schema: KeySchema, value: unknown): string {
  if (schema.type === 'number' && Number.isInteger(value)) return `${key} = ${(value as number).toFixed(1)}`;
  // A table stands in one line, within its section.
  if (schema.type === 'object') return `${key} = ${inlineTable(value as Record<string, unknown>)}`;
  return stringify({ [key]: value }).trim();
}

function inlineTable(table: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(table).map(([name, value]) => stringify({ [name]: value }).trim());
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

function comment(text: string): string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

/** Values of the key, where its default does not show them. */
function hint(schema: KeySchema): string {
  if (schema.secret || schema.items?.pattern !== undefined) return '';
  if (schema.type === 'boolean' || schema.format === 'go-duration' || schema.pattern !== undefined) return '';
  const text = expectation(schema);
  return ` ${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
