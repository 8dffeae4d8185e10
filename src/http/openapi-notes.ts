import Type, { type TSchema } from 'typebox';
import type { QueryName } from './query.ts';

/** What is said of a parameter in the OpenAPI document. */
export interface ParameterNote {
  readonly description: string;
  readonly schema: TSchema;
  readonly example?: unknown;
}

const text = Type.String();
const count = Type.Integer({ minimum: 0 });

/** Path parameters by name. */
export const PATH_PARAMETERS: Readonly<Record<string, ParameterNote>> = {
  'user-id': { description: 'Identifier of the user', schema: text, example: 'alice' },
  'item-id': { description: 'Identifier of the item, without a slash', schema: text, example: 'film-1' },
  'feedback-type': { description: 'Kind of feedback', schema: text, example: 'like' },
  category: { description: 'Category of items', schema: text, example: 'Drama' },
  asset: { description: 'Name of a file', schema: text, example: 'swagger-ui.css' },
};

/** Query parameters by name; all are optional. */
export const QUERY_PARAMETERS: Readonly<Record<QueryName, ParameterNote>> = {
  n: { description: 'Number of entries; by default `[server] default_n`', schema: count, example: 10 },
  offset: { description: 'Position in the list to start from', schema: count, example: 0 },
  cursor: { description: 'The `Cursor` of the page before; read as `Cursor` too', schema: text },
  prefix: { description: 'Only those whose ids begin with this', schema: text, example: 'al' },
  'user-id': { description: 'Leave out what this user has feedback on', schema: text, example: 'alice' },
  category: {
    description: 'Only items that have this category; given several times, only those that have all',
    schema: Type.Array(text),
  },
  'write-back-type': {
    description: 'Write a feedback of this type for each item answered',
    schema: text,
    example: 'read',
  },
  'write-back-delay': {
    description: 'Added to the time now to make the Timestamp of the written feedback',
    schema: text,
    example: '0h10m0s',
  },
};
