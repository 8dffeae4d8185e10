import type { TSchema } from 'typebox';
import { NAMED_SCHEMAS } from '../../domain/api-schemas.ts';
import { ERRORS, type ErrorCode } from '../../domain/furze-error.ts';
import { getOrPut } from '../../domain/get-or-put.ts';
import type { Limits } from '../../domain/request-limits.ts';
import { DIMENSIONS_MAX } from '../../domain/vector-space.ts';
import { problemType } from '../route/problem-details.ts';
import { paramNames, type Route, writes } from '../route/route.ts';
import { PATH_PARAMETERS, type ParameterNote, QUERY_PARAMETERS } from './openapi-notes.ts';

const PROBLEM = 'application/problem+json';

const TAGS: Readonly<Record<string, string>> = {
  Users: 'Those who items are recommended to',
  Items: 'What is recommended',
  Vectors: 'Vectors of items that others have made of text, pictures or behavior',
  Feedback: 'What users did with items',
  Impressions: 'What users were shown of the lists of placements',
  Placements: 'Placements and experiments as staff change them',
  Lists: 'Ranked lists with scores',
  Recommendations: 'Items for a user or for a session',
  Health: 'The state of the service',
  Admin: 'What an operator asks of the service, and what the dashboard is made of',
  Operation: 'Metrics and this description',
};

/**
 * The OpenAPI 3.1 document of a route table.
 * @param version of the service
 * @param limits that its configuration sets
 */
export function buildOpenApi(routes: readonly Route[], version: string, limits: Limits): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = operation(route, limits);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'furze',
      version,
      description: 'A recommender service with the API of Gorse 0.4.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{}, { apiKey: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [name, withRefs(schema, limits, name)]),
      ),
      responses: Object.fromEntries(
        errorStatuses().map((status) => [`Error${status}`, errorResponse(status)]),
      ),
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}

function operation(route: Route, limits: Limits): object {
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...(route.open === true && { security: [] }),
    ...(route.bearer === true && { security: [{}, { apiKey: [] }, { bearer: [] }] }),
    parameters: [
      ...paramNames(route.path).map((name) => parameter(name, 'path', PATH_PARAMETERS[name]!, limits)),
      ...(route.query ?? []).map((name) => parameter(name, 'query', QUERY_PARAMETERS[name], limits)),
    ],
    ...(route.body !== undefined && {
      requestBody: {
        required: true,
        content: {
          [route.body.contentType ?? 'application/json']: {
            schema: withRefs(route.body.schema, limits),
            example: route.body.example,
          },
        },
      },
    }),
    responses: responses(route, limits),
  };
}

/** `GET /api/user/{user-id}` is `getUserByUserId`. */
function operationId({ method, path }: Route): string {
  const words = path.replace(/^\/(api\/)?/, '').split(/[/.-]/);
  const name = words.map((word) => word.replace(/^\{/, 'by-').replace(/\}$/, ''));
  return (
    method.toLowerCase() +
    name.join('-').replace(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase())
  );
}

function parameter(name: string, place: 'path' | 'query', note: ParameterNote, limits: Limits): object {
  // In a query one without a value is not given.
  const open = place === 'path' ? { required: true } : { required: false, allowEmptyValue: true };
  return { name, in: place, ...open, ...note, schema: withRefs(note.schema, limits) };
}

function responses(route: Route, limits: Limits): object {
  const { description, contentType = 'application/json', schema, example, also, headers } = route.response;
  const content = {
    [contentType]: {
      ...(schema !== undefined && { schema: withRefs(schema, limits) }),
      ...(example !== undefined && { example }),
    },
  };
  const named = Object.entries(headers ?? {}).map(([name, meaning]) => [
    name,
    { description: meaning, schema: { type: 'string' } },
  ]);
  const answers: Record<string, object> = {
    200: { description, content, ...(named.length > 0 && { headers: Object.fromEntries(named) }) },
  };
  for (const [status, codes] of codesByStatus(errorCodes(route))) {
    const all = codesOf(status).length === codes.length;
    answers[status] = all ? { $ref: `#/components/responses/Error${status}` } : errorResponse(status, codes);
  }
  for (const [status, meaning] of Object.entries(also ?? {}))
    answers[status] = { description: meaning, content };
  return answers;
}

/** Answers of a route: its own, and those of every route of its shape. */
function errorCodes(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors);
  if (paramNames(route.path).length > 0 || route.query !== undefined) codes.add('INVALID_PARAMETER');
  if (route.body !== undefined)
    for (const code of ['INVALID_JSON', 'INVALID_BODY', 'BODY_TOO_LARGE', 'REQUEST_TIMEOUT'] as const)
      codes.add(code);
  if (route.open !== true && (writes(route) || route.query?.includes('write-back-type')))
    for (const code of ['READ_ONLY_KEY', 'ROLE_LACKS', 'FOREIGN_ORIGIN'] as const) codes.add(code);
  if (route.open !== true)
    for (const code of ['UNAUTHORIZED', 'STORE_UNAVAILABLE', 'OVERLOADED'] as const) codes.add(code);
  codes.add('FOREIGN_HOST');
  codes.add('HEADERS_TOO_LARGE');
  codes.add('METHOD_NOT_ALLOWED');
  codes.add('INTERNAL');
  return [...codes];
}

function errorStatuses(): number[] {
  return [...new Set(Object.values(ERRORS).map(({ status }) => status))];
}

function codesOf(status: number): ErrorCode[] {
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => ERRORS[code].status === status);
}

function codesByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    getOrPut(byStatus, status, () => []).push(code);
  }
  return byStatus;
}

/** The response of a status, with those codes that it can carry. */
function errorResponse(status: number, codes: readonly ErrorCode[] = codesOf(status)): object {
  const example = (code: ErrorCode) => ({
    value: {
      type: problemType(code),
      title: ERRORS[code].title,
      status,
      detail: `${ERRORS[code].title}.`,
      code,
    },
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
    content: {
      [PROBLEM]: {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, example(code)])),
      },
    },
  };
}

/**
 * A schema with references in the place of named schemas, except `self`, the one that is being defined, and with what
 * its rules stand for.
 */
function withRefs(schema: TSchema, limits: Limits, self?: string): object {
  for (const [name, named] of Object.entries(NAMED_SCHEMAS)) {
    if (schema === named && name !== self) return { $ref: `#/components/schemas/${name}` };
  }
  const { rule, ...plain } = schema as TSchema & {
    readonly rule?: string;
    readonly items?: TSchema;
    readonly properties?: Record<string, TSchema>;
  };
  return {
    ...plain,
    ...(plain.items !== undefined && { items: withRefs(plain.items, limits) }),
    ...(plain.properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(plain.properties).map(([key, value]) => [key, withRefs(value, limits)]),
      ),
    }),
    ...(rule !== undefined && RULES[rule]!(limits)),
  };
}

/** Words of JSON Schema that say what the server enforces beside types. */
type Words = Readonly<Record<string, unknown>>;

/**
 * Meanings of a schema's `rule` in the OpenAPI document. The validators do not read these words: they check by hand
 * what is faster so, in bytes where JSON Schema counts characters, and by the limits of the configuration.
 */
const RULES: Readonly<Record<string, (limits: Limits) => Words>> = {
  id: ({ idBytesMax }) => ({ minLength: 1, maxLength: idBytesMax, pattern: '^[^\\u0000]+$' }),
  itemId: ({ idBytesMax }) => ({ minLength: 1, maxLength: idBytesMax, pattern: '^[^/\\u0000]+$' }),
  texts: ({ labelsMax, labelBytesMax }) => ({
    maxItems: labelsMax,
    items: { type: 'string', maxLength: labelBytesMax },
  }),
  comment: ({ commentBytesMax }) => ({ maxLength: commentBytesMax }),
  timestamp: () => ({ pattern: `^(${TIMESTAMP})?$`, examples: ['2022-03-04T05:06:07Z', '2022-03-04'] }),
  written: () => ({ pattern: `^(${UTC})?$`, examples: ['2022-03-04T05:06:07Z'] }),
  vector: () => ({
    minItems: 1,
    maxItems: DIMENSIONS_MAX,
    items: { type: 'number', minimum: -FLOAT_MAX, maximum: FLOAT_MAX },
  }),
  batch: ({ batchRecordsMax }) => ({ maxItems: batchRecordsMax }),
  session: ({ sessionRecordsMax }) => ({ maxItems: sessionRecordsMax }),
  n: ({ nMax }) => ({ maximum: nMax }),
  offset: ({ offsetMax }) => ({ maximum: offsetMax }),
  cursor: () => ({ pattern: '^[A-Za-z0-9_-]*$' }),
  duration: () => ({ pattern: '^(([0-9]{1,9}(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|ms)|[0-9]{1,5}(s|m|h))?$' }),
  // A query parameter without a value is not given.
  given: ({ idBytesMax }) => ({ maxLength: idBytesMax, pattern: '^[^\\u0000]*$' }),
  boost: () => ({ maxItems: 4, items: { type: 'string', pattern: `^([^\\u0000]+:${FACTOR})?$` } }),
};

/** The largest number of 32 bits, rounded down. */
const FLOAT_MAX = 3.4e38;

/** From 0.001 to 1,000. */
export const FACTOR =
  '(0*1000(\\.0+)?|0*[1-9][0-9]{0,2}(\\.[0-9]+)?|0+\\.(00[1-9]|0[1-9][0-9]?|[1-9][0-9]?)[0-9]*)';

/** Days that exist, the 29th of February in leap years. */
const DATE =
  '([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))' +
  '|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)';
const CLOCK = '([01][0-9]|2[0-3]):[0-5][0-9]';
const ZONE = '([Zz]|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])';
export const TIMESTAMP = `${DATE}([Tt ]${CLOCK}(:[0-5][0-9]([.,][0-9]{1,9})?)?${ZONE}?)?`;
const UTC = `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?Z`;
