import { type Static, Type } from 'typebox';
import { NEIGHBOR_TYPES } from '../domain/neighbor-type.ts';
import { POSITIVE_KIND_PATTERN } from '../domain/positive-feedback-types.ts';
import { byRecommenderKey, RECOMMENDERS, type RecommenderName } from '../domain/recommenders.ts';
import { DIMENSIONS_MAX, SIMILARITIES, VECTOR_SOURCES } from '../domain/vector-space.ts';
import { experiments } from './schema-experiments.ts';
import { attributionKeys, placements } from './schema-placements.ts';
import { namedKeys, server } from './schema-server.ts';
import {
  bool,
  choice,
  discovery,
  dsn,
  duration,
  feedbackTypes,
  INT_MAX,
  integer,
  number,
  period,
  ranker,
  repeat,
  secret,
  secretAddress,
  text,
  wait,
  wordByType,
} from './schema-types.ts';

const FOLDER = '^lmdb://.+';
const DATA_STORE = '^(lmdb://.+|postgres(ql)?://[^/]*/[^/?]+(\\?.*)?)$';
const CACHE_STORE =
  '^(lmdb://.+|rediss?(\\+cluster)?://[^/]+(/\\d*)?(\\?.*)?|postgres(ql)?://[^/]*/[^/?]+(\\?.*)?)$';

const SIGN = '([\\w.~=+-]|%[2-7][0-9A-Fa-f])+';
const REGION = 'region=[a-z0-9-]+';
const ENDPOINT = 'endpoint=https?://([\\w.-]+|\\[[0-9A-Fa-f:.]+\\])(:\\d{1,5})?/?';
const MODEL_STORE = `^(|s3://(${SIGN}:${SIGN}@)?[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\\w!.*'()/-]*)?\\?(${REGION}(&${ENDPOINT})?|${ENDPOINT}(&${REGION})?))$`;

const IMAGE = '^(|https?://[^/{}\\s]+/.*|\\{Labels\\..+\\})$';
const IMAGE_FORM =
  'a template that begins with "http://HOST/", "https://HOST/" or "{Labels.", or "" for none';
const OTLP_FORM = 'an address such as "http://127.0.0.1:4318" without a user, or "" for none';

const database = Type.Object(
  {
    data_store: dsn('lmdb://./data', DATA_STORE).means(
      'Where users, items and feedback are kept. lmdb://PATH; a relative PATH is relative to the working directory. Or postgres://USER:PASSWORD@HOST:PORT/DATABASE for several nodes, with sslmode and schema as parameters: see docs/scale-out.md.',
    ),
    replica: text('lmdb://./replica', FOLDER).means(
      'With data_store in PostgreSQL: the folder of this node for its copy of the data, out of which it reads. lmdb://PATH. Nothing is lost with it.',
    ),
    cache_store: dsn('lmdb://./data/cache', CACHE_STORE).means(
      'Where lists and models are kept, all of which can be computed again. lmdb://PATH. Or where several nodes share lists: redis://USER:PASSWORD@HOST:PORT/NUMBER (Redis or Valkey; rediss:// with TLS, redis+cluster://HOST:PORT,HOST:PORT for a cluster), or postgres:// as in data_store: see docs/scale-out.md.',
    ),
    model_store: dsn('', MODEL_STORE).means(
      'With data_store in PostgreSQL: where the parts of learned models are that nodes share; "" for in PostgreSQL, too. s3://BUCKET/PREFIX?region=REGION, and &endpoint=https://HOST:PORT for a service beside AWS. Credentials are those that AWS\'s variables, files or services of the host give, or stand before the bucket as KEY:SECRET@: see docs/scale-out.md.',
    ),
    sync: choice('disk', ['disk', 'commit']).means(
      'When a write is answered: "disk" once it is on disk, "commit" once it is visible (with PostgreSQL a power failure may lose the last writes; LMDB flushes each commit).',
    ),
    compact_free_share: number(0.5, 0, 1).means(
      'The data store is rewritten while it serves, by itself, once this share of its file (and 64 MiB) is free; 0 for never. Nothing is then left in it of what was deleted.',
    ),
  },
  { description: 'The stores.' },
);

const neighbors = (who: string, related: string, index: string) =>
  Type.Object(
    {
      neighbor_type: choice('auto', NEIGHBOR_TYPES).means(
        `How neighbors of ${who} are found: "similar" by common labels, "related" by common ${related}, "auto" by labels when there are any, otherwise by common ${related}.`,
      ),
      enable_index: bool(true).means(index),
      index_recall: number(0.8, 0, 1).means('Least share of the true neighbors that the index must find.'),
    },
    { description: `Neighbors of ${who}.` },
  );

const dataSource = Type.Object(
  {
    positive_feedback_types: Type.Array(Type.String({ pattern: POSITIVE_KIND_PATTERN }), {
      default: [],
      uniqueItems: true,
      description:
        'Feedback types that say that the user liked the item. "rating>=4" counts feedback with that Value on, "purchase=5" weighs five times as much as another in the training of the collaborative model, "rating>=4=2" is both.',
    }),
    read_feedback_types: feedbackTypes('Feedback types that say that the user saw the item.'),
    repeated: wordByType(['count']).means(
      'Feedback types of which every event counts, not the first of a user and an item alone: { purchase = "count" }. Popularity counts each when it happened; training takes the latest and how often. Two with the same Timestamp are one.',
    ),
    positive_feedback_ttl: integer(0, 0, INT_MAX).means(
      'Days after which positive feedback no longer counts; 0 for never.',
    ),
    feedback_half_life: integer(0, 0, INT_MAX).means(
      'Days after which positive feedback weighs half in the training of the collaborative model, from the newest on; 0 for all alike.',
    ),
    item_ttl: integer(0, 0, INT_MAX).means(
      'Days after which an item is no longer recommended, by its Timestamp; 0 for never.',
    ),
  },
  { description: 'What feedback means.' },
);

const collaborative = Type.Object(
  {
    model_fit_period: period('60m').means('Time between two fits of the model.'),
    model_search_period: period('360m').means(
      'Time between two searches for better settings of the model, and the longest that one may take. What a search finds takes the place of the settings below until they are changed.',
    ),
    model_search_epoch: integer(100, 1, 10_000).means(
      'Most epochs of a trial in a search; a trial ends earlier once it no longer improves.',
    ),
    model_search_trials: integer(10, 1, 10_000).means('Settings that a search tries.'),
    factors: integer(0, 0, 1024).means(
      'Numbers in the vector of a user or an item; 0 for 64 to 256 by the size of the data.',
    ),
    epochs: integer(15, 1, 1000).means(
      'Most passes over the feedback in a fit; it ends earlier once it no longer improves.',
    ),
    regularization: number(0.2, 1e-9, 1e6).means('Weight of the penalty on long vectors.'),
    regularization_exponent: number(0.5, 0, 2).means(
      'How the penalty grows with the number of feedback of a user or an item; 0 for not at all.',
    ),
    unobserved_weight: number(0, 0, 1e6).means(
      'Weight of a pair without feedback, beside the 1 of a pair with positive feedback; 0 for 0.1, or 1000 / items where there are more than 10000.',
    ),
    seed: integer(1, 0, INT_MAX).means('Seed of the random start; same data and seed, same model.'),
    warm_start: bool(false).means(
      'Start a fit from the items of the last model instead of at random. A model then depends on those before it, so data, configuration and seed alone no longer tell it.',
    ),
  },
  { description: 'Collaborative filtering by matrix factorization.' },
);

const offline = Type.Object(
  {
    check_recommend_period: period('1m').means(
      'Time between two checks for what has to be made: a first model, as soon as there is feedback for one.',
    ),
    refresh_recommend_period: period('24h').means('Age at which a list is made again without new feedback.'),
    active_user_ttl: duration('720h').means(
      'Users who ask, or have feedback, within this time get their lists ahead after each fit, those seen last first; others when they ask. 0s for all users.',
    ),
    ...byRecommenderKey(({ isOn, description }) => bool(isOn).means(description)),
    enable_click_through_prediction: bool(true).means(
      'Rank candidates by predicted click-through; false orders them by chance, unless [recommend] ranker says otherwise.',
    ),
    explore_recommend: Type.Object(
      {
        popular: number(0, 0, 1).means('Proportion of popular items put into a list.'),
        latest: number(0, 0, 1).means('Proportion of latest items put into a list.'),
      },
      { description: 'Exploration; the two proportions together are at most 1.' },
    ),
  },
  { description: 'Lists made ahead of time.' },
);

const recommend = Type.Object(
  {
    cache_size: integer(100, 1, 10_000).means('Entries in a cached list.'),
    discovery,
    repeat,
    cache_expire: duration('72h').means('Age at which a cached list is no longer served.'),
    ranker,
    vector_space: text('').means(
      'The vector space that lists go by, which is compared by "cosine"; empty for the only such one of [vectors], or for none where there are several; "none" for none.',
    ),
    data_source: dataSource,
    popular: Type.Object(
      {
        popular_window: duration('720h').means(
          'Only positive feedback younger than this makes an item popular.',
        ),
      },
      { description: 'Popular items.' },
    ),
    item_neighbors: neighbors(
      'items',
      'users',
      'Use an index where comparing all items by labels takes long: it finds the same neighbors.',
    ),
    user_neighbors: neighbors(
      'users',
      'liked items',
      'Neither this nor index_recall makes a difference: users are compared one at a time, when asked for, and always exactly.',
    ),
    collaborative,
    replacement: Type.Object(
      {
        enable_replacement: bool(false).means('Put items back that the user has read.'),
        positive_replacement_decay: number(0.8, 0, 1).means(
          'Factor on the score of an item put back that the user liked.',
        ),
        read_replacement_decay: number(0.6, 0, 1).means(
          'Factor on the score of an item put back that the user only read.',
        ),
      },
      { description: 'Putting read items back into lists.' },
    ),
    offline,
    online: Type.Object(
      {
        fallback_recommend: Type.Array(
          Type.Unsafe<RecommenderName>(Type.String({ enum: [...RECOMMENDERS] })),
          {
            default: ['latest'],
            uniqueItems: true,
            description: 'Recommenders asked in this order when the list of a user is used up.',
          },
        ),
        num_feedback_fallback_item_based: integer(10, 1, 10_000).means(
          'Number of most recent feedback that the item-based recommender starts from: in lists, as a fallback and for sessions.',
        ),
        remake_share: number(0.25, 0, 1).means(
          'Most of the time of the thread that answers which goes into making the lists of users whose feedback has changed. Beyond it the older list, less what was read, is answered, and a worker makes the new one. 0 for workers alone, 1 for no limit.',
        ),
      },
      { description: 'Answers made when they are asked for.' },
    ),
  },
  { description: 'Recommendation.' },
);

const space = Type.Object({
  dimensions: integer(384, 1, DIMENSIONS_MAX).means('Numbers in each vector.'),
  similarity: choice('cosine', SIMILARITIES).means(
    'How two vectors are compared: "cosine" by their angle, "dot" by their inner product, "euclidean" by their distance.',
  ),
  source: Type.Optional(
    choice('given', VECTOR_SOURCES).means(
      'Where vectors come from: "given" from those who write them, "text" from the comments, labels and categories of items, of which the service makes them; 256 dimensions will do then.',
    ),
  ),
});

/** Tables by the name of a space. */
const vectors = Type.Unsafe<Readonly<Record<string, Static<typeof space>>>>({
  type: 'object',
  additionalProperties: space,
  default: {},
  description:
    'Vectors of items that others have made of text, pictures or behavior, each kind a space of its own; see docs/vectors.md.',
});

/** Every configuration key with its default, range and meaning. The one place that states them. */
export const ConfigSchema = Type.Object({
  database,
  server,
  recommend,
  node: Type.Object(
    {
      role: choice('all', ['all', 'server', 'worker']).means(
        'With data_store in PostgreSQL: what this node is for. "server" answers requests and takes over what others learn, "worker" learns, "all" does both. One of those that learn does so at a time, for all.',
      ),
      name: text('').means(
        'With data_store in PostgreSQL: how this node is called in status and dashboard; empty for the name of its host.',
      ),
    },
    { description: 'One of several processes over the same data; see docs/scale-out.md.' },
  ),
  worker: Type.Object(
    {
      threads: integer(0, 0, 1024).means(
        'Threads that train models and make lists; 0 for one a core, or what the quota of a container has room for.',
      ),
      memory_max_mb: integer(0, 0, INT_MAX).means(
        'Most memory that a fit may take, in MiB. One that needs more is divided by users, or learns from a sample of them; it is refused where the items alone need more. 0 for 70 % of what the process may have.',
      ),
      relaxed_simd: choice('auto', ['auto', 'off']).means(
        'Relaxed SIMD, which trains faster: "auto" where the runtime has it, "off" never. With it the last bits of a model depend on the kind of processor.',
      ),
    },
    { description: 'Background work.' },
  ),
  log: Type.Object(
    {
      level: choice('info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).means(
        'Least level that is logged.',
      ),
      format: choice('auto', ['auto', 'json', 'text']).means(
        'How lines are written to standard output: "json" is an object a line, "text" is for people; "auto" is text on a terminal and JSON everywhere else.',
      ),
    },
    { description: 'The log.' },
  ),
  key: namedKeys,
  dashboard: Type.Object(
    {
      image: text('', IMAGE, IMAGE_FORM).means(
        'Address of the picture of an item, for the dashboard: a template such as "https://img.shop.example/{ItemId}.jpg" or "{Labels.image}", with the fields ItemId, Comment and those of labels that are objects. Empty for none.',
      ),
      price: text('').means(
        'Price of an item as the dashboard shows it: a template such as "{Labels.price} EUR", with fields as in image. Empty for none.',
      ),
    },
    { description: 'The pages for people.' },
  ),
  webhooks: Type.Object(
    {
      url: secretAddress(
        'Address to which events are sent as JSON by POST: fit_published, and quality_fell. It is never shown, since it may hold a key. Empty for none.',
      ),
      key: secret('Key that is sent with them as "Authorization: Bearer"; empty for none.'),
      quality_fall: number(0.1, 0, 1).means(
        'Share by which the NDCG@10 of the lists must be lower than after the fit before, to have fallen.',
      ),
    },
    { description: 'What the service tells others by itself.' },
  ),
  telemetry: Type.Object(
    {
      otlp_url: text('', '^(|https?://[^/@\\s]+(/[^@\\s]*)?)$', OTLP_FORM).means(
        'Address of a collector that takes OTLP over HTTP, such as "http://127.0.0.1:4318": metrics and spans of requests go to it. Empty sends nothing and costs nothing. Keys belong into the variable OTEL_EXPORTER_OTLP_HEADERS.',
      ),
      trace_share: number(0.01, 0, 1).means(
        'Share of requests that begin a trace. A request that comes with a traceparent belongs to that trace, if its caller keeps it.',
      ),
      metrics_period: wait('60s').means('Time between two sendings of the metrics.'),
    },
    { description: 'What is sent to OpenTelemetry.' },
  ),
  placement: placements,
  vectors,
  experiment: experiments,
  attribution: Type.Object(attributionKeys, {
    description: 'What came of the lists of placements; see docs/placements.md.',
  }),
});

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The checked and frozen configuration: sections and keys as in the file, durations in milliseconds. */
export type Config = DeepReadonly<Static<typeof ConfigSchema>>;
