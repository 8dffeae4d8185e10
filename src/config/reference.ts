import { getOrPut } from '../domain/get-or-put.ts';
import { CONFIG_KEYS, type ConfigKey, expectation, type KeySchema, namedTable, ROOT } from './keys.ts';

const INTRODUCTION = `# Configuration

Every key, made from the schema by \`npm run config:template\`. \`furze serve -c furze.toml\` reads a TOML file, \`furze serve\` the
\`furze.toml\` of its folder; the one in the package has every key, with comments. Keys left out have their default. Each key has an
environment variable that goes before the file; lists are written with commas in it. Durations have units: \`100ms\`,
\`10s\`, \`1h30m\`, \`72h\`. An unknown key or a bad value stops the start and is named; an unknown variable is only named,
and what Kubernetes sets for services (\`FURZE_SERVICE_HOST\`, \`FURZE_PORT\`, ...) is not looked at. \`furze config -c FILE\`
checks a file and prints what is in effect, secrets masked.
`;

/** The reference of all keys as Markdown: a section each, a table of keys. */
export function configReference(): string {
  const bySection = new Map<string, ConfigKey[]>();
  for (const key of CONFIG_KEYS.flatMap(withNamed)) {
    const section = key.path.slice(0, -1).join('.');
    getOrPut(bySection, section, () => []).push(key);
  }
  const sections = [...bySection].map(([section, keys]) => {
    const { description = '' } = schemaAt(section.split('.'));
    const rows = keys.map(
      ({ path, schema, variable }) =>
        `| \`${path.at(-1)}\` | ${code(schema.default)} | ${cell(`${schema.description} ${taken(schema)}`)} | \`${variable}\` |`,
    );
    const table = ['| Key | Default | Meaning | Variable |', '|---|---|---|---|', ...rows].join('\n');
    return `\n## [${section}]\n\n${description}\n\n${table}\n`;
  });
  return INTRODUCTION + sections.join('');
}

function schemaAt(path: readonly string[]): KeySchema {
  return path.reduce((schema, name) => schema.properties?.[name] ?? schema, ROOT);
}

/** The keys of a table whose name the file makes up, in place of the key of all such tables. */
function withNamed(key: ConfigKey): ConfigKey[] {
  const { properties } = namedTable(key.schema) ?? {};
  if (properties === undefined) return [key];
  const variable = `${key.variable} as JSON of all`;
  return Object.entries(properties).map(([name, schema]) => ({
    path: [...key.path, 'NAME', name],
    variable,
    schema,
  }));
}

function taken(schema: KeySchema): string {
  const text = expectation(schema);
  return `Takes ${text}.`;
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

/** A vertical bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').trim();
}
