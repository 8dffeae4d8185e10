import Type, { type TSchema } from 'typebox';
import type { QueryName } from '../route/query-parameters.ts';

export interface ParameterNote {
  readonly description: string;
  readonly schema: TSchema;
  readonly example?: unknown;
}

const text = Type.String();
const id = Type.String({ rule: 'id' });
/** Of an id or a text that may be left empty. */
const given = Type.String({ rule: 'given' });
const itemId = Type.String({ rule: 'itemId' });
const count = (rule: 'n' | 'offset') => Type.Integer({ minimum: 0, rule });

export const PATH_PARAMETERS: Readonly<Record<string, ParameterNote>> = {
  'user-id': { description: 'Identifier of the user', schema: id, example: 'alice' },
  'import-id': { description: 'Made up by the caller, another for each file', schema: id, example: '7d0c2a' },
  'item-id': { description: 'Identifier of the item, without a slash', schema: itemId, example: 'film-1' },
  'feedback-type': { description: 'Kind of feedback', schema: id, example: 'like' },
  category: { description: 'Category of items', schema: id, example: 'Drama' },
  space: {
    description: 'Name of a vector space of the configuration',
    schema: id,
    example: 'text',
  },
  model: { description: 'Name of a model of another tool', schema: id, example: 'spark-als' },
  'placement-name': { description: 'Name of a placement', schema: id, example: 'home' },
  'experiment-name': { description: 'Name of an experiment', schema: id, example: 'sizes' },
  asset: { description: 'Name of a file', schema: text, example: 'swagger-ui.css' },
  page: { description: 'Name of a page of the documentation', schema: text, example: 'configuration.md' },
};

/** Query parameters by name; all are optional. One that makes a request write has no example, as the page fills it in. */
export const QUERY_PARAMETERS: Readonly<Record<QueryName, ParameterNote>> = {
  n: {
    description: 'Number of entries; by default `[server] default_n`',
    schema: count('n'),
    example: 10,
  },
  offset: {
    description: 'Position in the list to start from',
    schema: count('offset'),
    example: 0,
  },
  cursor: {
    description: 'The `Cursor` of the page before; read as `Cursor` too',
    schema: Type.String({ rule: 'cursor' }),
  },
  q: {
    description: 'Only items with this text in id, comment, a category or a label, best match first',
    schema: given,
  },
  prefix: { description: 'Only those whose ids begin with this', schema: given, example: 'al' },
  'user-id': { description: 'Leave out what this user has feedback on', schema: given, example: 'alice' },
  category: {
    description: 'Only items that have this category; given several times, only those that have all',
    schema: Type.Array(given),
  },
  exclude: {
    description: 'Leave these items out: ids with commas between them, or given several times; at most 1,000',
    schema: Type.Array(given, { maxItems: 1000 }),
  },
  label: {
    description: 'Only items with this label; given several times, at most 16, only those that have all',
    schema: Type.Array(given, { maxItems: 16 }),
  },
  'not-label': {
    description: 'Leave out items with this label; given several times, at most 16, those with any of them',
    schema: Type.Array(given, { maxItems: 16 }),
  },
  boost: {
    description:
      'A label, a colon and a factor from 0.001 to 1,000 by which the scores of items with the label are multiplied; may ' +
      'be given up to 4 times',
    schema: Type.Array(text, { rule: 'boost' }),
  },
  placement: {
    description: 'The list by the rules of the placement of this name',
    schema: given,
  },
  item: {
    description:
      'The item that the page is about, for placements that go by one; by default the one liked last',
    schema: given,
  },
  discovery: {
    description:
      'Share of its weight that popularity loses in the ranking, in place of [recommend] discovery: a list is made for the question',
    schema: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Literal('auto')]),
  },
  version: {
    description: 'The `Version` that is changed, 0 for none: where there is another, nothing is changed',
    schema: Type.Integer({ minimum: 0 }),
  },
  variant: { description: 'Name of a variant of the experiment', schema: given, example: 'mixed' },
  by: { description: 'The vector space that items are compared in', schema: given },
  'write-back-type': {
    description: 'Stores a feedback of this type for each item answered: the request then writes',
    schema: given,
  },
  'write-back-delay': {
    description: 'Added to the time now to make the Timestamp of the stored feedback, such as 0h10m0s',
    schema: Type.String({ rule: 'duration' }),
  },
  piece: {
    description:
      'Of a file that comes in pieces: the number of this one from 1, how many there are, and a name of the file, with colons between them',
    schema: given,
  },
  fold: {
    description:
      'How a user is made of what they like: by regularized `least-squares` against the items, or as the decayed `mean` of their vectors',
    schema: Type.Union([Type.Literal('least-squares'), Type.Literal('mean')]),
  },
  regularization: {
    description:
      "Penalty of least squares, in the file's units; by default a tenth of the items' mean squared length",
    schema: Type.Number({ minimum: 0 }),
  },
  'unobserved-weight': {
    description: 'What a pair without feedback counts beside one with, in least squares',
    schema: Type.Number({ minimum: 0 }),
  },
  'judged-by': {
    description: 'Name of a model that is judged in its place, for it learned without the latest feedback',
    schema: given,
  },
  use: { description: 'Whether it is put in place, by default true', schema: Type.Boolean() },
  details: {
    description:
      'Whether feedback comes with how often and when it happened, and a list as an object, with score, source and reason of each item',
    schema: Type.Boolean(),
  },
};
