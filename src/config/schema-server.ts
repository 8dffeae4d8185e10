import { type Static, Type } from 'typebox';
import { DEFAULT_LIMITS as LIMITS, type Limits } from '../domain/request-limits.ts';
import { ROLES } from '../domain/roles.ts';
import {
  bool,
  choice,
  duration,
  INT_MAX,
  integer,
  number,
  secret,
  secrets,
  text,
  wait,
} from './schema-types.ts';

const FRESHNESS = '^(strict|(\\d+(\\.\\d+)?(ms|s|m))+)$';
const ORIGIN = '^(\\*|https?://[^/\\s]+)$';
const HOST = '^(\\*|[\\w.-]+|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)$';
const MIB = 1024 * 1024;

/** The keys of `[server]` that say what a caller may send and ask for at most. */
const limitKeys = {
  max_body_bytes: integer(LIMITS.bodyBytesMax, 1024, INT_MAX).means('Largest request body, in bytes.'),
  max_batch_records: integer(LIMITS.batchRecordsMax, 1, 10_000_000).means(
    'Most records in one batch of users, items or feedback.',
  ),
  max_session_records: integer(LIMITS.sessionRecordsMax, 1, 100_000).means(
    'Most records in a request for a session.',
  ),
  max_session_bytes: integer(LIMITS.sessionBytesMax, 1024, 64 * MIB).means(
    'Largest body of a request for a session, in bytes.',
  ),
  max_json_depth: integer(LIMITS.jsonDepthMax, 3, 1000).means(
    'How deep the JSON of a body may be nested, in arrays and objects.',
  ),
  max_labels: integer(LIMITS.labelsMax, 0, 65_535).means(
    'Most labels, categories or subscriptions of one record.',
  ),
  max_label_bytes: integer(LIMITS.labelBytesMax, 1, 65_535).means(
    'Largest label, category or subscription, in UTF-8 bytes.',
  ),
  max_comment_bytes: integer(LIMITS.commentBytesMax, 0, 16 * MIB).means('Largest comment, in UTF-8 bytes.'),
  max_n: integer(LIMITS.nMax, 1, 1_000_000).means('Largest n of a list or page.'),
  max_offset: integer(LIMITS.offsetMax, 0, INT_MAX).means('Largest offset of a list.'),
  max_page_bytes: integer(LIMITS.pageBytesMax, 64 * 1024, 256 * MIB).means(
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

/** The keys of `[server]`. */
export const server = Type.Object(
  {
    host: text('127.0.0.1', '^[^\\s\\0-\\x1f\\x7f]+$').means(
      'The address to listen on; 0.0.0.0 for every interface.',
    ),
    port: integer(8087, 0, 65535).means('The TCP port to listen on; 0 takes a free one.'),
    http_engine: choice('auto', ['auto', 'uws', 'node']).means(
      'What speaks HTTP: "uws" for native uWebSockets.js, "node" for the HTTP server of Node.js, "auto" for the native one where it has a build for this system.',
    ),
    api_key: secret(
      'Secret that callers must send as X-API-Key; empty for no authentication. Needs TLS, by ssl_cert or in front of the service.',
    ),
    api_keys: secrets(
      'More secrets that count as api_key does, so that keys can be changed one caller at a time.',
    ),
    read_only_api_key: secret(
      'Secret that may read and not write; empty for none. Needs api_key or api_keys beside it.',
    ),
    freshness: text('strict', FRESHNESS).means(
      'With data_store in PostgreSQL: how far answers may be behind what other nodes have stored. "strict" for not at all: a node asks the database before it answers. Or a duration such as "5s".',
    ),
    cors_origins: Type.Array(Type.String({ pattern: ORIGIN }), {
      default: [],
      uniqueItems: true,
      description:
        'Origins whose pages may write when no key is set, such as "https://shop.example"; "*" for all. Pages of other origins may only read. With a key set every origin may ask, as each request needs the key.',
    }),
    hosts: Type.Array(Type.String({ pattern: HOST }), {
      default: [],
      uniqueItems: true,
      description:
        'Host names, without a port, by which the service answers when no key is set, such as "furze.internal"; "*" for all. Loopback names and addresses always count, and every address where the service listens beyond loopback. With a key set any name will do.',
    }),
    error_format: choice('problem', ['problem', 'text']).means(
      'How errors are answered: "problem" as application/problem+json (RFC 9457), "text" as plain text, as Gorse does, for clients that show the body as it is.',
    ),
    default_n: integer(10, 0, LIMITS.nMax).means('Number of entries in a list when n is not given.'),
    clock_error: duration('5s').means('Maximal difference between the clocks of nodes.'),
    cache_expire: duration('10s').means(
      'Age at which a list is made again once an item has appeared or is no longer hidden.',
    ),
    auto_insert_user: bool(true).means('Create the user of a feedback when it is unknown.'),
    auto_insert_item: bool(true).means('Create the item of a feedback when it is unknown.'),
    hit_cache_mb: number(64, 0, 65_536).means(
      'Memory for the heads of the lists of users who were asked for lately, in MiB, and a quarter more for users and items asked for by id; 0 for none.',
    ),
    ...limitKeys,
    ssl_cert: text('').means(
      'File with the certificate, and those that it hangs on, in PEM; empty for plain HTTP.',
    ),
    ssl_key: text('').means('File with the private key of ssl_cert, in PEM without a passphrase.'),
    max_bodies_mb: number(256, 1, 1_048_576).means(
      'Memory for the bodies of all requests under way, in MiB; beyond it requests are answered 503.',
    ),
    max_answers_mb: number(256, 1, 1_048_576).means(
      'Memory for long answers that their callers have not taken yet, in MiB; beyond it requests are answered 503.',
    ),
    body_timeout: wait('7s').means(
      'Time in which a body must bring 16 KiB for each second or end; a slower one is answered 408. uWebSockets.js closes such a connection after 8 to 12 seconds whatever is set.',
    ),
    send_timeout: wait('10s').means(
      'Time in which a caller must take 16 KiB of a long answer for each second, or its end; a slower one is cut off.',
    ),
    keep_alive_timeout: wait('65s').means(
      'How long a connection may rest between two requests, over node:http; longer than proxies keep theirs, so that none is closed under a request. uWebSockets.js has 10 seconds.',
    ),
    shutdown_timeout: wait('10s').means(
      'How long stopping may take; what is still under way then is cut off. Every acknowledged write is safe.',
    ),
  },
  { description: 'The HTTP server.' },
);

const namedKey = Type.Object({
  value: secret('The secret that its holder sends as X-API-Key.'),
  role: choice('read', ROLES).means(
    'What it lets its holder do: "read"; "write" users, items, feedback and impressions too; "operate" placements and experiments; "own" for everything.',
  ),
});

/** Keys by the name of whoever has one. */
export const namedKeys = Type.Unsafe<Readonly<Record<string, Static<typeof namedKey>>>>({
  type: 'object',
  additionalProperties: namedKey,
  default: {},
  description:
    'Keys with a name, which the log of changes tells, and a role. server.api_key and api_keys have the role own.',
});
