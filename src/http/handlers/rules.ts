import Type from 'typebox';
import type { Rules } from '../../config/config.ts';
import { experiment } from '../../config/schema-experiments.ts';
import { placement } from '../../config/schema-placements.ts';
import type { DetailedList } from '../../domain/api-schemas.ts';
import { decodePreview, decodeSettings } from '../../domain/decode-bodies.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import {
  AuditSchema,
  type Preview,
  PreviewBodySchema,
  PreviewSchema,
  RuleHistorySchema,
  RulesSchema,
} from '../../domain/rule-schemas.ts';
import { BoundedQueue } from '../../platform/concurrency/bounded-queue.ts';
import type { RecommendQuery } from '../../recommend/sources/recommender.ts';
import { json } from '../route/reply.ts';
import { type Route, type RouteRequest, routesOf } from '../route/route.ts';
import type { Services } from '../route/services.ts';

const route = routesOf('Placements');
const ENTRIES_MAX = 100;
const history = { description: 'The rule with its history', schema: RuleHistorySchema };
/** A filter of a draft may take a good part of a second: one draft at a time, and keys take turns. */
const previews = new BoundedQueue({ atWorkMax: 1, refusedFor: 'previews' });
const changing = ['BAD_REQUEST', 'INVALID_BODY', 'CHANGED_MEANWHILE'] as const;

/** The routes by which staff see and change placements and experiments. */
export const ruleRoutes: readonly Route[] = [
  route('GET', '/api/admin/rules', {
    needsNoModel: true,
    summary: 'All placements and experiments, where they come from, and what the key that asks may do',
    response: { description: 'By name', schema: RulesSchema },
    handler: ({ caller }, { admin }) => json(admin.rules.view(caller)),
  }),
  route('GET', '/api/admin/audit', {
    needsNoModel: true,
    summary: 'Who changed what: the latest changes of placements and experiments, and tasks that were begun',
    description: 'Keys are named, never told. The latest thousand are kept.',
    query: ['n'],
    response: { description: 'Newest first', schema: AuditSchema },
    handler: ({ query }, { admin }) => json(admin.audit.read(query.n)),
  }),
  ...ruleRoutesOf({
    kind: 'placement',
    path: '/api/admin/placements/{placement-name}',
    schema: Type.Partial(placement, { additionalProperties: false }),
    example: { length: 20, max_per_label: 2 },
  }),
  ...ruleRoutesOf({
    kind: 'experiment',
    path: '/api/admin/experiments/{experiment-name}',
    schema: Type.Partial(experiment, { additionalProperties: false }),
    example: {
      placement: 'home',
      variants: [
        { name: 'now', share: 0.5 },
        { name: 'mixed', share: 0.5, override: { max_per_label: 2 } },
      ],
      measure: 'purchase',
    },
  }),
  route('POST', '/api/admin/placements/{placement-name}/preview', {
    reads: true,
    summary:
      'What some users would see by the rules of a placement, as it is or as it would be with other keys',
    description: `Nothing is stored. Lists have \`n\` entries, at most ${ENTRIES_MAX}.`,
    query: ['n'],
    body: { schema: PreviewBodySchema, example: { Settings: { length: 5 }, Users: ['alice'] } },
    response: { description: 'A list for each user', schema: PreviewSchema },
    errors: ['PLACEMENT_NOT_FOUND', 'OVERLOADED'],
    async handler(request, services) {
      const line = { kind: request.caller.name, user: 0 };
      return json(await previews.run(() => preview(request, services), request.signal, line));
    },
  }),
  route('POST', '/api/admin/experiments/{experiment-name}/promote', {
    needs: 'operate',
    summary: 'End an experiment and write what a variant overrides into its placement',
    description: 'One change, which `undo` of either takes back as a whole.',
    query: ['variant', 'version'],
    response: { description: 'The placement with its history', schema: RuleHistorySchema },
    errors: [...changing, 'EXPERIMENT_NOT_FOUND'],
    async handler({ params, query, caller }, { admin }) {
      const { variant, version } = query;
      if (variant === undefined) throw new FurzeError('INVALID_PARAMETER', 'variant is missing.');
      const editing = { by: caller.name, version };
      return json(await admin.rules.promote(params['experiment-name'], variant, editing));
    },
  }),
];

interface RuleRoutes {
  readonly kind: keyof Rules;
  readonly path: '/api/admin/placements/{placement-name}' | '/api/admin/experiments/{experiment-name}';
  readonly schema: NonNullable<Route['body']>['schema'];
  readonly example: object;
}

/** Reading, making and changing, taking away, and taking back what was done last. */
function ruleRoutesOf({ kind, path, schema, example }: RuleRoutes): Route[] {
  const notFound = kind === 'placement' ? 'PLACEMENT_NOT_FOUND' : 'EXPERIMENT_NOT_FOUND';
  const ruleOf = ({ params }: RouteRequest<Readonly<Record<string, string>>>) =>
    ({ kind, name: params[`${kind}-name`]! }) as const;
  const editingOf = ({ query, caller }: RouteRequest<unknown>) => ({
    by: caller.name,
    version: query.version,
  });
  const common = { needsNoModel: true, needs: 'operate', query: ['version'], response: history } as const;
  const errors = [...changing, notFound] as const;
  return [
    route('GET', path, {
      ...common,
      query: [],
      summary: `One ${kind} and what it was before`,
      errors: [notFound],
      handler: async (request, { admin }) => json(await admin.rules.history(ruleOf(request))),
    }),
    route('PUT', path, {
      ...common,
      summary: `Make ${kind === 'placement' ? 'a placement' : 'an experiment'}, or put other keys in the place of those it has`,
      description:
        'Keys are those of the configuration. It is in effect on all nodes at once. One that the configuration has is changed there alone.',
      body: { schema, example },
      errors,
      handler: async (request, { admin, limits }) =>
        json(
          await admin.rules.put(ruleOf(request), decodeSettings(request.body, limits), editingOf(request)),
        ),
    }),
    route('DELETE', path, {
      ...common,
      summary: `Take ${kind === 'placement' ? 'a placement' : 'an experiment'} away`,
      errors,
      handler: async (request, { admin }) =>
        json(await admin.rules.remove(ruleOf(request), editingOf(request))),
    }),
    route('POST', `${path}/undo`, {
      ...common,
      summary: `Take back the last change of ${kind === 'placement' ? 'a placement' : 'an experiment'}, or bring it again`,
      errors,
      handler: async (request, { admin }) =>
        json(await admin.rules.undo(ruleOf(request), editingOf(request))),
    }),
  ];
}

async function preview(
  request: RouteRequest<{ readonly 'placement-name': string }>,
  { admin, recommender, data, limits }: Services,
): Promise<Preview> {
  const { Settings, Users } = decodePreview(request.body, limits);
  const name = request.params['placement-name'];
  const asked: RecommendQuery = {
    ...{ n: Math.min(request.query.n, ENTRIES_MAX), offset: 0, categories: [] },
    ...{ details: true, caller: request },
    placement: name,
    draft: Settings && admin.rules.draft(name, Settings),
  };
  const lists: Preview['Users'] = [];
  for (const UserId of Users) {
    const { text, source, seed } = await recommender.recommend(UserId, asked);
    const Items = (JSON.parse(text) as DetailedList).Items.flatMap(({ Id, Score, Reason }) => {
      const item = data.local.findItem(Id);
      return item === undefined ? [] : [{ ...admin.cards.of(item), Score, Reason }];
    });
    const Seed = seed === undefined ? undefined : data.local.findItem(seed)?.Comment || seed;
    const Known = data.local.userRow(UserId) >= 0;
    lists.push({ UserId, Known, Source: source, ...(Seed !== undefined && { Seed }), Items });
  }
  return { Users: lists };
}
