import fc from 'fast-check';

/** The parts of an OpenAPI document that requests are made of. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
}
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** A request with whatever the document allows, and much that it does not. */
export interface FuzzRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Strings that programs stumble over. */
const NASTY = fc.constantFrom(
  '',
  ' ',
  '.',
  '..',
  '%00',
  '\u0000',
  '\ud800',
  '💥',
  '__proto__',
  'constructor',
  "'; DROP TABLE users;--",
  '<script>',
  '\r\nX-Injected: 1',
  'a'.repeat(5000),
  '-1',
  '1e309',
  'NaN',
  '0x10',
  '9007199254740993',
  '2024-02-30T25:61:61Z',
  '292278025-01-01',
);
const STRING = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('u1', 'u2', 'i1', 'i2', 'like', 'read', 'news') },
  { weight: 2, arbitrary: NASTY },
  { weight: 2, arbitrary: fc.string({ unit: 'binary' }) },
);
const NUMBER = fc.oneof(fc.integer({ min: -2, max: 200 }), fc.double(), fc.constant(2 ** 53));
const ANYTHING = fc.oneof(fc.jsonValue({ maxDepth: 4 }), STRING, NUMBER, fc.constant(null));

/** Requests out of the document: known operations, values by their schemas, and every part now and then spoilt. */
export function fuzzRequests(document: OpenApi): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) =>
      request(document, path, method, item[method] as Operation),
    ),
  );
  return fc.oneof(...operations);
}

function request(
  document: OpenApi,
  path: string,
  method: string,
  operation: Operation,
): fc.Arbitrary<FuzzRequest> {
  const { parameters = [], requestBody } = operation;
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
  const body = schema === undefined ? fc.constant(undefined) : spoilt(schemaValues(document, schema, 4));
  return fc
    .record({
      path: fc.tuple(...inPath.map(() => STRING)),
      query: fc.tuple(
        ...inQuery.map((parameter) =>
          fc.option(
            spoilt(schemaValues(document, parameter.schema ?? {}, 1)).map((value) =>
              typeof value === 'string' ? value : JSON.stringify(value),
            ),
            { freq: 2 },
          ),
        ),
      ),
      body,
      brokenJson: fc.integer({ min: 0, max: 30 }),
      type: fc.constantFrom('application/json', 'application/json', 'text/plain', 'application/xml', ''),
    })
    .map(
      (parts): FuzzRequest => ({
        method: method.toUpperCase(),
        path: fillPath(path, inPath, parts.path) + queryOf(inQuery, parts.query),
        headers: headersOf(schema === undefined ? '' : parts.type),
        body: schema === undefined ? undefined : broken(JSON.stringify(parts.body) ?? '', parts.brokenJson),
      }),
    );
}

function headersOf(type: string): Record<string, string> {
  return type === '' ? {} : { 'Content-Type': type };
}

function fillPath(
  path: string,
  parameters: readonly { readonly name: string }[],
  values: readonly string[],
): string {
  return parameters.reduce(
    (filled, { name }, at) => filled.replace(`{${name}}`, encode(values[at] as string)),
    path,
  );
}

function queryOf(
  parameters: readonly { readonly name: string }[],
  values: readonly (string | null)[],
): string {
  const pairs = parameters.flatMap(({ name }, at) => {
    const value = values[at];
    return value == null ? [] : [`${name}=${encode(value)}`];
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Percent-encoded; a lone surrogate has no encoding and becomes bytes that are no UTF-8. */
function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return '%ff%fe';
  }
}

/** One in ten is something else altogether. */
function spoilt(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: ANYTHING });
}

function schemaValues(document: OpenApi, schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    return schemaValues(document, document.components?.schemas?.[name] ?? {}, depth);
  }
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined && choices.length > 0)
    return fc.oneof(...choices.map((choice) => schemaValues(document, choice, depth)));
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  if (depth === 0) return ANYTHING;
  if (type === 'object') {
    const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
      name,
      spoilt(schemaValues(document, field, depth - 1)),
    ]);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  }
  if (type === 'array')
    return fc.array(spoilt(schemaValues(document, schema.items ?? {}, depth - 1)), { maxLength: 6 });
  if (type === 'integer' || type === 'number') return NUMBER;
  if (type === 'boolean') return fc.boolean();
  return type === 'string' ? STRING : ANYTHING;
}

/** JSON that is cut, repeated or nested beyond measure, for some of the chances 0 to 30. */
function broken(json: string, chance: number): string {
  if (chance === 0) return json.slice(0, Math.floor(json.length / 2));
  if (chance === 1) return `${json}${json}`;
  if (chance === 2) return '['.repeat(100_000);
  if (chance === 3) return '';
  if (chance === 4) return `\ufeff${json}`;
  return json;
}
