import type { Limits } from '../../domain/request-limits.ts';

/** Words of JSON Schema that say what the server enforces beside types. */
type Words = Readonly<Record<string, unknown>>;

/**
 * Meanings of a schema's `rule` in the OpenAPI document. The validators do not read these words: they check by hand
 * what is faster so, in bytes where JSON Schema counts characters, and by the limits of the configuration.
 */
export const RULES: Readonly<Record<string, (limits: Limits) => Words>> = {
  id: ({ idBytesMax }) => ({ minLength: 1, maxLength: idBytesMax, pattern: '^[^\\u0000]+$' }),
  itemId: ({ idBytesMax }) => ({ minLength: 1, maxLength: idBytesMax, pattern: '^[^/\\u0000]+$' }),
  texts: ({ labelsMax, labelBytesMax }) => ({
    maxItems: labelsMax,
    items: { type: 'string', maxLength: labelBytesMax },
  }),
  comment: ({ commentBytesMax }) => ({ maxLength: commentBytesMax }),
  timestamp: () => ({ pattern: `^(${TIMESTAMP})?$`, examples: ['2022-03-04T05:06:07Z', '2022-03-04'] }),
  written: () => ({ pattern: `^(${UTC})?$`, examples: ['2022-03-04T05:06:07Z'] }),
  batch: ({ batchRecordsMax }) => ({ maxItems: batchRecordsMax }),
  session: ({ sessionRecordsMax }) => ({ maxItems: sessionRecordsMax }),
  n: ({ nMax }) => ({ maximum: nMax }),
  offset: ({ offsetMax }) => ({ maximum: offsetMax }),
  cursor: () => ({ pattern: '^[A-Za-z0-9_-]*$' }),
  duration: () => ({ pattern: '^([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$' }),
};

const DATE = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const TIME = '[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?';
const TIMESTAMP = `${DATE}([Tt ]${TIME}([Zz]|[+-][0-9]{2}:?[0-9]{2})?)?`;
const UTC = `${DATE}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?Z`;
