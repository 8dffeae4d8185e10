import { DEFAULT_LIMITS as LIMITS, type Limits } from '../domain/request-limits.ts';
import { integer } from './schema-types.ts';

const INT_MAX = 2 ** 31 - 1;
const MIB = 1024 * 1024;

/** The keys of `[server]` that say what a caller may send and ask for at most. */
export const limitKeys = {
  max_body_bytes: integer(LIMITS.bodyBytesMax, 1024, INT_MAX, 'Largest request body, in bytes.'),
  max_batch_records: integer(
    LIMITS.batchRecordsMax,
    1,
    10_000_000,
    'Most records in one batch of users, items or feedback.',
  ),
  max_session_records: integer(
    LIMITS.sessionRecordsMax,
    1,
    100_000,
    'Most records in a request for a session.',
  ),
  max_session_bytes: integer(
    LIMITS.sessionBytesMax,
    1024,
    64 * MIB,
    'Largest body of a request for a session, in bytes.',
  ),
  max_json_depth: integer(
    LIMITS.jsonDepthMax,
    3,
    1000,
    'How deep the JSON of a body may be nested, in arrays and objects.',
  ),
  max_labels: integer(LIMITS.labelsMax, 0, 65_535, 'Most labels, categories or subscriptions of one record.'),
  max_label_bytes: integer(
    LIMITS.labelBytesMax,
    1,
    65_535,
    'Largest label, category or subscription, in UTF-8 bytes.',
  ),
  max_comment_bytes: integer(LIMITS.commentBytesMax, 0, 16 * MIB, 'Largest comment, in UTF-8 bytes.'),
  max_n: integer(LIMITS.nMax, 1, 1_000_000, 'Largest n of a list or page.'),
  max_offset: integer(LIMITS.offsetMax, 0, INT_MAX, 'Largest offset of a list.'),
  max_page_bytes: integer(
    LIMITS.pageBytesMax,
    64 * 1024,
    256 * MIB,
    'Bytes of records from which on a page ends early with its cursor.',
  ),
};

/** Values of `limitKeys`. */
type LimitValues = { readonly [Key in keyof typeof limitKeys]: number };

export function limitsOf({ server }: { readonly server: LimitValues }): Limits {
  return {
    ...LIMITS,
    bodyBytesMax: server.max_body_bytes,
    batchRecordsMax: server.max_batch_records,
    sessionRecordsMax: server.max_session_records,
    sessionBytesMax: server.max_session_bytes,
    jsonDepthMax: server.max_json_depth,
    labelsMax: server.max_labels,
    labelBytesMax: server.max_label_bytes,
    commentBytesMax: server.max_comment_bytes,
    nMax: server.max_n,
    offsetMax: server.max_offset,
    pageBytesMax: server.max_page_bytes,
  };
}
