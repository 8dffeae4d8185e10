import Type, { type Static } from 'typebox';
import { ROLES } from '../domain/roles.ts';
import { choice, secret } from './schema-types.ts';

const ORIGIN = '^(\\*|https?://[^/\\s]+)$';
const HOST = '^(\\*|[\\w.-]+|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)$';

/** The keys of `[server]` that say which pages and hosts may ask while no key is set. */
export const callerKeys = {
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
};

const namedKey = Type.Object({
  value: secret('The secret that its holder sends as X-API-Key.'),
  role: choice(
    'read',
    ROLES,
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
