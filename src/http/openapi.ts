import type { TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import { NAMED_SCHEMAS } from '../domain/schemas.ts';
import { PATH_PARAMETERS, type ParameterNote, QUERY_PARAMETERS } from './openapi-notes.ts';
import { problemType } from './problem.ts';
import { paramNames, type Route, writes } from './route.ts';

const PROBLEM = 'application/problem+json';

const TAGS: Readonly<Record<string, string>> = {
  Users: 'Those who items are recommended to',
  Items: 'What is recommended',
  Feedback: 'What users did with items',
  Lists: 'Ranked lists with scores',
  Recommendations: 'Items for a user or for a session',
  Health: 'The state of the service',
  Admin: 'What an operator asks of the service, and what the dashboard is made of',
  Operation: 'Metrics and this description',
};

/** The OpenAPI 3.1 document of a route table. @param version of the service */
export function buildOpenApi(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = operation(route);
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
        Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [name, withRefs(schema, name)]),
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

function operation(route: Route): object {
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...(route.open === true && { security: [] }),
    ...(route.bearer === true && { security: [{}, { apiKey: [] }, { bearer: [] }] }),
    parameters: [
      ...paramNames(route.path).map((name) => parameter(name, 'path', PATH_PARAMETERS[name]!)),
      ...(route.query ?? []).map((name) => parameter(name, 'query', QUERY_PARAMETERS[name])),
    ],
    ...(route.body !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: withRefs(route.body.schema), example: route.body.example } },
      },
    }),
    responses: responses(route),
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

function parameter(name: string, place: 'path' | 'query', note: ParameterNote): object {
  return { name, in: place, required: place === 'path', ...note };
}

function responses(route: Route): object {
  const { description, contentType = 'application/json', schema, example, also } = route.response;
  const content = {
    [contentType]: {
      ...(schema !== undefined && { schema: withRefs(schema) }),
      ...(example !== undefined && { example }),
    },
  };
  const answers: Record<string, object> = { 200: { description, content } };
  for (const code of errorCodes(route)) {
    const { status } = ERRORS[code];
    answers[status] = { $ref: `#/components/responses/Error${status}` };
  }
  for (const [status, meaning] of Object.entries(also ?? {}))
    answers[status] = { description: meaning, content };
  return answers;
}

/** What a route can answer with: what it says itself, and what every route of its shape can. */
export function errorCodes(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors);
  if (paramNames(route.path).length > 0 || route.query !== undefined) codes.add('INVALID_PARAMETER');
  if (route.body !== undefined)
    for (const code of ['INVALID_JSON', 'INVALID_BODY', 'BODY_TOO_LARGE', 'REQUEST_TIMEOUT'] as const)
      codes.add(code);
  if (route.open !== true && (writes(route) || route.query?.includes('write-back-type')))
    for (const code of ['READ_ONLY_KEY', 'FOREIGN_ORIGIN'] as const) codes.add(code);
  if (route.open !== true)
    for (const code of ['UNAUTHORIZED', 'STORE_UNAVAILABLE', 'OVERLOADED'] as const) codes.add(code);
  codes.add('INTERNAL');
  return [...codes];
}

function errorStatuses(): number[] {
  return [...new Set(Object.values(ERRORS).map(({ status }) => status))];
}

function errorResponse(status: number): object {
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => ERRORS[code].status === status);
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

/** A schema with references in the place of named schemas, except `self`, the one that is being defined. */
function withRefs(schema: TSchema, self?: string): object {
  for (const [name, named] of Object.entries(NAMED_SCHEMAS)) {
    if (schema === named && name !== self) return { $ref: `#/components/schemas/${name}` };
  }
  const plain = schema as { items?: TSchema; properties?: Record<string, TSchema> };
  return {
    ...plain,
    ...(plain.items !== undefined && { items: withRefs(plain.items) }),
    ...(plain.properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(plain.properties).map(([key, value]) => [key, withRefs(value)]),
      ),
    }),
  };
}
