import Type from 'typebox';
import { type GivenModels, GivenModelsSchema } from '../../domain/admin-schemas.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { json } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';

const route = routesOf('Models of other tools');
const path = '/api/admin/model/{model}';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const EXAMPLE: GivenModels = {
  Used: 'spark-als',
  Models: [
    {
      ...{ Name: 'spark-als', Version: 1, Dimensions: 64, Items: 3000, UnknownItems: 0, ZeroItems: 0 },
      ...{ Users: 0, UnknownUsers: 0, Fold: 'least-squares', Bytes: 800_000, PutAt: '2026-11-25T08:00:00Z' },
    },
  ],
};
const response = { description: 'The models', schema: GivenModelsSchema, example: EXAMPLE };

export const modelRoutes: readonly Route[] = [
  route('GET', '/api/admin/models', {
    needsNoModel: true,
    summary: 'The models of other tools that are kept, and which one is in place',
    response,
    handler: async (_request, { admin }) => json(await admin.models.list()),
  }),
  route('PUT', path, {
    needs: 'own',
    summary: "Put a model of another tool: items' factors, and users' where there are some",
    description:
      "A Parquet file with a column of ids (`ItemId` or `Id`) and one of vectors (`Vector` or `features`: floats in a list, or their bytes); where a column `Of` says `user` the vector is a user's. It is checked, kept, and part of the next generation, which is fitted at once. A file beyond `[server] max_body_bytes` comes in pieces.",
    query: ['piece', 'fold', 'regularization', 'unobserved-weight', 'judged-by', 'use'],
    body: {
      contentType: 'application/vnd.apache.parquet',
      schema: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
      example: '',
    },
    response,
    errors: ['MODEL_NOT_FOUND', 'BODY_TOO_LARGE'],
    handler: async ({ params, query, body }, { admin }) =>
      json(await admin.models.put(checkName(params.model), body, query)),
  }),
  route('DELETE', path, {
    needs: 'own',
    summary: 'Remove a model of another tool',
    description: 'One that serves does so until the next generation, which is fitted at once.',
    response,
    errors: ['MODEL_NOT_FOUND'],
    handler: async ({ params }, { admin }) => json(await admin.models.remove(params.model)),
  }),
  route('POST', `${path}/use`, {
    needs: 'own',
    summary: 'Put a model that is kept in the place of the one that is in use',
    description: 'It is part of the next generation, which is fitted at once.',
    response,
    errors: ['MODEL_NOT_FOUND'],
    handler: async ({ params }, { admin }) => json(await admin.models.use(params.model, true)),
  }),
  route('DELETE', `${path}/use`, {
    needs: 'own',
    summary: 'Use a model no more, and keep it',
    response,
    errors: ['MODEL_NOT_FOUND'],
    handler: async ({ params }, { admin }) => json(await admin.models.use(params.model, false)),
  }),
];

/** @throws FurzeError INVALID_PARAMETER */
function checkName(name: string): string {
  if (NAME.test(name)) return name;
  const message = 'must be 1 to 64 letters, digits, dots, dashes and underscores';
  throw new FurzeError('INVALID_PARAMETER', `model ${message}.`, [{ path: 'model', message }]);
}
