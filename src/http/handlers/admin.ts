import Type, { type TSchema } from 'typebox';
import {
  ActiveUsersSchema,
  DailyFiguresSchema,
  PopularItemsSchema,
  RecentEventsSchema,
} from '../../domain/activity-schemas.ts';
import {
  ConfigReportSchema,
  ImportReportSchema,
  ItemViewSchema,
  QualitySchema,
  SeriesSchema,
  StorageSchema,
  SummarySchema,
  TasksSchema,
  TitledScoreSchema,
  UserHistorySchema,
  UserViewSchema,
} from '../../domain/admin-schemas.ts';
import { ItemsPageSchema, SessionBodiesSchema, UsersPageSchema } from '../../domain/api-schemas.ts';
import { decodeImportReport, decodeSession } from '../../domain/decode-bodies.ts';
import { noSuchItem } from '../../domain/furze-error.ts';
import { jsonPage, pageWish } from '../route/page-reply.ts';
import { json } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';
import { FEEDBACK, ITEM, USER } from './examples.ts';
import { listQuery } from './lists.ts';

const route = routesOf('Admin');
/** Feedback records of a user that are shown. */
const HISTORY_COUNT = 100;
/** Entries of a user's lists, whatever `n` asks for: each is read with its title. */
const ENTRIES_MAX = 100;

/** A type that no browser opens by itself. */
const BYTES_TYPE = 'application/octet-stream';

/** Routes for operators. Each is bounded and changes no data. */
export const adminRoutes: readonly Route[] = [
  route('GET', '/api/admin/summary', {
    needsNoModel: true,
    summary: 'The state of the service: one sentence, what is not right and what to do, counts, the model',
    response: { description: 'The summary', schema: SummarySchema },
    handler: async (_request, { admin }) => json(await admin.summary()),
  }),
  route('GET', '/api/admin/series', {
    needsNoModel: true,
    summary: 'Curves over the last `n` samples, one taken every ten seconds',
    description: 'A day is 8,640 samples. Of many samples several become one point, their mean or largest.',
    query: ['n'],
    response: { description: 'Times, and values by name', schema: SeriesSchema },
    handler: ({ query }, { admin }) => json(admin.series(query.n)),
  }),
  route('GET', '/api/admin/tasks', {
    needsNoModel: true,
    summary:
      'Fits, passes over the lists, searches, evaluations, compactions, backups, imports: those that run and the last that ended',
    response: { description: 'The tasks', schema: TasksSchema },
    handler: (_request, { admin }) => json(admin.tasks()),
  }),
  route('POST', '/api/admin/fit', {
    needs: 'own',
    summary: 'Begin a fit now',
    description: 'The answer comes at once, with the tasks as they are then. A fit that runs is joined.',
    response: { description: 'The tasks', schema: TasksSchema },
    handler: async (_request, { admin }) => json(await admin.begin('fit')),
  }),
  route('POST', '/api/admin/search', {
    needs: 'own',
    summary: 'Begin a search of better settings now',
    description: 'The answer comes at once, with the tasks as they are then. A search that runs is joined.',
    response: { description: 'The tasks', schema: TasksSchema },
    handler: async (_request, { admin }) => json(await admin.begin('search')),
  }),
  route('POST', '/api/admin/evaluation', {
    needs: 'own',
    needsNoModel: true,
    summary: 'Begin to judge the lists on held-out feedback',
    description:
      'A process of its own learns without the latest fifth of the positive feedback, in about six fits, and compares the lists of at most 2,000 users with it. The answer comes at once; the report stands in `/api/admin/quality` when it is done. One that runs is joined.',
    response: { description: 'The tasks', schema: TasksSchema },
    handler: async (_request, { admin }) => json(await admin.begin('evaluation')),
  }),
  route('POST', '/api/admin/compact', {
    needs: 'own',
    needsNoModel: true,
    summary: 'Begin to rewrite the data store without its free space',
    description:
      'It is read and written meanwhile. Once it is done nothing is left in it of what was deleted. The answer comes at once, with the tasks as they are then. A compaction that runs is joined.',
    response: { description: 'The tasks', schema: TasksSchema },
    handler: async (_request, { admin }) => json(await admin.begin('compaction')),
  }),
  route('POST', '/api/admin/backup', {
    needs: 'own',
    needsNoModel: true,
    summary: 'A consistent copy of the data store, as `furze restore` takes it',
    description:
      'One state of all users, items and feedback, whatever is written meanwhile. The copy is made first, which takes its room on the disk until it is read; one at a time. Read the answer to its end: one that is cut short is refused by `furze restore`.',
    response: { description: 'The copy', contentType: BYTES_TYPE },
    async handler(_request, { admin }) {
      const { stream } = await admin.backups.begin();
      return {
        status: 200,
        contentType: BYTES_TYPE,
        body: '',
        parts: stream,
        discard: () => void stream.destroy(),
        headers: [['Content-Disposition', 'attachment; filename="data.mdb"']],
      };
    },
  }),
  route('PUT', '/api/admin/import/{import-id}', {
    needsNoModel: true,
    summary: 'Tell how far an import is, for it to stand among the tasks',
    description:
      'Whoever sends a file in batches may say so here: as often as it likes while it goes on, and with the state `done` or `failed` at the end. One of which nothing is heard for a minute counts as failed. It changes no data.',
    body: {
      schema: ImportReportSchema,
      example: {
        File: 'clicks.csv',
        Kind: 'feedback',
        State: 'running',
        Done: 65536,
        Total: 1048576,
        Written: 2500,
        Refused: 0,
      },
    },
    response: { description: 'The tasks', schema: TasksSchema },
    handler({ params, body }, { admin, limits }) {
      admin.imports.tell(params['import-id'], decodeImportReport(body, limits));
      return json(admin.tasks());
    },
  }),
  route('GET', '/api/admin/quality', {
    needsNoModel: true,
    summary:
      'What the model was measured at, what it ranks by, how it went in the fits before, the last evaluation',
    response: { description: 'The quality', schema: QualitySchema },
    handler: (_request, { admin }) => json(admin.quality()),
  }),
  route('GET', '/api/admin/storage', {
    needsNoModel: true,
    summary: 'Disk by table and memory by part',
    response: { description: 'Sizes', schema: StorageSchema },
    handler: async (_request, { admin }) => json(await admin.storage()),
  }),
  route('GET', '/api/admin/config', {
    needsNoModel: true,
    summary: 'The configuration in effect, with the source of each key; secrets are masked',
    response: { description: 'Every key', schema: ConfigReportSchema },
    handler: (_request, { admin }) => json(admin.config()),
  }),
  ...pageRoutes(),
  sessionRoute(),
  ...activityRoutes(),
  ...viewRoutes(),
];

function pageRoutes(): Route[] {
  const pageOf = (
    path: string,
    what: string,
    schema: TSchema,
    example: object,
    read: 'getUsers' | 'getItems',
  ) =>
    route('GET', `/api/admin/${path}` as '/api/admin/users', {
      needsNoModel: true,
      summary: `${what} whose ids begin with \`prefix\`, page by page`,
      query: ['n', 'cursor', 'prefix'],
      response: { description: 'A page', schema, example: { Cursor: '', [what]: [example] } },
      errors: ['INVALID_CURSOR'],
      handler: ({ query }, { data, limits }) =>
        jsonPage<object>(what, pageWish(query, limits), (n, cursor) => data[read](n, cursor, query.prefix)),
    });
  return [
    pageOf('users', 'Users', UsersPageSchema, USER, 'getUsers'),
    pageOf('items', 'Items', ItemsPageSchema, ITEM, 'getItems'),
  ];
}

/** Items for somebody who is made up. */
function sessionRoute(): Route {
  return route('POST', '/api/admin/session', {
    reads: true,
    summary: 'Items for a session, as the dashboard shows them',
    description: 'What `/api/session/recommend` answers, with title, picture and price. Nothing is stored.',
    query: ['n'],
    body: { schema: SessionBodiesSchema, example: [FEEDBACK] },
    response: { description: 'Best first', schema: Type.Array(TitledScoreSchema) },
    errors: ['BATCH_TOO_LARGE'],
    async handler(request, { admin, recommender, data, limits, clock }) {
      const feedback = decodeSession(request.body, limits, clock());
      const query = { ...request.query, n: Math.min(request.query.n, ENTRIES_MAX) };
      const { entries } = await recommender.session(feedback, listQuery(query, undefined, request));
      return json(
        entries.flatMap(({ Id, Score }) => {
          const item = data.local.findItem(Id);
          return item === undefined ? [] : [{ ...admin.cards.of(item), Score }];
        }),
      );
    },
  });
}

/** Events of the moment, with the users and items that they are about. */
function activityRoutes(): Route[] {
  return [
    route('GET', '/api/admin/activity/feedback', {
      needsNoModel: true,
      summary: 'The latest feedback as it came',
      description: 'Of the latest thousand records since the start, and those before an orderly stop.',
      query: ['n'],
      response: { description: 'Newest first', schema: RecentEventsSchema },
      handler: async ({ query }, { admin }) =>
        json({ Feedback: await admin.activity.feedback(Math.min(query.n, ENTRIES_MAX)) }),
    }),
    route('GET', '/api/admin/activity/stream', {
      summary: 'Feedback as it comes, with what each has changed, as server-sent events',
      description:
        'Each event is JSON of the form of `/api/admin/activity/feedback`: the latest `n` records first, then what came since, at most four times a second. Of up to three users an event it tells the answer that they get since. It goes on until the caller leaves; eight at a time.',
      query: ['n'],
      response: { description: 'Events', contentType: 'text/event-stream' },
      errors: ['OVERLOADED'],
      handler: ({ query, signal }, { admin }) => ({
        status: 200,
        contentType: 'text/event-stream',
        body: '',
        ...admin.activity.live.events(Math.min(query.n, ENTRIES_MAX), signal),
        lasts: true,
        headers: [['X-Accel-Buffering', 'no']],
      }),
    }),
    route('GET', '/api/admin/activity/days', {
      needsNoModel: true,
      summary: 'Feedback, active users, new users and items, and what made answers, by day',
      description: 'Of the last 30 days, as far as this service saw them. Nothing is looked up for it.',
      response: { description: 'The days, the present one last', schema: DailyFiguresSchema },
      handler: (_request, { admin }) => json(admin.activity.days.view()),
    }),
    route('GET', '/api/admin/activity/users', {
      needsNoModel: true,
      summary: 'The users who were active last, with how much feedback each has',
      query: ['n', 'offset'],
      response: { description: 'Who was active last first', schema: ActiveUsersSchema },
      handler: async ({ query }, { admin }) =>
        json({ Users: await admin.activity.users(Math.min(query.n, ENTRIES_MAX), query.offset) }),
    }),
    route('GET', '/api/admin/activity/items', {
      needsNoModel: true,
      summary: 'The items with the most positive feedback in the popular window',
      query: ['n', 'offset'],
      response: { description: 'Most liked first', schema: PopularItemsSchema },
      handler: async ({ query }, { admin }) =>
        json({ Items: await admin.activity.items(Math.min(query.n, ENTRIES_MAX), query.offset) }),
    }),
  ];
}

function viewRoutes(): Route[] {
  return [
    route('GET', '/api/admin/user/{user-id}', {
      summary: 'One user: the latest feedback, what is recommended, and what each recommender would',
      description: `Lists have \`n\` entries, at most ${ENTRIES_MAX}. An unknown user gets what anybody gets.`,
      query: ['n'],
      response: { description: 'The user', schema: UserViewSchema },
      async handler({ params, query }, { admin }) {
        const n = Math.min(query.n, ENTRIES_MAX);
        return json(await admin.user(params['user-id'], { n, historyCount: HISTORY_COUNT }));
      },
    }),
    route('GET', '/api/admin/user/{user-id}/feedback', {
      needsNoModel: true,
      summary: 'The feedback of one user, newest first, page by page',
      description: `\`n\` records, at most ${HISTORY_COUNT}.`,
      query: ['n', 'cursor'],
      response: { description: 'A page', schema: UserHistorySchema },
      errors: ['INVALID_CURSOR'],
      handler: async ({ params, query }, { admin }) =>
        json(await admin.userFeedback(params['user-id'], Math.min(query.n, HISTORY_COUNT), query.cursor)),
    }),
    route('GET', '/api/admin/item/{item-id}', {
      summary: 'One item: its neighbors, and the feedback on it over time',
      description: `\`n\` neighbors, at most ${ENTRIES_MAX}. Of many users a part is looked at, evenly spread.`,
      query: ['n'],
      response: { description: 'The item', schema: ItemViewSchema },
      errors: ['ITEM_NOT_FOUND'],
      async handler({ params, query }, { admin }) {
        const view = await admin.item(params['item-id'], Math.min(query.n, ENTRIES_MAX));
        if (view !== undefined) return json(view);
        throw noSuchItem(params['item-id']);
      },
    }),
  ];
}
