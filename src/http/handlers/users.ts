import {
  UserBodiesSchema,
  UserBodySchema,
  UserPatchSchema,
  UserSchema,
  UsersPageSchema,
} from '../../domain/api-schemas.ts';
import type { User } from '../../domain/entities.ts';
import { FurzeError, noSuchUser } from '../../domain/furze-error.ts';
import { withGivenLabels } from '../../domain/labels.ts';
import { jsonPage, pageWish } from '../route/page-reply.ts';
import { jsonText } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';
import { USER } from './examples.ts';
import { write, written } from './write.ts';

const route = routesOf('Users');

export const userRoutes: readonly Route[] = [
  route('POST', '/api/user', {
    summary: 'Insert a user, or overwrite the one with the same id',
    body: { schema: UserBodySchema, example: USER },
    response: written,
    handler: ({ body }, { data }) => write(data, { kind: 'putUsers', batch: { json: body, single: true } }),
  }),
  route('POST', '/api/users', {
    summary: 'Insert or overwrite users',
    description:
      'One transaction: one bad record and nothing is stored. Of a repeated id the last record wins.',
    body: { schema: UserBodiesSchema, example: [USER] },
    response: written,
    errors: ['BATCH_TOO_LARGE'],
    handler: ({ body }, { data }) => write(data, { kind: 'putUsers', batch: { json: body, single: false } }),
  }),
  route('GET', '/api/users', {
    summary: 'List users by id, a page at a time',
    query: ['n', 'cursor'],
    response: { description: 'A page', schema: UsersPageSchema, example: { Cursor: '', Users: [USER] } },
    errors: ['INVALID_CURSOR'],
    handler: ({ query }, { data, limits }) =>
      jsonPage('Users', pageWish(query, limits), async (n, cursor) => {
        const page = await data.getUsers(n, cursor);
        return { cursor: page.cursor, rows: page.rows.map(withGivenLabels) };
      }),
  }),
  route('GET', '/api/user/{user-id}', {
    summary: 'Get a user',
    response: { description: 'The user', schema: UserSchema, example: USER },
    errors: ['USER_NOT_FOUND'],
    handler({ params }, { data, entityTexts }) {
      const userId = params['user-id'];
      const { local } = data;
      const kept = entityTexts.users.find(userId);
      if (kept !== undefined) return jsonText(kept);
      const row = local.userRow(userId);
      const user = row < 0 ? undefined : local.userAt(row);
      if (user === undefined && data.barrier?.lacks(userId))
        throw new FurzeError('STORE_UNAVAILABLE', 'The database does not answer at the moment.');
      const text = userText(userId, user);
      // That of the path may be a part of the whole URL, which would be kept along with it.
      entityTexts.users.put(user!.UserId, row, text);
      return jsonText(text);
    },
  }),
  route('PATCH', '/api/user/{user-id}', {
    summary: 'Change some fields of a user',
    description: 'Fields that are absent or null stay as they are.',
    body: { schema: UserPatchSchema, example: { Labels: ['likes-short-films'] } },
    response: written,
    errors: ['USER_NOT_FOUND'],
    handler: ({ params, body }, { data }) =>
      write(data, { kind: 'patchUser', userId: params['user-id'], json: body }),
  }),
  route('DELETE', '/api/user/{user-id}', {
    summary: "Delete a user with the user's feedback and all that the user was shown",
    response: { ...written, description: 'Rows removed, 0 when there was no such user' },
    async handler({ params }, { data, impressions }) {
      const userId = params['user-id'];
      // First, so that a service that is killed meanwhile keeps nothing of a user who is gone.
      await impressions.forget(userId);
      return write(data, { kind: 'deleteUser', userId });
    },
  }),
];

/** @throws FurzeError USER_NOT_FOUND */
function userText(userId: string, user: User | undefined): string {
  if (user !== undefined) return JSON.stringify(withGivenLabels(user));
  throw noSuchUser(userId);
}
